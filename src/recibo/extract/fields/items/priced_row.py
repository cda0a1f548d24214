"""Reads a single row of an item: name, total, quantity and unit price."""

import functools
import re
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, item_name
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Number

#: The longest text after an amount: a tax code, a currency or a star.
_LONGEST_TAIL = 6
#: Smaller whole numbers after a colon are counts: no currency without cents has such totals.
_LEAST_PRICE = 10
# `UN 2 x 49,90 = 99,80  [390027]`
CODE_AT_END = re.compile(r"\s\[(?P<code>[0-9A-Z.-]{2,14})\]\s*$")
# `50,115 L X 6,099 (55,60)`: the taxes after a product.
_TAXES_OF_PRODUCT = re.compile(r"[0-9]\s?[^\W\d]{0,4}\s[xX×]\s?[0-9.,]+\s*\([0-9.,]+\)$")
_TIMES = re.compile(
    r"(?:[\s0-9][xX×]|(?<![%0-9.,])(?<!%[ ])[0-9][0-9.,]*[ ]?\*|[A-Z]x)\s?(?:R?[^\w\s])?\s?$"
    r"|@[ ]?(?:R?[^\w\s])?[ ]?$"
)
# `47,83 l`: a volume; a capital may be a tax code.
_MEASURED = re.compile(r"\s?(?:l|(?i:lt|ltr|lit(?:er|re|ros)|gal|gallons?|kwh))\.?\s*$")
# OCR reads `@` as `(a`.
_BRACKETED = re.compile(
    r"\((?P<qty>[0-9]{1,3})\s?(?:\(?[@xX×*à]|\(a|at)\s?[$€£]?\s?(?P<price>[0-9]+[.,][0-9]{2})"
    r"(?:\s?ea)?\)\s*$"
)
# `Sparkling Water 6x    5.74`: a name cut at the end of its column.
_CUT_NAME = re.compile(r"[^\W\d_]{3}\W+(?:.*\s)?[0-9]+[xX×]\t[^\w\s]?$")


@dataclass(frozen=True)
class Priced:
    """A row with a total."""

    row: Row
    total: Decimal
    total_figure: Number
    factors: arithmetic.Factors | None
    #: The text before quantity, price and total.
    words: str
    #: Other rows with parts of the name.
    name_rows: tuple[Row, ...] = ()

    @property
    def has_name(self) -> bool:
        """Whether the row contains the name."""
        words = item_name.strip_code(self.words)
        # The text next to another amount may be only a unit, or `was 8.14 now 7.14`.
        has_price = self.factors is not None or any(
            each.is_money and each.end <= self.total_figure.start for each in self.row.numbers
        )
        return item_name.is_name(item_name.without_units(words) if has_price else words)

    @property
    def is_product(self) -> bool:
        """Whether the total is a product; a quantity of one proves nothing."""
        return self.factors is not None and self.factors.qty != 1


def read(row: Row, *, minor: int = 2) -> Priced | None:
    """Read a row with a total at its end; None for others.

    Args:
        row: The row.
        minor: The decimals of the currency.
    """
    total = _total(row, minor)
    return at(row, total) if total else None


def at(row: Row, total: Number) -> Priced:
    """Read a row whose total is known."""
    before = [figure for figure in row.numbers if figure.end <= total.start]
    found = arithmetic.factors(before, total.value) or _bracketed(row, total)
    return Priced(row, total.value, total, found, item_name.of_row(row, total.start, found))


def _bracketed(row: Row, total: Number) -> arithmetic.Factors | None:
    """Return the quantity and price in brackets behind a name: `Gumbo Cup (2 @ 8.00)`."""
    match = _BRACKETED.search(row.text[: total.start])
    by_start = {figure.start: figure for figure in row.numbers}
    qty, price = (by_start.get(match.start(name)) if match else None for name in ("qty", "price"))
    if qty is None or price is None:
        return None
    is_product = arithmetic.agrees(abs(qty.value), price.value, total.value)
    return arithmetic.Factors(abs(qty.value), price.value, qty, price) if is_product else None


def with_total(read: Priced, total: Decimal) -> Priced:
    """Read a row again with its total corrected."""
    before = [figure for figure in read.row.numbers if figure.end <= read.total_figure.start]
    found = arithmetic.factors(before, total)
    return replace(
        read,
        total=total,
        factors=found,
        words=item_name.of_row(read.row, read.total_figure.start, found),
    )


def of_total(row: Row, total: Decimal, *, at: Priced) -> Priced:
    """Read the name, and perhaps quantity and price, of a total in another row."""
    found = arithmetic.factors(row.numbers, total) if total else None
    words = (
        item_name.without_tax_codes(row.text)
        if found is None
        else item_name.of_row(row, len(row.text), found)
    )
    return replace(at, factors=at.factors or found, words=words)


def _total(row: Row, minor: int) -> Number | None:
    """Return the last amount, if it ends the row and is not a unit price."""
    amounts = [
        figure
        for figure in row.numbers
        if figure.is_money
        or (minor == figure.decimals == 0 and not _is_labelled_count(row, figure))
    ]
    if len(amounts) == 1 and amounts[0].is_bracketed and row.text[amounts[0].end :] == ")":
        # An amount in brackets after a product is its tax.
        return None if _TAXES_OF_PRODUCT.search(row.text) else _negative(amounts[0])
    last = next((figure for figure in reversed(amounts) if not figure.is_bracketed), None)
    if last is None:
        return None
    tail = CODE_AT_END.sub("", row.text[last.end :]).strip(" \t*%")
    ends_row = len(tail) <= _LONGEST_TAIL and "%" not in tail
    return last if ends_row and not _is_unit_price(row, last) else None


def _is_labelled_count(row: Row, figure: Number) -> bool:
    """Return whether a number without cents is not an amount: `Guests: 3`."""
    return figure.value < _LEAST_PRICE and row.text[: figure.start].rstrip().endswith(":")


def _is_unit_price(row: Row, last: Number) -> bool:
    """Return whether an amount is a quantity or a unit price, and not a total.

    A unit price is behind a multiplication sign, or a unit of measure follows.
    """
    before = [figure for figure in row.numbers if figure.end <= last.start]
    left = row.text[: last.start]
    if _per_unit().match(row.text, last.end) or _MEASURED.match(row.text, last.end):
        return True
    is_behind_sign = _TIMES.search(left) is not None and _CUT_NAME.search(left) is None
    return is_behind_sign and arithmetic.factors(before, last.value) is None


@functools.cache
def _per_unit() -> re.Pattern[str]:
    """` EUR/L`: what follows a price per unit of measure."""
    return re.compile(rf"\s?[^\W\d_]{{0,3}}[$€£]?\s?/\s?(?:{lexicon.units()})(?!\w)", re.IGNORECASE)


def _negative(figure: Number) -> Number:
    """Return an amount in brackets, which means negative."""
    return replace(figure, readings=tuple(-abs(value) for value in figure.readings))
