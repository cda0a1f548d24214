"""Reads the two rows of amounts of a DANFE by their arithmetic, where their labels are misread.

The upper row ends with the sum of the products, the lower one with the total:

    base of ICMS, ICMS, base of ST, ST, …, products
    freight, insurance, discount, other expenses, IPI, …, total

The total is the products and the charges of the lower row less the discount, with ST and IPI.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Extracted, Line, Word
from recibo.extract.text import numbers

#: The fewest amounts of the rows, since zeros may be missing in the upper one, and the most.
_FEWEST_UPPER, _FEWEST_LOWER, _MOST = 3, 5, 10
#: The most words of a line, and the most amounts of a row that is in two lines.
_MOST_WORDS, _MOST_HALVES = 24, 7
#: The lower row is at most this many lines below the upper one.
_NEAR = 4
#: The places of the charges, of the discount among them, and of ICMS and ST.
_CHARGES, _DISCOUNT, _ICMS, _ST = 4, 2, 1, 3
#: The amounts of both rows on a form that prints the estimated taxes left of the total.
_WITH_TAXES = (5, 7)
#: Their sum proves them.
_CONFIDENT = 0.97

#: An amount and its word.
_Amount = tuple[Decimal, Word]


@dataclass(frozen=True, slots=True)
class Sums:
    """The amounts of both rows, which add up."""

    subtotal: Extracted[Decimal]
    total: Extracted[Decimal]
    icms: Extracted[Decimal] | None
    #: The estimated taxes of the products.
    taxes: Extracted[Decimal] | None


def read(document: FiscalDocument) -> Sums | None:
    """Return the amounts of the first two rows that add up to a total."""
    rows = list(_rows(list(document.lines)))
    for upper, lower in itertools.pairwise(rows):
        if lower[0] - upper[0] <= _NEAR and (sums := _sums(upper[1], lower[1])):
            return sums
    return None


def _rows(lines: Sequence[Line]) -> Iterator[tuple[int, list[_Amount]]]:
    """Yield the lines with amounts and no other numbers, with their indices.

    On a slanted page a row may be in two lines, of which the upper one has labels, too.
    """
    before: tuple[int, list[_Amount]] | None = None
    for index, line in enumerate(lines):
        amounts = _amounts(line)
        if before and before[0] == index - 1 and _are_halves(before[1], amounts):
            amounts = sorted([*before[1], *amounts], key=lambda each: each[1].box.x0)
        elif before and len(before[1]) >= _FEWEST_UPPER:
            yield before
        before = (index, amounts) if amounts else None
    if before and len(before[1]) >= _FEWEST_UPPER:
        yield before


def _amounts(line: Line) -> list[_Amount]:
    """Return the amounts of a line; none if more than one other word has digits."""
    if len(line.words) > _MOST_WORDS:
        return []
    found = [(word, _amount(word)) for word in line.words]
    others = [word for word, amount in found if not amount and any(map(str.isdigit, word.text))]
    # One amount may be misread: `118` for `1,18`.
    return [amount for _, amount in found if amount] if len(others) <= 1 else []


def _are_halves(upper: Sequence[_Amount], lower: Sequence[_Amount]) -> bool:
    """Return whether two lines of amounts are the left and the right part of one row."""
    if not upper or not lower or len(upper) + len(lower) > _MOST_HALVES:
        return False
    first, second = sorted((upper, lower), key=lambda amounts: amounts[0][1].box.x0)
    return first[-1][1].box.x1 < second[0][1].box.x0


def _amount(word: Word) -> _Amount | None:
    values = numbers.money(word.text)
    return (values[0], word) if len(values) == 1 and not _has_letters(word.text) else None


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text.replace("R$", "").replace("RS", "")))


def _sums(upper: Sequence[_Amount], lower: Sequence[_Amount]) -> Sums | None:
    if not (_FEWEST_LOWER <= len(lower) <= _MOST and _FEWEST_UPPER <= len(upper) <= _MOST):
        return None
    *values, total = (value for value, _ in lower)
    products = upper[-1][0]
    known = products + sum(values[:_CHARGES]) - 2 * values[_DISCOUNT]
    # Other amounts of both rows are in the total on some forms, and on others not.
    is_whole = len(upper) > _ST + 1
    others = [*values[_CHARGES:], *([upper[_ST][0]] if is_whole else ())]
    used = next((some for some in _choices(others) if known + sum(some) == total), None)
    if used is None or total <= 0:
        return None
    return Sums(
        subtotal=_found(upper[-1]),
        total=_found(lower[-1]),
        icms=_found(upper[_ICMS]) if is_whole else None,
        taxes=_taxes(upper, lower, used),
    )


def _choices(amounts: Sequence[Decimal]) -> Iterator[tuple[Decimal, ...]]:
    """Yield the choices of some amounts, those with few of them first."""
    nonzero = [amount for amount in amounts if amount]
    for count in range(len(nonzero) + 1):
        yield from itertools.combinations(nonzero, count)


def _taxes(
    upper: Sequence[_Amount], lower: Sequence[_Amount], used: Sequence[Decimal]
) -> Extracted[Decimal] | None:
    """Return the estimated taxes, which are left of the total but not a part of it."""
    amount = lower[-2]
    is_printed = (len(upper), len(lower)) == _WITH_TAXES
    return _found(amount) if is_printed and amount[0] not in used else None


def _found(amount: _Amount) -> Extracted[Decimal]:
    value, word = amount
    return Cell((word,)).found(value, confidence=_CONFIDENT)
