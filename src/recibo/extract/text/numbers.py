"""Finds the numbers in a text: separators of all countries, signs, currency symbols, units."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from recibo.extract.text import currency_symbols, lexicon
from recibo.extract.text.folding import fold

#: The decimals of most currencies.
CENTS = 2
# The digits of a group of thousands.
_GROUP = 3
# A number with more digits before its decimals is an identifier, not an amount.
_MOST_DIGITS = 12
#: Longer whole numbers are codes.
_CODE_DIGITS = 6
#: A larger number is a code, not a quantity.
_MOST_UNITS = 1000

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_LONGEST_MONTH = 20
_MONTH_BEFORE = re.compile(r"[0-9][.a-z]{0,3}\s(?:de\s|of\s)?([^\W\d_]{3,12})[.,]?\s(?:de\s)?$")

# Letters that OCR reads for 0 and 1 among digits.
_MISREAD = (
    (re.compile(r"(?<=[\d.,])[OoQ](?=[\d.,]|\b)|(?:(?<![A-Za-z])|(?<=RM))[Oo](?=[.,]\s?\d)"), "0"),
    (re.compile(r"(?<=[\d.,])[Il|](?=[\d.,]|\b)"), "1"),
    (re.compile(r"(?:(?<![A-Za-z\d])|(?<=RM))[Il|](?=\d*[.,]\s?\d)"), "1"),
)

# Groups of three digits, or digits without groups; then decimals, around whose separator OCR may
# put a space. A space separates groups only before a decimal comma or a currency symbol, since in
# "3 250.00" it may separate a quantity from a price. India groups by two. After a letter a dot ends
# an abbreviation: "CHG.10%".
_NUMBER = r"""
    (?:(?<![0-9.,])|(?<=[^\W\d_]\.))
    (?:
        (?<![^\W_])(?<!/)[1-9][0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3})+
            (?:,[0-9]{2}(?![0-9])|(?=\s?SYMBOL(?![^\W\d_])))
      | (?<![^\W_])[1-9][0-9]{0,2}(?:GROUPING[0-9]{3})+(?:[.,][0-9]{2})?(?![.,]?[0-9])
      | [0-9]{1,3}(?:\ [.,][0-9]{3})+[.,][0-9]{2}(?![0-9])
      | [0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]{1,2})?(?![.,]?[0-9])
      | [0-9]{1,3}(?:[.,'\u2019]\ ?[0-9]{3})+\ ?[.,]\ ?[0-9]{2}(?![.,]?[0-9])
      | [0-9]{1,3}(?:[.,'\u2019][0-9]{3})+(?:[.,][0-9]{1,10})?(?![.,]?[0-9])
      | [0-9]+(?:\ [.,]\ ?|[.,]\ )[0-9]{2}(?![0-9.,])
      | [0-9]+(?:[.,][0-9]{1,10})?(?![.,]?[0-9])
      | (?:(?<=[\s$€£])|(?<=RM)|^)[.,][0-9]{2}(?![0-9])
    )
"""
# Lakhs and crores: "1,25,000.00".
_BY_TWO = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]{1,2})?")
_SEPARATOR = re.compile(r"[.,'\u2019]")
_WITH_CENTS = re.compile(r"[.,]\s?[0-9]{2}$")
_NEXT_AMOUNT = re.compile(r"\s?[0-9]+[.,][0-9]{2}(?![0-9])")
# Signs in place of the minor digits of a whole amount: "25.-", "1.250,--", "500/-".
_NO_MINOR = re.compile(r"(?:\s?[.,]\s?[-\u2013\u2014]{1,2}|/-)(?!\s?\d)")
# In Japan a dash after an amount is not a minus but prevents added digits: "¥1,200-".
_ENDED = re.compile(r"[¥\uffe5]\s?$")
#: A space that surely separates the groups of one number, for which rows use it.
GROUPING = "\u2008"
#: Signs that are printed as a minus.
MINUS = "-\u2212\u2013"
# A dash between spaces, or after a colon, separates a label from its amount: "TOTAL:-12.50".
_MINUS_BEFORE = re.compile(rf"(?:(?<![\d.,:{MINUS}])[{MINUS}]|(?:^|(?<=\t))[{MINUS}]\s)$")
_MINUS_AFTER_SYMBOL = re.compile(rf"[{MINUS}]\s?$")
# An amount may have a tax code after its minus, `4.00-A`, `5,00- 1`; `17-G` has no minus.
_MINUS_AFTER = re.compile(
    rf"(?<=[.,]\d\d)[{MINUS}](?![\d-]|[^\W\d_]{{2}})|[{MINUS}](?![^\W\d_]|\s*[\d-])|\s?CR\b"
)
# The end of a registration: `062447188.00-20`.
_CHECK_DIGITS, _MANY_DIGITS = re.compile(r"-\d{2}(?!\d)"), 8
_MASK, _MORE_DIGITS = "**", re.compile(r"\s\d")
_MASKED = re.compile(r"\*\*\d{1,3}\s$")
# The last four digits of a card are all there are: what follows them is an amount.
_CARD_MASK, _CARD_DIGITS = 8 * "*", 4
#: `X単128`: a unit price.
_UNIT_PRICE_SIGN = "単"
# A unit price has a sign in front: `@110`, `単128`.
_RATE = re.compile(rf"(?:^|(?<=\s))@\s?[^\w\s]?$|{_UNIT_PRICE_SIGN}$")
#: The longest currency symbol with spaces and sign.
_LONGEST_SYMBOL = 10
# A price per unit of measure has up to three decimals: "1,829 EUR/L", "PRICE/G: $2.899".
_PER_UNIT = r"/\s?(?:l|ltr|lit(?:er|re|ro)|g|gal(?:lon)?|kg|kwh|m3|m³)\b"
_PER_UNIT_BEFORE = re.compile(rf"{_PER_UNIT}[\s.:$€£]*$", re.IGNORECASE)
_PER_UNIT_AFTER = re.compile(rf"[^\W\d_]{{0,3}}{_PER_UNIT}", re.IGNORECASE)
# A price in hundredths of the currency: "144.9 p/L".
_HUNDREDTHS = re.compile(r"\s?[pc]\s?/\s?(?:l|ltr|lit(?:er|re)|kg|kwh)\b", re.IGNORECASE)
_NEGATIVE = re.compile(rf"\s[{MINUS}]$")
# `Spring Rolls x2 @4.50`: a quantity after the name or the price; `B12 X9` are codes.
_TIMES_BEFORE = re.compile(r"(?:^|\s)x$|(?:[^\W\d_]|[.,]\d\d)\sX$")
_AFTER_COUNT = " \t@"
_CONTENT = re.compile(r"(?:g|kg|ml|cl|l)(?![^\W_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text."""

    #: Its position in the text, with its sign.
    start: int
    end: int
    #: Its possible values, the likeliest first: `1.234` may be grouped or have three decimals.
    readings: tuple[Decimal, ...]
    #: The digits after the decimal separator; 0 for a grouped whole number.
    decimals: int
    #: Whether a currency symbol, or a dash in place of the cents, is next to it.
    has_symbol: bool
    is_percent: bool
    #: Whether it is in brackets: taxes of the item, or a negative amount.
    is_bracketed: bool
    #: Whether a unit of measure follows it.
    has_unit: bool
    #: Whether the unit is joined to it, as in the contents of a pack: `500g`.
    is_content: bool
    #: Whether it is marked as a unit price: `@110 x 2`.
    is_rate: bool
    #: The decimals of the document's currency, if more than two.
    minor: int

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

    @property
    def negative(self) -> "Number":
        """The number with a minus, as brackets mean."""
        return replace(self, readings=tuple(-abs(value) for value in self.readings))


def every(text: str, *, minor: int = CENTS) -> Iterator[Number]:
    """Yield the numbers in a text from left to right, but not those inside words.

    Args:
        text: The text.
        minor: The decimals of the document's currency.
    """
    for match in _number().finditer(text):
        found = _read(text, match, minor)
        if not _is_inside_word(text, found, match):
            yield found


def amounts(text: str, *, minor: int = CENTS) -> tuple[Number, ...]:
    """Return the numbers that may be amounts of money; letters read for digits are repaired."""
    for pattern, digit in _MISREAD:
        text = pattern.sub(digit, text)
    return tuple(_amounts(text, minor))


def money(text: str) -> list[Decimal]:
    """Return the amounts with two decimals in `text` from left to right, without percentages."""
    return [
        found.value for found in amounts(text) if found.decimals == CENTS and not found.is_percent
    ]


def parse(text: str, *, minor: int = CENTS) -> Decimal | None:
    """Return the value of a text that contains exactly one number, else None."""
    found = amounts(text, minor=minor)
    return found[0].value if len(found) == 1 else None


def is_number(text: str) -> bool:
    """Return whether a text is a single number, perhaps with a sign and a currency symbol."""
    bare = re.sub(r"^(?:R\$|[$€£¥]|RM|Rs\.?)\s?|\s?[€%]$", "", text.strip())
    return _number().fullmatch(bare.strip(MINUS)) is not None


def _amounts(text: str, minor: int) -> Iterator[Number]:
    for match in _number().finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        digits = sum(map(str.isdigit, match[0]))
        if not _WITH_CENTS.search(match[0]) and _is_masked(before, match[0], after):
            continue
        if _is_registration(match[0], after):
            continue
        # In `3 for 40 -5.00` the last one is negative.
        is_signed = bool(_NEGATIVE.search(before) and _WITH_CENTS.search(match[0]))
        if not is_signed and (_is_part_of_date(before, after) or _is_year(before, match[0])):
            continue
        has_three = minor == CENTS and _is_per_unit(before, after)
        found = _read(text, match, _GROUP if has_three else minor)
        # Joined to letters that are not a currency, only minor digits make an amount: "TOTAL9.50".
        is_joined = before[-1:].isalpha() and not currency_symbols.before().search(before)
        is_joined |= after[:1].isalpha() and not found.has_symbol
        may_be_joined = found.decimals in (CENTS, _GROUP)
        if digits - found.decimals <= _MOST_DIGITS and (may_be_joined or not is_joined):
            is_negative = found.is_bracketed and after[:1] == ")" and before[-1:] != " "
            yield found.negative if is_negative else found


def _is_masked(before: str, digits: str, after: str) -> bool:
    """Return whether digits are the end of a masked number, such as `**44 18` or `********1234`."""
    if _MASKED.search(before) or (before.endswith(_MASK) and _MORE_DIGITS.match(after)):
        return True
    return before.endswith(_CARD_MASK) and len(digits) == _CARD_DIGITS and digits.isdigit()


def _read(text: str, match: re.Match[str], minor: int) -> Number:
    near = max(0, match.start() - _LONGEST_SYMBOL)
    before, after = text[near : match.start()], text[match.end() :]
    is_percent = after.lstrip(" ").startswith("%") or (before.endswith("%") and match[0].isdigit())
    # `8.875%` is not thousands.
    readings, decimals = _readings(match[0], _GROUP if is_percent else minor)
    if _HUNDREDTHS.match(after):
        readings, decimals = tuple(each.scaleb(-CENTS) for each in readings), decimals + CENTS
    symbol = currency_symbols.before().search(text, near, match.start())
    start, end = _with_sign(text, match, symbol.start() if symbol else match.start())
    outside = text[near : symbol.start() if symbol else start]
    return Number(
        start=start,
        end=end,
        readings=readings if (start, end) == match.span() else tuple(-each for each in readings),
        decimals=decimals,
        has_symbol=_has_symbol(
            text[near : symbol.start()] if symbol else None, after, has_decimals=decimals > 0
        ),
        is_percent=is_percent,
        is_bracketed=outside.rstrip(f" {MINUS}").endswith("("),
        has_unit=_unit_after().match(text, match.end()) is not None,
        is_content=decimals == 0 and _CONTENT.match(text, match.end()) is not None,
        is_rate=_RATE.search(before) is not None,
        minor=max(minor, CENTS),
    )


def _readings(printed: str, minor: int) -> tuple[tuple[Decimal, ...], int]:
    """Return the possible values, and the decimals of the first one."""
    plain = re.sub(r"\s", "", printed)
    if _BY_TWO.fullmatch(plain):
        plain = plain.replace(",", "")
    *whole, last = _SEPARATOR.split(plain)
    if not whole:
        return (Decimal(plain),), 0
    decimal = Decimal(f"{''.join(whole) or '0'}.{last}")
    if len(last) != _GROUP or not whole[0].strip("0") or len(whole[0]) > _GROUP:
        return (decimal,), len(last)
    if minor == _GROUP and plain.count(_SEPARATOR.findall(plain)[-1]) == 1:
        return (decimal,), _GROUP
    grouped = Decimal("".join(whole) + last)
    # Several separators group digits; a single one may be decimal.
    return ((grouped, decimal) if len(whole) == 1 else (grouped,)), 0


def _with_sign(text: str, match: re.Match[str], symbol: int) -> tuple[int, int]:
    """Return the position of a number with its minus sign; that of its digits without one.

    Args:
        text: The text.
        match: The number.
        symbol: The start of the currency symbol before it, or of the number.
    """
    start, end = match.span()
    near = max(0, start - _LONGEST_SYMBOL)
    if not _ENDED.search(text, near, start) and (after := _MINUS_AFTER.match(text, end)):
        return start, after.end()
    sign = (
        _MINUS_BEFORE.search(text, near, start)
        or _MINUS_BEFORE.search(text, near, symbol)
        or _MINUS_AFTER_SYMBOL.search(text, symbol, start)
    )
    return (sign.start() if sign else start), end


def _has_symbol(before: str | None, after: str, *, has_decimals: bool) -> bool:
    """Return whether a symbol belongs to a number, between two to the one with cents.

    Args:
        before: The text before the symbol in front of the number; None without one.
        after: The text after the number.
        has_decimals: Whether the number has decimals.
    """
    if before is not None and (has_decimals or not before.rstrip(" ")[-1:].isdigit()):
        return True
    following = currency_symbols.after().match(after)
    if following is None:
        return _NO_MINOR.match(after) is not None
    is_of_next = not has_decimals and after[following.end() :][:1].isdigit()
    return not is_of_next and _NEXT_AMOUNT.match(after, following.end()) is None


def _is_per_unit(before: str, after: str) -> bool:
    bare = after.lstrip(" $€£")
    return bool(_PER_UNIT_AFTER.match(bare) or _PER_UNIT_BEFORE.search(before))


def _is_part_of_date(before: str, after: str) -> bool:
    """Return whether the number belongs to a date, a time, a phone number or an identifier."""
    return bool(
        re.search(r"\d\s?[-/:#*]$|[#/:*]$", before) and not re.search(r"(?:^|\D)[:*]$", before)
    ) or bool(re.match(r"[/:]\d|-\d|\s?[-/]\s?\d{1,2}\s?[-/]\s?\d", after))


def _is_year(before: str, digits: str) -> bool:
    """Return whether four digits follow the name of a month: `17 March 2026`."""
    if _YEAR.fullmatch(digits) is None:
        return False
    month = _MONTH_BEFORE.search(before[-_LONGEST_MONTH:])
    return month is not None and fold(month[1]) in lexicon.months()


def _is_registration(number: str, after: str) -> bool:
    """Return whether a number is followed by its check digits: `062447188.00-20`."""
    is_long = sum(map(str.isdigit, number)) >= _MANY_DIGITS
    return is_long and _CHECK_DIGITS.match(after) is not None


def _is_inside_word(text: str, number: Number, match: re.Match[str]) -> bool:
    """Return whether a number is part of a name or code, as in `8MM`, `T12,00%`, `6x1.25L`.

    An amount may be joined to a tax code after it, a quantity to its unit or `x`: `2x`, `x2`.
    """
    before, after = text[: number.start], text[number.end :]
    if _is_registration(match[0], after):
        return True
    if _TIMES_BEFORE.search(before[-_LONGEST_SYMBOL:]) and (not after or after[0] in _AFTER_COUNT):
        return False
    has_cents = _WITH_CENTS.search(match[0]) is not None
    if before[-1:].isalpha() and before[-1] not in _UNIT_PRICE_SIGN:
        return not has_cents or after[:1] == "%" or after[:1].isalpha()
    # `12:30`, unlike `Qtde.:2`.
    is_part_of_time = re.search(r"[0-9]\s?:$", before) or re.match(r":[0-9]{2}", after)
    return (bool(is_part_of_time) or before[-1:] in ("#", "/")) and not has_cents


@cache
def _number() -> re.Pattern[str]:
    symbol = currency_symbols.pattern().replace(" ", r"\ ").replace("#", r"\#")
    pattern = _NUMBER.replace("SYMBOL", symbol).replace("GROUPING", GROUPING)
    return re.compile(pattern, re.VERBOSE)


@cache
def _unit_after() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{lexicon.units()})(?![^\W_])", re.IGNORECASE)
