"""The DANFE, the A4 paper of an NF-e: boxes with their labels in small capitals above."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import Issuer, Paper
from recibo.extract.layout import forms
from recibo.extract.layout.forms import Cell
from recibo.extract.model import DocumentType, Extracted, Header, Moment
from recibo.extract.text import timestamps

LABELS = "nfe"

#: The issuer's box begins within this many heights above the title beside it.
_ABOVE = 1.5

# The receipt that the buyer signs: RECEBEMOS DE <issuer> OS PRODUTOS … A name may have products in
# it (DISTRIBUIDORA PRODUTOS), so glued words are tried last.
_RECEIVED = r"RECEB(?:EMOS|I)?\s*\(?(?:EMOS)?\)?\s*D[EAO]\s*:?\s*(?P<name>.{3,120}?)"
_GOODS = r"(?:PRODUTO|MERCADORIA|SERVI|BENS|ITENS)"
_STUBS = tuple(
    re.compile(_RECEIVED + article + _GOODS, re.IGNORECASE | re.DOTALL)
    for article in (r"\s*,?\s[OA]S\s", r"\s*,?\s*[OA]S?\s*")
)
_NUMBER = re.compile(
    r"(?<![A-Z])N(?:[º°o.]|r)*\s*[:.]?\s*([0-9]{1,3}(?:\.[0-9]{3}){1,2}|[0-9]{4,9})\b"
)


def read(document: Paper) -> Header:
    """Read a DANFE."""
    return replace(
        fiscal_document.start(document, DocumentType.NFE, title="DANFE"),
        merchant_name=_name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, _issuers(document)),
        issued_at=_issued_at(document),
        total=fiscal_document.amount(document, "total", "loose_total"),
        subtotal=fiscal_document.amount(document, "subtotal"),
        tax=_tax(document),
        document_number=_number(document),
    )


def _tax(document: Paper) -> Extracted[Decimal] | None:
    """Return all taxes if their box holds an amount, else the ICMS."""
    taxes = next(_boxed_taxes(document), None)
    return taxes if taxes and taxes.value else fiscal_document.amount(document, "icms") or taxes


def _boxed_taxes(document: Paper) -> Iterator[Extracted[Decimal]]:
    """Yield all taxes from their box: what the issuer adds at the foot speaks of them in words."""
    form = document.form
    foot = form.first("additional")
    for label in form.every("all_taxes"):
        is_boxed = foot is None or label.line < foot.line
        if is_boxed and (found := form.read_at(label, fiscal_document.first_amount)):
            yield found


def _number(document: Paper) -> Extracted[str] | None:
    for line in document.lines:
        for cell in forms.cells(line.words):
            if match := _NUMBER.search(cell.text):
                value = match[1].replace(".", "").lstrip("0")
                keyed = document.keyed
                if value and (keyed is None or keyed.key.number == value):
                    return cell.found(value)
    return fiscal_document.keyed_number(document)


def _issued_at(document: Paper) -> Extracted[Moment] | None:
    """Return the date of issue, with the hour of departure if goods left on that day."""
    dates = fiscal_document.of_key_month(document, document.form.read(["date"], timestamps.first))
    if dates is None:
        return None
    left_on = next(document.form.read(["departure_date"], timestamps.first), None)
    left_at = next(document.form.read(["departure_time"], timestamps.clock), None)
    if dates.value.time is None and left_at and _same_day(dates, left_on):
        dates = replace(dates, value=replace(dates.value, time=left_at.value))
    return fiscal_document.placed(document, dates)


def _same_day(issued: Extracted[Moment], left_on: Extracted[Moment] | None) -> bool:
    return left_on is None or left_on.value.date == issued.value.date


def _issuers(document: Paper) -> Iterator[Issuer]:
    """Return the tax ids between the head of the page and the recipient, then the others."""
    form = document.form
    nature, recipient = form.first("nature"), form.first("recipient")
    start = nature.line if nature else 0
    # The stub above the head may name the recipient's id, so the search begins under it.
    ends = [label.line for label in form.every("recipient") if label.line > start]
    end = ends[0] if ends else (recipient.line if recipient else len(form.lines))
    return (
        issuer for issuer in fiscal_document.printed_ids(document) if start <= issuer.line < end
    )


def _name(document: Paper) -> Extracted[str] | None:
    # The stub has the legal name in full; the box may cut it, or show the trade name.
    return _stub_name(document) or _labelled_name(document) or _box_name(document)


def _stub_name(document: Paper) -> Extracted[str] | None:
    lines = list(document.lines)
    for index, line in enumerate(lines):
        if "RECEB" not in line.text.upper():
            continue
        joined = " ".join(each.text for each in lines[index : index + 3])
        match = next((match for stub in _STUBS if (match := stub.search(joined))), None)
        if match and names.looks_like_name(match["name"]):
            name = names.cleaned(match["name"])
            return fiscal_document.line_cell(line).found(name, confidence=0.95)
    return None


def _labelled_name(document: Paper) -> Extracted[str] | None:
    """Return the name that stands under its label in the issuer's part, as on shipping labels."""
    issuer, recipient = document.form.first("issuer"), document.form.first("recipient")
    if issuer is None or recipient is None:
        return None
    for label in document.form.every("name"):
        if issuer.line <= label.line < recipient.line:
            return document.form.read_at(label, _read_name)
    return None


def _read_name(text: str) -> str | None:
    return names.cleaned(text) if names.looks_like_name(text) else None


def _box_name(document: Paper) -> Extracted[str] | None:
    """Return the largest type in the issuer's box: left of the title, above the nature."""
    form = document.form
    label, nature, key = form.first("issuer"), form.first("nature"), form.first("key")
    if nature is None:
        return _under(document, label) if label else None
    title = form.first("title") or key
    right = title.box.x0 if title else float("inf")
    top = label.box.y1 if label else title.box.y0 - _ABOVE * title.box.height if title else 0.0
    rows = [
        Cell(words)
        for line in form.lines
        if line.line.page == nature.page and top <= line.line.box.y_centre < nature.box.y0
        if (words := tuple(word for word in line.line.words if word.box.x1 < right))
    ]
    return _joined(list(names.rows(rows)))


def _under(document: Paper, label: forms.Label) -> Extracted[str] | None:
    return _joined(list(names.rows(list(document.form.below(label)))))


def _joined(rows: list[Cell]) -> Extracted[str] | None:
    if not rows:
        return None
    cell = Cell(tuple(word for row in rows for word in row.words))
    return cell.found(names.cleaned(cell.text), confidence=0.9)
