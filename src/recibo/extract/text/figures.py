"""The figures in a row of goods: what each may mean, and where it stands."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.text import item_words

# Blanks around a separator are the engine's. What is grouped by threes has no blanks inside, but
# for thousands before decimals or in front of the mark of a currency: `1 290,00`, `1 795 Ft`.
_FIGURE = re.compile(
    r"(?<![0-9.,])(?P<sign>(?:[-\u2212]|(?<![^\W\d_])[-\u2212]\s)(?:(?:R?\$|[€£])\s?)?)?"
    r"(?P<body>(?<![^\W_])[1-9][0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3})+"
    r"(?:,[0-9]{2}(?![0-9])|(?=\s?(?:Ft|kr|F|FCFA|₽|₫|đ)\b))"
    r"|[0-9]{1,3}(?:[.,'’][0-9]{3})+(?:[.,][0-9]{1,4})?(?![0-9.,]*[0-9])"
    r"|[0-9]+(?:[.,]\s?|\s[.,])[0-9]{2}(?![0-9])(?![.,][0-9])|[0-9]+(?:[.,][0-9]{1,10})?(?![.,]?[0-9])"
    r"|(?:(?<=[\s$€£])|^)[.,][0-9]{2}(?![0-9]))"
    r"(?P<after>-(?![0-9]|[A-Za-z]{2}))?"
)
#: A currency's mark with its blanks and sign is no longer.
_LONGEST_MARK = 8
_GROUP = 3
#: More units than this are a code.
_MOST_UNITS = 1000
#: `X単128`: the price of one.
_SAYS_PRICE = "単"
# A sign of its own in front: `@110`, `単128`.
_RATE = re.compile(rf"(?:^|(?<=\s))@\s?[^\w\s]?$|{_SAYS_PRICE}$")
#: Money has so many decimals, but for few currencies.
CENTS = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in a text."""

    start: int
    end: int
    #: The values it may have, the likeliest first: `1.234` may be grouped or have three decimals.
    readings: tuple[Decimal, ...]
    #: Digits behind the last separator, none for a grouped whole number.
    decimals: int
    has_mark: bool
    is_percent: bool
    #: In brackets: taxes of the item, or a negative amount.
    is_bracketed: bool
    #: Whether a unit of measure stands right behind it.
    has_unit: bool = False
    #: Whether the unit is glued to it, as to the contents of a pack: `500g`.
    is_content: bool = False
    #: How many decimals the money of the paper has, if more than cents.
    minor: int = CENTS
    #: Whether it is said to be the price of one: `@110 x 2`.
    is_rate: bool = False

    @property
    def value(self) -> Decimal:
        """The likeliest value."""
        return self.readings[0]

    @property
    def is_money(self) -> bool:
        """Whether it has the form of an amount: money's decimals or a currency's mark."""
        return not self.is_percent and (self.has_minor or self.has_mark)

    @property
    def has_minor(self) -> bool:
        """Whether it has as many decimals as money has."""
        return self.decimals in (CENTS, self.minor)

    @property
    def is_count(self) -> bool:
        """Whether it may count units: whole, and no code."""
        return self.decimals == 0 and not self.has_mark and 0 < self.value < _MOST_UNITS


def every(text: str, *, minor: int = CENTS) -> Iterator[Figure]:
    """Return the figures in a text from left to right; those inside of words are none.

    Args:
        text: The text.
        minor: How many decimals the money of the paper has, if more than cents.
    """
    for match in _FIGURE.finditer(text):
        if _is_inside_word(text, match):
            continue
        is_negative = bool(match["sign"] or match["after"])
        readings, decimals = _readings(re.sub(r"\s", "", match["body"]), minor)
        yield Figure(
            start=match.start(),
            end=match.end(),
            readings=tuple(-value if is_negative else value for value in readings),
            decimals=decimals,
            has_mark=_has_mark(text, match),
            is_percent=_is_percent(text, match),
            is_bracketed=_is_bracketed(text[max(0, match.start() - _LONGEST_MARK) : match.start()]),
            has_unit=bool(_unit_behind().match(text, match.end())),
            is_content=decimals == 0 and bool(_contents().match(text, match.end())),
            minor=minor,
            is_rate=_RATE.search(text[: match.start()]) is not None,
        )


