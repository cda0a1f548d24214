"""The DANFE NFC-e, the roll (58 or 80 mm) of a consumer's electronic note."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.fiscal_papers import paper, rolls, taxes
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Found, Header, Moment

LABELS = "rolls"

_NUMBER = re.compile(r"^\W*(?:N?[º°o.]*)?\W*([0-9]{1,9})\b")
#: A total reckoned from the gross: more may have been added on what is torn off.
_RECKONED = 0.6
_SERIES_LINE = re.compile(r"S[eé]rie", re.IGNORECASE)


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
    stamps = [*_beside_series(document), *rolls.stamps(document)]
    return coded or paper.placed(document, paper.of_key_month(document, stamps))


def _beside_series(document: Paper) -> Iterator[Found[Moment]]:
    """Return the stamps on the line of number and series, or on the line under it."""
    # The protocol's own stamp stands right below, where the time of issue stands above.
    found = list(rolls.own_stamps(document))
    for line in document.lines:
        if _SERIES_LINE.search(line.text):
            reach = line.box.y1 + 1.5 * line.box.height
            yield from (
                stamp
                for stamp in found
                if stamp.page == line.page
                and stamp.box is not None
                and line.box.y0 <= stamp.box.y_centre <= reach
            )
