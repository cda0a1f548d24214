"""Adds taxes, payments, discount, tip, service charge and rounding to a receipt."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from recibo.extract.candidates import Candidates
from recibo.extract.model import Details, Extracted, LineItem, Receipt
from recibo.extract.resolve import adjusted, arithmetic, paid, tax_lines

T = TypeVar("T")

# Items and their sum differ by so much where amounts are rounded to coins.
_ROUNDING = Decimal("0.05")
# The confidence of a row that is doubtful for itself.
_DOUBTFUL = 0.7

# A candidate with a lower confidence is left out: null is better than a guess.
_LEAST_ADDRESS, _LEAST_NAME, _LEAST_TAX_ID, _LEAST_DATE = 0.5, 0.5, 0.5, 0.5


def with_amounts(receipt: Receipt, candidates: Candidates) -> Receipt:
    """Return the receipt with the amounts that agree with each other and with its total."""
    amounts = adjusted.chosen(candidates, receipt)
    taxes = tax_lines.chosen(candidates.amounts, receipt)
    details = replace(
        receipt.details,
        taxes=taxes,
        payments=paid.chosen(candidates, receipt),
        discount=amounts["discount"],
        tip=amounts["tip"],
        service_charge=amounts["service_charge"],
        rounding=amounts["rounding"],
    )
    tax = tax_lines.whole(candidates.amounts, taxes, receipt)
    items = tuple(
        one for one in receipt.line_items if not _is_charge(one, amounts["service_charge"])
    )
    return replace(receipt, details=details, tax=tax, line_items=items)


def _is_charge(item: Extracted[LineItem], charge: Extracted[Decimal] | None) -> bool:
    """Return whether the row of a charge in a table was taken for one of an item, too."""
    if charge is None or charge.box is None or item.box is None or item.page != charge.page:
        return False
    is_same_row = item.box.y0 <= charge.box.y_center <= item.box.y1
    return is_same_row and item.value.qty is None and item.value.total == charge.value


def with_summed_items(receipt: Receipt) -> Receipt:
    """Return the receipt with surer items if they add up to its total or its subtotal.

    Left out, 97.0% of the items that add up are right on the documents of `benchmarks.accuracy`,
    and 82.4% of the others. What is doubtful stays so: its name may be wrong.
    """
    if not _add_up(receipt):
        return receipt
    items = tuple(
        one if one.confidence < _DOUBTFUL else replace(one, confidence=(1 + one.confidence) / 2)
        for one in receipt.line_items
    )
    return replace(receipt, line_items=items)


def _add_up(receipt: Receipt) -> bool:
    totals = [item.value.total for item in receipt.line_items]
    known = [total for total in totals if total is not None]
    if not known or len(known) != len(totals):
        return False
    found = receipt.details
    parts = (found.service_charge, found.tip, found.rounding, receipt.tax)
    between = [part.value for part in parts if part]
    between += [-found.discount.value] if found.discount else []
    tax = receipt.tax.value if receipt.tax else Decimal(0)
    wholes = [whole.value for whole in (receipt.total, receipt.subtotal) if whole]
    # The prices of items may contain the tax, and the subtotal not.
    wholes += [receipt.subtotal.value + tax] if receipt.subtotal else []
    added = sum(known, Decimal(0))
    steps = {Decimal(0), *arithmetic.sums(between)}
    return any(abs(added + step - whole) <= _ROUNDING for step in steps for whole in wholes)


def with_parties(
    details: Details, candidates: Candidates, merchant_tax_id: Extracted[str] | None
) -> Details:
    """Return the details with the likeliest candidates; the seller's number is not the buyer's."""
    found = candidates.parties
    seller = merchant_tax_id.value if merchant_tax_id else None
    others = [one for one in found.customer_tax_ids if one.value != seller]
    return replace(
        details,
        merchant_address=_likeliest(found.merchant_addresses, _LEAST_ADDRESS),
        customer_name=_likeliest(found.customer_names, _LEAST_NAME),
        customer_tax_id=_likeliest(others, _LEAST_TAX_ID),
        due_date=_likeliest(found.due_dates, _LEAST_DATE),
    )


def _likeliest(candidates: Sequence[Extracted[T]], least: float) -> Extracted[T] | None:
    return candidates[0] if candidates and candidates[0].confidence >= least else None
