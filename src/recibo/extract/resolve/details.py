"""Adds taxes, payments, discount, tip, service charge and rounding to a receipt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from recibo.extract.candidates import Candidates
from recibo.extract.model import Details, Extracted, Receipt
from recibo.extract.resolve import adjusted, paid, tax_lines

T = TypeVar("T")

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
    return replace(receipt, details=details, tax=tax)


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
