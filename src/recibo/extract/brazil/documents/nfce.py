"""The DANFE NFC-e, the roll (58 or 80 mm) of a consumer's electronic note."""

import re
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.model import DocumentType, Extracted, Header, Moment

LABELS = "thermal"

_NUMBER = re.compile(r"^\W*+(?:N?[º°o.]*+)?+\W*+([0-9]{1,9})\b")
#: A total reckoned from the gross: more may have been added on what is torn off.
_RECKONED = 0.6


def read(document: Paper) -> Header:
    """Read an NFC-e."""
    total = fiscal_document.coded_total(document) or _payable(document)
    return replace(
        fiscal_document.start(document, DocumentType.NFCE, title="NFC-e"),
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


def _payable(document: Paper) -> Extracted[Decimal] | None:
    """Return what is to be paid; without a discount some makers print the total alone."""
    payable, total = thermal.amount(document, "payable"), thermal.amount(document, "total")
    if payable is None and total and (change := thermal.changes_below(document, total)):
        # The paper is torn, or misread, where it says what is left to pay.
        return replace(total, value=total.value + change, confidence=_RECKONED)
    return payable or total


def _gross(document: Paper) -> Extracted[Decimal] | None:
    kinds = ("gross", "subtotal", "total")
    return next((found for kind in kinds if (found := thermal.amount(document, kind))), None)


def _issued_at(document: Paper) -> Extracted[Moment] | None:
    if coded := fiscal_document.coded_moment(document):
        return coded
    stamps = [*thermal.stamps_beside_series(document), *thermal.stamps(document)]
    printed = fiscal_document.of_key_month(document, stamps)
    return fiscal_document.placed(document, thermal.to_the_second(document, printed))
