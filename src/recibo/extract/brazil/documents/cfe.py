"""The extract of a CF-e SAT (or MFE), the electronic coupon of São Paulo and Ceará."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.model import DocumentType, Extracted, Header, Moment

LABELS = "thermal"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,6})\b")


def read(document: Paper) -> Header:
    """Read an extract."""
    total = fiscal_document.coded_total(document) or thermal.amount(document, "total")
    return replace(
        fiscal_document.start(document, DocumentType.CUPOM_FISCAL, title="CF-e SAT"),
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


def _gross(document: Paper, total: Extracted[Decimal] | None) -> Extracted[Decimal] | None:
    """Return the gross of the items: printed only beside a discount, else the total is it."""
    gross = thermal.amount(document, "gross") or thermal.amount(document, "subtotal")
    is_changed = any(
        True for kind in ("discount", "surcharge") for _ in thermal.amounts(document, kind)
    )
    return gross if gross is not None or is_changed else total


def _issued_at(document: Paper) -> Extracted[Moment] | None:
    stamp = fiscal_document.coded_moment(document) or fiscal_document.of_key_month(
        document, thermal.stamps(document)
    )
    return fiscal_document.placed(document, stamp)
