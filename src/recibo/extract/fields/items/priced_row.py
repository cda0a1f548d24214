"""One row of a roll read by itself: the goods' name, what they cost, and how many they are."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, item_name
from recibo.extract.layout.item_rows import Row
from recibo.extract.text.figures import Figure

#: Behind an amount there is room for a tax mark, a currency or a star, not for a sentence.
_LONGEST_TAIL = 6
#: Behind a colon smaller whole numbers are counts: no currency without cents has such totals.
_LEAST_PRICE = 10
# Behind a sign of multiplication stands the price of one, no total.
_OF_PRODUCT = re.compile(r"[0-9]\s?[^\W\d]{0,4}\s[xX×]\s?[0-9.,]+\s*\([0-9.,]+\)$")
_TIMES = re.compile(
    r"(?:[\s0-9][xX×]|[0-9][ ]?\*|[A-Z]x)\s?(?:R?[^\w\s])?\s?$|@[ ]?(?:R?[^\w\s])?[ ]?$"
)
# `Sparkling Water 6x    5.74`: a name cut where its column ends.
_CUT_NAME = re.compile(r"[^\W\d_]{3}\W+(?:.*\s)?[0-9]+[xX×]\t[^\w\s]?$")


@dataclass(frozen=True)
class Priced:
    """A row with a total."""

    row: Row
    total: Decimal
    total_figure: Figure
    factors: arithmetic.Factors | None
    #: What stands before quantity, price and total.
    words: str

    @property
    def has_name(self) -> bool:
        """Whether the goods are named on this row."""
        words = item_name.strip_code(self.words)
        # What is left between the figures of a product may be no more than its units.
        return item_name.is_name(words if self.factors is None else item_name.without_units(words))

    @property
    def is_product(self) -> bool:
        """Whether several units make the total; one unit at its own price proves nothing."""
        return self.factors is not None and self.factors.qty != 1


def read(row: Row, *, minor: int = 2) -> Priced | None:
    """Read a row with a total at its end; None for others.

    Args:
        row: The row.
        minor: How many decimals money has here.
    """
    total = _total(row, minor)
    return at(row, total) if total else None


def at(row: Row, total: Figure) -> Priced:
    """Read a row whose total is known."""
    before = [figure for figure in row.figures if figure.end <= total.start]
    found = arithmetic.factors(before, total.value)
    return Priced(row, total.value, total, found, item_name.of_row(row, total.start, found))


def with_total(read: Priced, total: Decimal) -> Priced:
    """Read a row whose total was misread."""
    before = [figure for figure in read.row.figures if figure.end <= read.total_figure.start]
    found = arithmetic.factors(before, total)
    return replace(
        read,
        total=total,
        factors=found,
        words=item_name.of_row(read.row, read.total_figure.start, found),
    )


def of_total(row: Row, total: Decimal, *, at: Priced) -> Priced:
    """Read a row whose total stands on another one: name, and perhaps quantity and price."""
    found = arithmetic.factors(row.figures, total) if total else None
    words = (
        item_name.without_marks(row.text)
        if found is None
        else item_name.of_row(row, len(row.text), found)
    )
    return replace(at, factors=at.factors or found, words=words)


def _total(row: Row, minor: int) -> Figure | None:
    """Return the last amount, if it ends the row and is no price of one."""
    amounts = [
        figure
        for figure in row.figures
        if figure.is_money or (minor == figure.decimals == 0 and not _is_told(row, figure))
    ]
    if len(amounts) == 1 and amounts[0].is_bracketed and row.text[amounts[0].end :] == ")":
        # Behind a product stand the taxes on it: `50,115 L X 6,099 (55,60)`.
        return None if _OF_PRODUCT.search(row.text) else _taken_off(amounts[0])
    last = next((figure for figure in reversed(amounts) if not figure.is_bracketed), None)
    if last is None:
        return None
    tail = row.text[last.end :].strip(" \t*%")
    ends_row = len(tail) <= _LONGEST_TAIL and "%" not in tail
    return last if ends_row and not _is_of_one(row, last) else None


def _is_told(row: Row, figure: Figure) -> bool:
    """Tell whether a figure without cents tells of something else: `Guests: 3`."""
    return figure.value < _LEAST_PRICE and row.text[: figure.start].rstrip().endswith(":")


def _is_of_one(row: Row, last: Figure) -> bool:
    """Tell whether an amount is the price of one: behind a sign of multiplication, no product."""
    before = [figure for figure in row.figures if figure.end <= last.start]
    left = row.text[: last.start]
    is_behind_sign = _TIMES.search(left) is not None and _CUT_NAME.search(left) is None
    return is_behind_sign and arithmetic.factors(before, last.value) is None


def _taken_off(figure: Figure) -> Figure:
    """Return an amount in brackets as bookkeepers mean it: below zero."""
    return replace(figure, readings=tuple(-abs(value) for value in figure.readings))
