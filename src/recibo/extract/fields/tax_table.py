"""Reads the table that splits the total into net and tax, whatever its columns are called."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from recibo.extract.fields.amounts import Amount
from recibo.extract.fields.rows import Row
from recibo.extract.model import Found

# A heading that speaks of a tax stands at most so many rows above the table's last row.
_HEADING_ROWS = 6
# No tax on goods takes a larger part of the net price.
_MOST_RATE = Decimal("0.5")
_TOLERANCE = Decimal("0.01")
_CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Split:
    """A net amount and a tax that add up to a total."""

    net: Found[Decimal]
    tax: Found[Decimal]


def splits(rows: Sequence[Row], totals: Sequence[Decimal]) -> tuple[Split, ...]:
    """Return the rows of tax tables whose net and tax add up to one of `totals`."""
    return tuple(
        _split(row, net, tax)
        for row in rows
        if _speaks_of_tax(row, rows)
        for net, tax in _pairs(row)
        if any(abs(net.value + tax.value - total) <= _TOLERANCE for total in totals)
    )


def _pairs(row: Row) -> Iterator[tuple[Amount, Amount]]:
    money = [amount for amount in row.amounts if amount.is_money]
    for net, tax in permutations(money, 2):
        if 0 < tax.value <= net.value * _MOST_RATE:
            yield net, tax


def _speaks_of_tax(row: Row, rows: Sequence[Row]) -> bool:
    if any(amount.is_percent for amount in row.amounts):
        return True
    near = rows[max(0, row.index - _HEADING_ROWS) : row.index + 1]
    return any(label.kind == "tax" for other in near for label in other.labels)


def _split(row: Row, net: Amount, tax: Amount) -> Split:
    return Split(_found(row, net), _found(row, tax))


def _found(row: Row, amount: Amount) -> Found[Decimal]:
    box = row.box(amount.start, amount.end)
    return Found(amount.value, _CONFIDENCE, row.text, row.line.page, box)
