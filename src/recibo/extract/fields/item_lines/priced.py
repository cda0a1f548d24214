"""One row of a roll read by itself: the goods' name, what they cost, and how many they are."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.item_lines import arithmetic, wording
from recibo.extract.fields.item_lines.figures import Figure
from recibo.extract.fields.item_lines.rows import Row

#: Behind an amount there is room for a tax mark, a currency or a star, not for a sentence.
_LONGEST_TAIL = 6
_AMOUNT = r"[0-9]+(?:[.,][0-9]{1,4})?"
# `2 x 1,29`, `0.535 kg @ 2.99/kg`, `3 @ 1.50 ea.`: how the total came about, on a row of its own.
_DETAIL = re.compile(
    rf"^\W*(?P<qty>{_AMOUNT})\s*[^\W\d]{{0,4}}\.?\s*(?:[x×X*@à]|\ba\b)\s*"
    rf"[^\w\s]?(?:[A-Z]{{1,3}}\W?)?\s*(?P<price>{_AMOUNT})"
    r"\s?[^\w\s]?\s?(?:[^\W\d]{1,5}\.?)?\s?(?:/\s?\w{1,6})?\W*$"
)
# Behind a sign of multiplication stands the price of one, no total.
_TIMES = re.compile(r"(?:[\s0-9][xX×*]|[A-Z]x|@)\s?(?:R?[^\w\s])?\s?$")


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
        return wording.is_name(wording.strip_code(self.words))

    @property
    def is_product(self) -> bool:
        """Whether several units make the total; one unit at its own price proves nothing."""
        return self.factors is not None and self.factors.qty != 1


@dataclass(frozen=True, slots=True)
class Detail:
    """A row that only says how a total came about."""

    row: Row
    qty: Decimal
    unit_price: Decimal


def read(row: Row, *, minor: int = 2) -> Priced | None:
    """Read a row with a total at its end; None for others.

    Args:
        row: The row.
        minor: How many decimals money has here.
    """
    total = _total(row, minor)
    if total is None:
        return None
    before = [figure for figure in row.figures if figure.end <= total.start]
    found = arithmetic.factors(before, total.value) if total.value else None
    return Priced(row, total.value, total, found, wording.of_row(row, total.start, found))


def of_total(row: Row, total: Decimal, *, at: Priced) -> Priced:
    """Read a row whose total stands on another one: name, and perhaps quantity and price."""
    found = arithmetic.factors(row.figures, total) if total else None
    words = row.text if found is None else wording.of_row(row, len(row.text), found)
    return replace(at, factors=at.factors or found, words=words)


def read_detail(row: Row) -> Detail | None:
    """Read `2 x 1,29` and the like."""
    match = _DETAIL.match(row.text)
    if match is None:
        return None
    qty, price = (Decimal(match[part].replace(",", ".")) for part in ("qty", "price"))
    return Detail(row, qty, price)


def _total(row: Row, minor: int) -> Figure | None:
    """Return the last amount, if it ends the row and is no price of one."""
    amounts = (
        figure
        for figure in reversed(row.figures)
        if not figure.is_bracketed and (figure.is_money or minor == figure.decimals == 0)
    )
    last = next(amounts, None)
    if last is None:
        return None
    tail = row.text[last.end :].strip(" \t*%")
    ends_row = len(tail) <= _LONGEST_TAIL and "%" not in tail
    return last if ends_row and not _TIMES.search(row.text[: last.start]) else None
