"""Reads the DANFE NFC-e, the thermal receipt (58 or 80 mm) of an NFC-e."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.model import DocumentType, Extracted, Header, Moment

LABELS = "thermal"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,9})\b")
#: A total computed from the gross: a torn-off part may contain further amounts.
_COMPUTED = 0.6


def read(document: FiscalDocument) -> Header:
    """Read an NFC-e."""
    total = fiscal_document.total_in_qr_code(document) or _payable(document)
    return replace(
        fiscal_document.base_header(document, DocumentType.NFCE, title="NFC-e"),
        merchant_name=thermal.name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, thermal.issuers(document)),
        issued_at=_issued_at(document),
        total=total,
        subtotal=_gross(document) or total,
        tax=taxes.read(document),
        document_number=fiscal_document.number(document, "number", reader=_read_number)
        or fiscal_document.number_before_series(document),
    )


def _read_number(text: str) -> str | None:
    match = _NUMBER.search(text)
    return match[1].lstrip("0") or None if match else None


def _payable(document: FiscalDocument) -> Extracted[Decimal] | None:
    """Return the amount to pay; without a discount some receipts print only the total."""
    payable, total = thermal.amount(document, "payable"), thermal.amount(document, "total")
    if payable is None and total and (change := thermal.changes_below(document, total)):
        # The amount to pay is torn off or misread.
        return replace(total, value=total.value + change, confidence=_COMPUTED)
    return payable or total


def _gross(document: FiscalDocument) -> Extracted[Decimal] | None:
    kinds = ("gross", "subtotal", "total")
    return next((found for kind in kinds if (found := thermal.amount(document, kind))), None)


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    if coded := fiscal_document.moment_in_qr_code(document):
        return coded
    stamps = [*thermal.stamps_near_series(document), *thermal.stamps(document)]
    printed = fiscal_document.in_month_of_key(document, stamps)
    return fiscal_document.with_offset(document, thermal.to_the_second(document, printed))
