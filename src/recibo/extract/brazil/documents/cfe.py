"""Reads the extract of a CF-e SAT or MFE, the electronic coupon of São Paulo and Ceará."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.model import DocumentType, Extracted, Header, Moment

LABELS = "thermal"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,6})\b")


def read(document: FiscalDocument) -> Header:
    """Read an extract."""
    total = fiscal_document.total_in_qr_code(document) or thermal.amount(document, "total")
    return replace(
        fiscal_document.base_header(document, DocumentType.CUPOM_FISCAL, title="CF-e SAT"),
        merchant_name=thermal.name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, thermal.issuers(document)),
        issued_at=_issued_at(document),
        total=total,
        subtotal=_gross(document, total),
        tax=taxes.read(document),
        document_number=fiscal_document.number(document, "extract", reader=_read_number),
    )


def _read_number(text: str) -> str | None:
    match = _NUMBER.search(text)
    return match[1].lstrip("0") or None if match else None


def _gross(document: FiscalDocument, total: Extracted[Decimal] | None) -> Extracted[Decimal] | None:
    """Return the gross of the items; without a discount it is the total.

    OCR may miss its amount, or that of a discount.
    """
    gross = thermal.amount(document, "gross") or thermal.amount(document, "subtotal")
    kinds = ("gross", "discount", "surcharge")
    is_changed = any(not label.start for kind in kinds for label in document.form.every(kind))
    return gross if gross is not None or is_changed else total


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    stamp = fiscal_document.moment_in_qr_code(document) or fiscal_document.in_month_of_key(
        document, thermal.stamps(document)
    )
    return fiscal_document.with_offset(document, stamp)
