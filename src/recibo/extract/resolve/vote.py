"""Settles on one answer where several readings of a document disagree."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from recibo.extract.model import Extracted, Receipt

T = TypeVar("T", bound=Hashable)


def settle(receipts: Sequence[Receipt]) -> Receipt:
    """Return a receipt with the value of each field that has the highest summed confidence.

    Readings that miss a field say nothing about it: what one look found is on the page. Items are
    taken whole from one reading, for their number and order belong together: from the surest one
    of those whose items add up, if there are any.
    """
    best = max(receipts, key=lambda receipt: receipt.confidence)
    if len(receipts) == 1:
        return best
    total = _choose(receipt.total for receipt in receipts)
    subtotal = _choose(receipt.subtotal for receipt in receipts)
    sums = {found.value for found in (total, subtotal) if found}
    adding_up = [receipt for receipt in receipts if _items_sum(receipt) in sums]
    itemised = max(adding_up or [best], key=lambda receipt: receipt.confidence)
    return replace(
        best,
        merchant_name=_choose(receipt.merchant_name for receipt in receipts),
        merchant_tax_id=_choose(receipt.merchant_tax_id for receipt in receipts),
        issued_at=_choose(receipt.issued_at for receipt in receipts),
        total=total,
        subtotal=subtotal,
        tax=_choose(receipt.tax for receipt in receipts),
        currency=_choose(receipt.currency for receipt in receipts),
        document_number=_choose(receipt.document_number for receipt in receipts),
        document_key=_choose(receipt.document_key for receipt in receipts),
        line_items=itemised.line_items,
    )


def _items_sum(receipt: Receipt) -> Decimal | None:
    """Return what all items cost; None where there is none, or one has no figure."""
    totals = [item.value.total for item in receipt.line_items]
    figures = [total for total in totals if total is not None]
    return sum(figures, Decimal(0)) if figures and len(figures) == len(totals) else None


def _choose(candidates: Iterable[Extracted[T] | None]) -> Extracted[T] | None:
    """Return the surest reading of the value with the most confidence in sum."""
    support: defaultdict[T, float] = defaultdict(float)
    surest: dict[T, Extracted[T]] = {}
    for found in candidates:
        if found is None:
            continue
        support[found.value] += found.confidence
        known = surest.get(found.value)
        if known is None or found.confidence > known.confidence:
            surest[found.value] = found
    return surest[max(support, key=lambda value: support[value])] if support else None
