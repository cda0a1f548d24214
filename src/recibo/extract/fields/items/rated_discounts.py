"""Distinguishes the rate of a discount in the row of an item from the rate of a tax."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.model import Extracted, LineItem

_CENT, _WHOLE = Decimal("0.01"), Decimal(100)


def corrected(items: Sequence[Extracted[LineItem]]) -> list[Extracted[LineItem]]:
    """Return the items with a discount where a rate leads from the product to the total.

    `48 x 385.00  12%  16,262.40`: then the other rates of that column are no taxes either.
    """
    reduced = [_reduction(item.value) for item in items]
    if not any(reduced):
        return list(items)
    return [
        replace(item, value=replace(item.value, tax_rate=None, discount=discount))
        if discount or item.value.tax_rate == 0
        else item
        for item, discount in zip(items, reduced, strict=True)
    ]


def _reduction(item: LineItem) -> Decimal | None:
    """Return what an item's rate takes off its quantity times its price; None if that is not so."""
    if item.qty is None or item.unit_price is None or item.total is None or not item.tax_rate:
        return None
    product = item.qty * item.unit_price
    off = product * item.tax_rate / _WHOLE
    is_reduced = off > 0 and abs(product - off - item.total) <= _CENT
    return product - item.total if is_reduced and item.discount in (None, 0) else None
