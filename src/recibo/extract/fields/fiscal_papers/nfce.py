"""The DANFE NFC-e, the roll (58 or 80 mm) of a consumer's electronic note."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.fiscal_papers import paper, rolls, taxes
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Found, Header, Moment

LABELS = "rolls"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,9})\b")
#: A total reckoned from the gross: more may have been added on what is torn off.
_RECKONED = 0.6


def read(document: Paper) -> Header:
    """Read an NFC-e."""
    total = paper.coded_total(document) or _payable(document)
    return replace(
        paper.start(document, DocumentType.NFCE, title="NFC-e"),
        merchant_name=rolls.name(document),
        merchant_tax_id=paper.issuer_id(document, rolls.issuers(document)),
        issued_at=_issued_at(document),
        total=total,
        subtotal=_gross(document) or total,
        tax=taxes.read(document),
        document_number=paper.number(document, "number", reader=_read_number),
    )


def _read_number(text: str) -> str | None:
    match = _NUMBER.search(text)
    return match[1].lstrip("0") or None if match else None


def _payable(document: Paper) -> Found[Decimal] | None:
    """Return what is to be paid; without a discount some makers print the total alone."""
    payable, total = rolls.amount(document, "payable"), rolls.amount(document, "total")
    if payable is None and total and (change := rolls.changes_below(document, total)):
        # The paper is torn, or misread, where it says what is left to pay.
        return replace(total, value=total.value + change, confidence=_RECKONED)
    return payable or total


def _gross(document: Paper) -> Found[Decimal] | None:
    kinds = ("gross", "subtotal", "total")
    return next((found for kind in kinds if (found := rolls.amount(document, kind))), None)


def _issued_at(document: Paper) -> Found[Moment] | None:
    coded = paper.coded_moment(document)
    stamps = [*rolls.stamps_beside_series(document), *rolls.stamps(document)]
    return coded or paper.placed(document, paper.of_key_month(document, stamps))