def _has_mark(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start("body") - _LONGEST_MARK) : match.start("body")]
    led = _mark_before().search(before)
    # Of `1.09 € 1` the mark is the amount's, not that of the tax digit behind it.
    is_led = led is not None and not before[: led.start()].rstrip(" ")[-1:].isdigit()
    return is_led or _mark_behind().match(text, match.end("body")) is not None


def _is_bracketed(before: str) -> bool:
    return _mark_before().sub("", before).rstrip().endswith("(")


def _is_percent(text: str, match: re.Match[str]) -> bool:
    """Tell whether a figure is a rate: in Turkey the sign stands in front of it."""
    is_led = text[: match.start()].endswith("%") and match["body"].isdigit()
    return is_led or text[match.end() :].lstrip(" ").startswith("%")


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    """Tell whether the figure is a part of a name or code, as in `8MM`, `T12,00%`, `6x1.25L`.

    An amount may be glued to a tax mark behind it, a quantity to its unit or `x`.
    """
    before = text[match.start() - 1 : match.start()] if match.start() else ""
    after = text[match.end() : match.end() + 1]
    has_cents = re.search(r"[.,]\s?[0-9]{2}$", match["body"]) is not None
    if before.isalpha() and before not in _SAYS_PRICE:
        return not has_cents or after == "%" or after.isalpha()
    is_of_clock = _is_of_clock(text, match)
    return (is_of_clock or before in ("#", "/")) and not has_cents


def _is_of_clock(text: str, match: re.Match[str]) -> bool:
    """Tell whether the figure is a part of `12:30`; `Qtde.:2` is none."""
    is_behind = re.search(r"[0-9]\s?:$", text[: match.start()]) is not None
    return is_behind or re.match(r":[0-9]{2}", text[match.end() :]) is not None


def _readings(body: str, minor: int) -> tuple[tuple[Decimal, ...], int]:
    """Return the values of digits and separators, and the decimals of the first."""
    groups = re.split(r"[.,'’]", body)
    if len(groups) == 1:
        return (Decimal(body),), 0
    decimal = Decimal(f"{''.join(groups[:-1]) or '0'}.{groups[-1]}")
    if len(groups[-1]) != _GROUP or groups[0].strip("0") == "":
        return (decimal,), len(groups[-1])
    if minor == _GROUP and body.count(_separator(body)) == 1:
        return (decimal,), _GROUP
    grouped = Decimal("".join(groups))
    # Two separators group beyond doubt; one may be decimal all the same.
    has_one = len(groups[1:]) == 1
    return ((grouped, decimal), 0) if has_one else ((grouped,), 0)


def _separator(body: str) -> str:
    """Return the last separator, which parts the decimals if it stands there once."""
    return max(".,'’", key=body.rfind)


@functools.cache
def _mark_before() -> re.Pattern[str]:
    return re.compile(rf"{item_words.marks()}\s?-?\s?$")


@functools.cache
def _unit_behind() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{item_words.units()})(?![^\W_])", re.IGNORECASE)


@functools.cache
def _contents() -> re.Pattern[str]:
    return re.compile(r"(?:g|kg|ml|cl|l)(?![^\W_])", re.IGNORECASE)


@functools.cache
def _mark_behind() -> re.Pattern[str]:
    return re.compile(rf"-?\s?{item_words.marks_behind()}(?![^\W_])")


def is_figure(text: str) -> bool:
    """Tell whether a text is one figure, with a currency's mark at most."""
    bare = re.sub(r"^(?:R\$|[$€£¥]|RM|Rs\.?)\s?|\s?[€%]$", "", text.strip())
    return _FIGURE.fullmatch(bare) is not None
