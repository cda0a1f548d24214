"""Reads the coupon of a fiscal printer (ECF, ATO COTEPE/ICMS 43/04): a counter but no key."""

import re
from dataclasses import replace

from recibo.extract.brazil.documents import fiscal_document, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.model import DocumentType, Extracted, Header

LABELS = "thermal"

# COO, the counter of operations; CCF, GNF, CDC, CRZ and CRO are other counters.
_COUNTER = re.compile(r"C[O0]{2}\s*[:;.]?\s*([0-9OoIl]{4,9})")
_DIGITS = str.maketrans("OoIl", "0011")


def read(document: FiscalDocument) -> Header:
    """Read a coupon."""
    return replace(
        fiscal_document.base_header(document, DocumentType.CUPOM_FISCAL, title="CUPOM FISCAL"),
        merchant_name=thermal.name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, thermal.issuers(document)),
        issued_at=fiscal_document.with_offset(document, next(thermal.stamps(document), None)),
        total=thermal.amount(document, "total") or thermal.amount(document, "payable"),
        subtotal=thermal.amount(document, "subtotal"),
        tax=taxes.read(document),
        document_number=_counter(document),
    )


def _counter(document: FiscalDocument) -> Extracted[str] | None:
    for line in document.lines:
        if match := _COUNTER.search(line.text.upper()):
            value = match[1].translate(_DIGITS).lstrip("0")
            return fiscal_document.line_cell(line).found(value) if value else None
    return None
