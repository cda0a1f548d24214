"""Decides whether a document is read again, and combines its readings by a vote on each field."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from recibo.extract.model import Details, DocumentType, Extracted, Receipt

T = TypeVar("T", bound=Hashable)

# A value with a lower confidence is in doubt.
_SURE = 0.9
# The others are Brazilian fiscal documents, which always print the seller's CNPJ.
_WITHOUT_TAX_ID = (DocumentType.RECEIPT, DocumentType.INVOICE)


def is_in_doubt(receipt: Receipt) -> bool:
    """Return whether reading a document again may change its receipt.

    It may if total, date, seller, or the tax id of a fiscal document are missing, if a field is not
    sure, or if the items do not add up.
    """
    needed: list[Extracted[Any] | None] = [
        receipt.total,
        receipt.issued_at,
        receipt.merchant_name,
    ]
    if receipt.type.value not in _WITHOUT_TAX_ID:
        needed.append(receipt.merchant_tax_id)
    others = (receipt.subtotal, receipt.tax, receipt.document_number)
    found = [field for field in (*needed, *others) if field]
    is_sure = None not in needed and all(field.confidence >= _SURE for field in found)
    sums = {field.value for field in (receipt.total, receipt.subtotal) if field}
    return not is_sure or _items_sum(receipt) not in sums


def combine(receipts: Sequence[Receipt]) -> Receipt:
    """Return a receipt with the value of each field that has the highest summed confidence.

    Readings without a field do not vote on it: a value that one pass found is on the page. Items
    are taken from a single reading, since they belong together: from the most confident one of
    those whose items add up, if there are any.
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
        details=_details([receipt.details for receipt in receipts], itemised.details),
    )


def _details(voting: Sequence[Details], best: Details) -> Details:
    """Return the details by the same vote; the lists are those of one reading."""
    return replace(
        best,
        merchant_address=_choose(one.merchant_address for one in voting),
        customer_name=_choose(one.customer_name for one in voting),
        customer_tax_id=_choose(one.customer_tax_id for one in voting),
        due_date=_choose(one.due_date for one in voting),
        discount=_choose(one.discount for one in voting),
        tip=_choose(one.tip for one in voting),
        service_charge=_choose(one.service_charge for one in voting),
        rounding=_choose(one.rounding for one in voting),
        taxes=best.taxes or max((one.taxes for one in voting), key=len),
        payments=best.payments or max((one.payments for one in voting), key=len),
    )


def _items_sum(receipt: Receipt) -> Decimal | None:
    """Return the sum of all items; None if there are none, or one has no total."""
    totals = [item.value.total for item in receipt.line_items]
    figures = [total for total in totals if total is not None]
    return sum(figures, Decimal(0)) if figures and len(figures) == len(totals) else None


def _choose(candidates: Iterable[Extracted[T] | None]) -> Extracted[T] | None:
    """Return the most confident reading of the value with the highest summed confidence."""
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
