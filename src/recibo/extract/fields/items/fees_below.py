"""Finds the fees between a subtotal of the items and the total: `Booking Fee`, `Wait Time`."""

from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon

#: A single one may be a tax or a service charge whose name is unknown.
_FEWEST, _MOST_ROWS = 2, 12
# They have fields of their own.
_OTHERS = ("tip", "tax", "rounding")


def find(rows: Sequence[Row], items: Decimal) -> list[Priced]:
    """Return the fees that lead from the sum of the items to the total, else none.

    Args:
        rows: The rows of the document.
        items: The sum of the items above the subtotal.
    """
    totals = terminators.totals([row for row in rows if terminators.is_total(row)])
    for place, row in enumerate(rows):
        if terminators.is_subtotal(row) and terminators.totals([row]) == {items}:
            return _to_total(rows[place + 1 : place + 1 + _MOST_ROWS], items, totals - {items})
    return []


def _to_total(rows: Sequence[Row], items: Decimal, totals: frozenset[Decimal]) -> list[Priced]:
    fees: list[Priced] = []
    whole = items
    for row in rows:
        read = priced_row.read(row)
        if read is None or terminators.is_total(row):
            return []
        meaning = terminators.meaning(row)
        if meaning is Meaning.PAYMENT or not read.has_name:
            return []
        is_discount = meaning in (Meaning.DISCOUNT, Meaning.ON_ITEM)
        whole += -abs(read.total) if is_discount else read.total
        if not is_discount and not _has_field(row.text[: read.total_figure.start]):
            fees.append(read)
        if len(fees) >= _FEWEST and whole in totals:
            return fees
    return []


def _has_field(label: str) -> bool:
    """Return whether a label is of a tax, a tip or the like: `Service Charge 10%`."""
    charges = lexicon.wordbook("service_charge").find(label)
    is_charge = bool(charges) and not any(map(str.isalnum, label[: charges[0].start]))
    return is_charge or bool(lexicon.wordbook(*_OTHERS).find(label))
