"""The extract of a CF-e SAT (or MFE), the electronic coupon of São Paulo and Ceará."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.fiscal_papers import paper, rolls, taxes
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Found, Header, Moment

LABELS = "rolls"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,6})\b")


def read(document: Paper) -> Header:
    """Read an extract."""
    total = paper.coded_total(document) or rolls.amount(document, "total")
    return replace(
        paper.start(document, DocumentType.CUPOM_FISCAL, title="CF-e SAT"),
        merchant_name=rolls.name(document),
        merchant_tax_id=paper.issuer_id(document, rolls.issuers(document)),
        issued_at=_issued_at(document),
        total=total,
        subtotal=_gross(document, total),
        tax=taxes.read(document),
        document_number=paper.number(document, "extract", reader=_read_number),
    )


def _read_number(text: str) -> str | None:
    match = _NUMBER.search(text)
    return match[1].lstrip("0") or None if match else None


def _gross(document: Paper, total: Found[Decimal] | None) -> Found[Decimal] | None:
    """Return the gross of the items: printed only beside a discount, else the total is it."""
    gross = rolls.amount(document, "gross") or rolls.amount(document, "subtotal")
    is_changed = any(
        True for kind in ("discount", "surcharge") for _ in rolls.amounts(document, kind)
    )
    return gross if gross is not None or is_changed else total


def _issued_at(document: Paper) -> Found[Moment] | None:
    stamp = paper.coded_moment(document) or paper.of_key_month(document, rolls.stamps(document))
    return paper.placed(document, stamp)
