"""The coupon of a fiscal printer (ECF, ATO COTEPE/ICMS 43/04): no key, counters instead."""

import re
from dataclasses import replace

from recibo.extract.fields.fiscal_papers import paper, rolls, taxes
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Found, Header

LABELS = "rolls"

# The counter of operations; CCF, GNF, CDC, CRZ and CRO count other things.
_COUNTER = re.compile(r"C[O0]{2}\s*[:;.]?\s*([0-9OoIl]{4,9})")
_DIGITS = str.maketrans("OoIl", "0011")


def read(document: Paper) -> Header:
    """Read a coupon."""
    return replace(
        paper.start(document, DocumentType.CUPOM_FISCAL, title="CUPOM FISCAL"),
        merchant_name=rolls.name(document),
        merchant_tax_id=paper.issuer_id(document, rolls.issuers(document)),
        issued_at=paper.placed(document, next(rolls.stamps(document), None)),
        total=rolls.amount(document, "total") or rolls.amount(document, "payable"),
        subtotal=rolls.amount(document, "subtotal"),
        tax=taxes.read(document),
        document_number=_counter(document),
    )


def _counter(document: Paper) -> Found[str] | None:
    for line in document.lines:
        if match := _COUNTER.search(line.text.upper()):
            value = match[1].translate(_DIGITS).lstrip("0")
            return paper.line_cell(line).found(value) if value else None
    return None
