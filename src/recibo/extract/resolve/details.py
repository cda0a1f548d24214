"""Adds taxes, payments, discount, tip, service charge and rounding to a receipt."""

from dataclasses import replace

from recibo.extract.candidates import Candidates
from recibo.extract.model import Receipt
from recibo.extract.resolve import adjusted, paid, tax_lines


def with_amounts(receipt: Receipt, candidates: Candidates) -> Receipt:
    """Return the receipt with the amounts that agree with each other and with its total."""
    amounts = adjusted.chosen(candidates, receipt)
    details = replace(
        receipt.details,
        taxes=tax_lines.chosen(candidates.amounts, receipt),
        payments=paid.chosen(candidates, receipt),
        discount=amounts["discount"],
        tip=amounts["tip"],
        service_charge=amounts["service_charge"],
        rounding=amounts["rounding"],
    )
    return replace(receipt, details=details)
