"""Finds amounts of money in a line: separators of all countries, signs, currency symbols."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from recibo.extract.text import tables

# A number with more digits before its decimals is an identifier, not an amount.
_MOST_DIGITS = 12

_DECIMALS = re.compile(r"[.,]\d{1,2}$")

_CENTS = 2
# The digits of a group of thousands.
_GROUP = 3

# Letters that OCR reads for 0 and 1 among digits.
_MISREAD = (
    (re.compile(r"(?<=[\d.,])[OoQ](?=[\d.,]|\b)|(?<![A-Za-z])[Oo](?=[.,]\s?\d)"), "0"),
    (re.compile(r"(?<=[\d.,])[Il|](?=[\d.,]|\b)"), "1"),
    (re.compile(r"(?:(?<![A-Za-z\d])|(?<=RM))[Il|](?=\d*[.,]\s?\d)"), "1"),
)

# A number: groups of three digits, or digits without groups; then decimals, around whose separator
# OCR may put a space. A space separates groups only before a decimal comma or a currency symbol,
# since in "3 250.00" it may separate a quantity from a price. India groups by two.
_FIGURE = r"""
    (?<![\d.,'\u2019])
    (?:
        \d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:,\d{2}(?!\d)|(?=\s?(?:MARK)(?![A-Za-z])))
      | \d{1,3}(?:\ [.,]\d{3})+[.,]\d{2}(?!\d)
      | \d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?(?![.,]?\d)
      | \d{1,3}(?:[.,'\u2019]\ ?\d{3})+(?:\ ?[.,]\ ?\d{1,2}(?!\d))?(?![.,]?\d)
      | \d+(?:\ [.,]\ ?|[.,]\ )\d{2}(?![\d.,])
      | \d+(?:[.,]\d+)?(?![.,]\d)(?!\d)
      | [.,]\d{2}(?!\d)
    )
"""
# Lakhs and crores: "1,25,000.00".
_BY_TWO = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?")
# Signs in place of the minor digits of a whole amount: "25.-", "1.250,--", "500/-".
_NO_MINOR = re.compile(r"^(?:\s?[.,]\s?[-\u2013\u2014]{1,2}|/-)(?!\s?\d)")
# In Japan a dash after an amount is not a minus but prevents added digits: "¥1,200-".
_ENDED = re.compile(r"[¥\uffe5]\s?$")
# Signs that are printed as a minus.
_MINUS = "-\u2212\u2013"
# A dash between spaces, or after a colon, separates a label from its amount: "TOTAL:-12.50".
_SIGN_BEFORE = re.compile(rf"(?:^|[\s(]|[^\W\d_]\.?|[$€£])[{_MINUS}]$")
_SIGN_AFTER = re.compile(rf"^\s?[{_MINUS}](?!\s*[\d-])|^\s?CR\b")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a line that may be an amount of money."""

    value: Decimal
    #: Its position in the line's text, without sign and currency symbol.
    start: int
    end: int
    #: The number of digits after the decimal separator.
    decimals: int
    #: Whether a currency symbol is next to it.
    has_symbol: bool = False
    is_percent: bool = False

    @property
    def is_money(self) -> bool:
        """Whether it is written as an amount: with minor digits or a currency symbol."""
        return not self.is_percent and (self.decimals in (2, 3) or self.has_symbol)


def amounts(text: str, *, minor: int = 2) -> tuple[Amount, ...]:
    """Return the amounts in `text` from left to right; `minor` is the currency's minor digits."""
    clean = _without_misreadings(text)
    found = (_amount(clean, match, minor) for match in _figure().finditer(clean))
    return tuple(amount for amount in found if amount)


def money(text: str) -> list[Decimal]:
    """Return the amounts with two decimals in `text` from left to right, without percentages."""
    return [
        found.value for found in amounts(text) if found.decimals == _CENTS and not found.is_percent
    ]


def parse(text: str, *, minor: int = 2) -> Decimal | None:
    """Return the value of a text that contains exactly one number, else None."""
    found = amounts(text, minor=minor)
    return found[0].value if len(found) == 1 else None


def _without_misreadings(text: str) -> str:
    for pattern, digit in _MISREAD:
        text = pattern.sub(digit, text)
    return text


def _amount(text: str, match: re.Match[str], minor: int) -> Amount | None:
    before, after = text[: match.start()], text[match.end() :]
    is_percent = after.lstrip().startswith("%")
    # `8.875%` is no thousands.
    read = _value(match.group(), _GROUP if is_percent else minor)
    if read is None or _is_part_of_other(before, after):
        return None
    value, decimals = read
    has_symbol = _has_symbol(before, after) or bool(_NO_MINOR.search(after))
    # Joined to letters that are not a currency, only minor digits make an amount: "TOTAL9.50".
    if decimals not in (2, 3) and not has_symbol and (before[-1:].isalpha() or after[:1].isalpha()):
        return None
    return Amount(
        value=-value if _is_negative(before, after) else value,
        start=match.start(),
        end=match.end(),
        decimals=decimals,
        has_symbol=has_symbol,
        is_percent=is_percent,
    )


def _value(figure: str, minor: int) -> tuple[Decimal, int] | None:
    """Return a number's value and the count of its decimals."""
    plain = re.sub(r"[\s'\u2019]", "", figure)
    if sum(map(str.isdigit, _DECIMALS.sub("", plain))) > _MOST_DIGITS:
        return None
    if _BY_TWO.fullmatch(plain):
        plain = plain.replace(",", "")
    groups = re.split(r"[.,]", plain)
    if len(groups) == 1:
        return Decimal(plain), 0
    whole, last = groups[:-1], groups[-1]
    if any(len(group) != _GROUP for group in whole[1:]):
        return None
    if _is_grouping(whole, last, minor):
        return Decimal("".join(groups)), 0
    return Decimal(f"{''.join(whole) or '0'}.{last}"), len(last)


def _is_grouping(whole: list[str], last: str, minor: int) -> bool:
    return (
        len(last) == _GROUP
        and whole[0].lstrip("0") != ""
        and len(whole[0]) <= _GROUP
        and (minor != len(last) or len(whole) > 1)
    )


def _is_part_of_other(before: str, after: str) -> bool:
    """Return whether the number belongs to a date, a time, a phone number or an identifier."""
    return bool(
        re.search(r"\d\s?[-/:#*]$|[#/:*]$", before) and not re.search(r"(?:^|\D)[:*]$", before)
    ) or bool(re.match(r"[/:]\d|-\d|\s?[-/]\s?\d{1,2}\s?[-/]\s?\d", after))


def _is_negative(before: str, after: str) -> bool:
    bare = _symbol_before().sub("", before)
    if bare.endswith("("):
        return after.startswith(")")
    is_after = bool(_SIGN_AFTER.search(after)) and not _ENDED.search(before)
    return is_after or bool(_SIGN_BEFORE.search(before) or _SIGN_BEFORE.search(bare))


def _has_symbol(before: str, after: str) -> bool:
    return bool(_symbol_before().search(before) or _symbol_after().match(after))


@cache
def _figure() -> re.Pattern[str]:
    return re.compile(_FIGURE.replace("MARK", _any_symbol().replace(" ", r"\ ")), re.VERBOSE)


@cache
def _symbol_before() -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![A-Za-z])(?:{_any_symbol()}))\s?[{_MINUS}]?\s?$")


@cache
def _symbol_after() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{_any_symbol()})(?![A-Za-z]|\s?\d)")


def _any_symbol() -> str:
    symbols = {
        symbol for row in tables.currencies().values() for symbol in (*row.symbols, *row.shared)
    }
    return "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))
