"""Finds the numbers in a row of items: their possible values and positions."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.text import item_words

# OCR may put spaces around a separator. Groups of three digits are separated by spaces only before
# decimals or a currency symbol: `1 290,00`, `1 795 Ft`.
_FIGURE = re.compile(
    r"(?<![0-9.,])(?P<sign>(?:[-\u2212]|(?<![^\W\d_])[-\u2212]\s)(?:(?:R?\$|[€£])\s?)?)?"
    r"(?P<body>(?<![^\W_])[1-9][0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3})+"
    r"(?:,[0-9]{2}(?![0-9])|(?=\s?(?:Ft|kr|F|FCFA|₽|₫|đ)\b))"
    r"|[0-9]{1,3}(?:[.,'’][0-9]{3})+(?:[.,][0-9]{1,10})?(?![0-9.,]*[0-9])"
    r"|[0-9]+(?:[.,]\s?|\s[.,])[0-9]{2}(?![0-9])(?![.,][0-9])|[0-9]+(?:[.,][0-9]{1,10})?(?![.,]?[0-9])"
    r"|(?:(?<=[\s$€£])|^)[.,][0-9]{2}(?![0-9]))"
    r"(?P<after>-(?![0-9]|[A-Za-z]{2}))?"
)
#: The longest currency symbol with spaces and sign.
_LONGEST_SYMBOL = 8
_GROUP = 3
#: Longer whole numbers are codes.
_CODE_DIGITS = 6
#: A larger number is a code, not a quantity.
_MOST_UNITS = 1000
#: `X単128`: a unit price.
_UNIT_PRICE_SIGN = "単"
# A unit price has a sign in front: `@110`, `単128`.
_RATE = re.compile(rf"(?:^|(?<=\s))@\s?[^\w\s]?$|{_UNIT_PRICE_SIGN}$")
#: The decimals of most currencies.
CENTS = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text."""

    start: int
    end: int
    #: Its possible values, the likeliest first: `1.234` may be grouped or have three decimals.
    readings: tuple[Decimal, ...]
    #: The digits after the decimal separator; 0 for a grouped whole number.
    decimals: int
    has_symbol: bool
    is_percent: bool
    #: Whether it is in brackets: taxes of the item, or a negative amount.
    is_bracketed: bool
    #: Whether a unit of measure follows it.
    has_unit: bool = False
    #: Whether the unit is joined to it, as in the contents of a pack: `500g`.
    is_content: bool = False
    #: The decimals of the document's currency, if more than two.
    minor: int = CENTS
    #: Whether it is marked as a unit price: `@110 x 2`.
    is_rate: bool = False

    @property
    def value(self) -> Decimal:
        """The likeliest value."""
        return self.readings[0]

    @property
    def is_money(self) -> bool:
        """Whether it is written as an amount: with minor digits or a currency symbol."""
        return not self.is_percent and (self.has_minor or self.has_symbol)

    @property
    def has_minor(self) -> bool:
        """Whether it has the decimals of an amount."""
        return self.decimals in (CENTS, self.minor)

    @property
    def is_code(self) -> bool:
        """Whether it is a long whole number, such as the code of an article."""
        is_whole = self.decimals == 0 and len(self.readings) == 1
        return is_whole and self.end - self.start > _CODE_DIGITS

    @property
    def is_count(self) -> bool:
        """Whether it may be a quantity: a whole number that is not a code."""
        return self.decimals == 0 and not self.has_symbol and 0 < self.value < _MOST_UNITS


def every(text: str, *, minor: int = CENTS) -> Iterator[Figure]:
    """Yield the numbers in a text from left to right, but not those inside words.

    Args:
        text: The text.
        minor: The decimals of the document's currency, if more than two.
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
            has_symbol=_has_symbol(text, match),
            is_percent=_is_percent(text, match),
            is_bracketed=_is_bracketed(
                text[max(0, match.start() - _LONGEST_SYMBOL) : match.start()]
            ),
            has_unit=bool(_unit_after().match(text, match.end())),
            is_content=decimals == 0 and bool(_contents().match(text, match.end())),
            minor=minor,
            is_rate=_RATE.search(text[: match.start()]) is not None,
        )


def _has_symbol(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start("body") - _LONGEST_SYMBOL) : match.start("body")]
    led = _symbol_before().search(before)
    # In `1.09 € 1` the symbol belongs to the amount, not to the tax digit after it.
    is_led = led is not None and not before[: led.start()].rstrip(" ")[-1:].isdigit()
    return is_led or _symbol_after().match(text, match.end("body")) is not None


def _is_bracketed(before: str) -> bool:
    return _symbol_before().sub("", before).rstrip().endswith("(")


def _is_percent(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is a percentage; in Turkey the sign is in front of it."""
    is_led = text[: match.start()].endswith("%") and match["body"].isdigit()
    return is_led or text[match.end() :].lstrip(" ").startswith("%")


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is part of a name or code, as in `8MM`, `T12,00%`, `6x1.25L`.

    An amount may be joined to a tax code after it, a quantity to its unit or `x`.
    """
    before = text[match.start() - 1 : match.start()] if match.start() else ""
    after = text[match.end() : match.end() + 1]
    has_cents = re.search(r"[.,]\s?[0-9]{2}$", match["body"]) is not None
    if before.isalpha() and before not in _UNIT_PRICE_SIGN:
        return not has_cents or after == "%" or after.isalpha()
    is_part_of_time = _is_part_of_time(text, match)
    return (is_part_of_time or before in ("#", "/")) and not has_cents


def _is_part_of_time(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is part of a time, `12:30`, unlike `Qtde.:2`."""
    is_behind = re.search(r"[0-9]\s?:$", text[: match.start()]) is not None
    return is_behind or re.match(r":[0-9]{2}", text[match.end() :]) is not None


def _readings(body: str, minor: int) -> tuple[tuple[Decimal, ...], int]:
    """Return the possible values, and the decimals of the first one."""
    groups = re.split(r"[.,'’]", body)
    if len(groups) == 1:
        return (Decimal(body),), 0
    decimal = Decimal(f"{''.join(groups[:-1]) or '0'}.{groups[-1]}")
    if len(groups[-1]) != _GROUP or groups[0].strip("0") == "":
        return (decimal,), len(groups[-1])
    if minor == _GROUP and body.count(_separator(body)) == 1:
        return (decimal,), _GROUP
    grouped = Decimal("".join(groups))
    # Several separators group digits; a single one may be decimal.
    has_one = len(groups[1:]) == 1
    return ((grouped, decimal), 0) if has_one else ((grouped,), 0)


def _separator(body: str) -> str:
    """Return the last separator, which is decimal if it occurs once."""
    return max(".,'’", key=body.rfind)


@functools.cache
def _symbol_before() -> re.Pattern[str]:
    return re.compile(rf"{item_words.symbols()}\s?-?\s?$")


@functools.cache
def _unit_after() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{item_words.units()})(?![^\W_])", re.IGNORECASE)


@functools.cache
def _contents() -> re.Pattern[str]:
    return re.compile(r"(?:g|kg|ml|cl|l)(?![^\W_])", re.IGNORECASE)


@functools.cache
def _symbol_after() -> re.Pattern[str]:
    return re.compile(rf"-?\s?{item_words.symbols_after()}(?![^\W_])")


def is_figure(text: str) -> bool:
    """Return whether a text is a single number, perhaps with a currency symbol."""
    bare = re.sub(r"^(?:R\$|[$€£¥]|RM|Rs\.?)\s?|\s?[€%]$", "", text.strip())
    return _FIGURE.fullmatch(bare) is not None
