"""Reads the DANFE, the A4 page of an NF-e: boxes with labels in small capitals above."""

import datetime as dt
import difflib
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from recibo.extract.brazil.documents import fiscal_document, names, nfe_sums, parties
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument, Issuer
from recibo.extract.layout import forms, rows
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Details, DocumentType, Extracted, Header, Moment
from recibo.extract.text import timestamps
from recibo.extract.text.normalized_lines import normalize_label

T = TypeVar("T")

LABELS = "nfe"

#: The issuer's box begins at most this many heights above the title, which is next to it.
_ABOVE = 1.5

# Labels of the boxes below the issuer's.
_BELOW_BOX = ("nature", "protocol", "recipient")

# Labels of the box below the installments, and the most lines of installments.
_BELOW_INSTALLMENTS = ("icms", "subtotal", "all_taxes", "total", "additional", "date")
_MOST_LINES = 12

_TIME = re.compile(r"\s*[0-9]{2}:[0-9]{2}(?::[0-9]{2})?\s*")
_LIKELY = 0.9

#: Two readings of one name have at least this share of their letters in common.
_SAME_NAME = 0.75

# The stub that the buyer signs: RECEBEMOS DE <issuer> OS PRODUTOS … A name may contain PRODUTOS
# (DISTRIBUIDORA PRODUTOS), so joined words are tried last.
_RECEIVED = r"RECE(?:B(?:EMOS|I)?|[A-Z]{3,5})\s*\(?(?:EMOS)?\)?\s*D[EAO]\s*:?\s*(?P<name>.{3,120}?)"
_ITEM_WORDS = r"(?:PRODUTO|MERCADORIA|SERVI|BENS|ITENS)"
_STUBS = tuple(
    re.compile(_RECEIVED + article + _ITEM_WORDS, re.IGNORECASE | re.DOTALL)
    for article in (r"\s*,?\s[OA]S\s", r"\s*,?\s*[OA]S?\s*")
)
_NUMBER = re.compile(
    r"(?<![A-Z])N(?:[º°o.]|r)*\s*[:.]?\s*([0-9]{1,3}(?:\.[0-9]{3}){1,2}|[0-9]{4,9})\b"
)


def read(document: FiscalDocument) -> Header:
    """Read a DANFE."""
    sums = nfe_sums.read(document)
    return replace(
        fiscal_document.base_header(document, DocumentType.NFE, title="DANFE"),
        merchant_name=_name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, _issuers(document)),
        issued_at=_issued_at(document),
        total=_proven(
            fiscal_document.amount(document, "total", "weak_total"), sums.total if sums else None
        ),
        subtotal=_proven(
            fiscal_document.amount(document, "subtotal"), sums.subtotal if sums else None
        ),
        tax=_tax(document, sums),
        document_number=_number(document),
    )


def details(document: FiscalDocument) -> Details:
    """Return the parties of an NF-e."""
    nature = document.form.first("nature")
    end = nature.line if nature else 0
    known = parties.of_sections(document, parties.Section(0, end), customer_section(document))
    return replace(known, due_date=_due_date(document))


def _due_date(document: FiscalDocument) -> Extracted[dt.date] | None:
    """Return the first day on which an installment is due: in the box of installments."""
    form = document.form
    label = form.first("installments")
    section = parties.section_between(form, label, _BELOW_INSTALLMENTS)
    if section is None:
        return None
    found = [
        (moment.date, form.lines[index].line)
        for index in range(section.start, min(section.end, section.start + _MOST_LINES))
        for moment in timestamps.every(form.lines[index].line.text)
    ]
    if not found:
        return None
    day, line = min(found, key=lambda pair: pair[0])
    return fiscal_document.line_cell(line).found(day, confidence=0.95)


def customer_section(document: FiscalDocument) -> parties.Section | None:
    """Return the lines of the recipient, below the head of the page."""
    form = document.form
    nature = form.first("nature")
    start = nature.line if nature else 0
    named = (*form.every("recipient"), *form.every("client"))
    heading = next((one for one in named if one.line > start), None)
    ends = ("icms", "subtotal", "all_taxes", "total", "additional")
    return parties.section_between(form, heading, ends)


def _proven(
    labelled: Extracted[Decimal] | None, proven: Extracted[Decimal] | None
) -> Extracted[Decimal] | None:
    """Return the amount that a sum proves, which a misread label may miss."""
    return proven if proven and not (labelled and labelled.value == proven.value) else labelled


def _printed(found: Extracted[Decimal] | None) -> Extracted[Decimal] | None:
    """Return an amount unless it is zero: that of the next box, if its own is misread."""
    return found if found and found.value else None


def _tax(document: FiscalDocument, sums: nfe_sums.Sums | None) -> Extracted[Decimal] | None:
    """Return all taxes if their box contains an amount, else the ICMS."""
    labelled = next(_boxed_taxes(document), None)
    taxes = _printed(labelled) or _printed(sums.taxes if sums else None)
    icms = fiscal_document.amount(document, "icms")
    # The label of ICMS may be misread, and that of ST then look like it.
    return taxes or _printed(sums.icms if sums else None) or icms or labelled


def _boxed_taxes(document: FiscalDocument) -> Iterator[Extracted[Decimal]]:
    """Yield all taxes from their box; the additional information below mentions them in prose."""
    form = document.form
    foot = form.first("additional")
    for label in form.every("all_taxes"):
        is_boxed = foot is None or label.line < foot.line
        if is_boxed and (found := form.read_at(label, fiscal_document.first_amount)):
            yield found


def _number(document: FiscalDocument) -> Extracted[str] | None:
    for line in document.lines:
        for cell in rows.cells(line.words):
            if match := _NUMBER.search(cell.text):
                value = match[1].replace(".", "").lstrip("0")
                found_key = document.found_key
                if value and (found_key is None or found_key.key.number == value):
                    return cell.found(value)
    return fiscal_document.number_from_key(document)


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    """Return the date of issue, with the time of departure if that was on the same day."""
    labelled = document.form.read(["date"], timestamps.first)
    unlabelled = _in_recipient_boxes(document, timestamps.first)
    dates = fiscal_document.in_month_of_key(document, itertools.chain(labelled, unlabelled))
    if dates is None:
        return None
    left_on = next(document.form.read(["departure_date"], timestamps.first), None)
    left_at = next(document.form.read(["departure_time"], timestamps.time_of_day), None)
    left_at = left_at or next(_in_recipient_boxes(document, _read_time), None)
    if dates.value.time is None and left_at and _same_day(dates, left_on):
        dates = replace(dates, value=replace(dates.value, time=left_at.value))
    return fiscal_document.with_offset(document, dates)


def _in_recipient_boxes(
    document: FiscalDocument, reader: forms.Reader[T]
) -> Iterator[Extracted[T]]:
    """Yield the values in the recipient's boxes, whose labels may be misread.

    The only dates and the only time there are those of issue and departure.
    """
    section = customer_section(document)
    lines = document.form.lines[section.start : section.end] if section else ()
    for cell in (cell for line in lines for cell in rows.cells(line.line.words)):
        if (value := reader(cell.text)) is not None:
            yield cell.found(value, confidence=_LIKELY)


def _read_time(text: str) -> dt.time | None:
    return timestamps.time_of_day(text) if _TIME.fullmatch(text) else None


def _same_day(issued: Extracted[Moment], left_on: Extracted[Moment] | None) -> bool:
    return left_on is None or left_on.value.date == issued.value.date


def _issuers(document: FiscalDocument) -> Iterator[Issuer]:
    """Yield the tax ids between the head of the page and the recipient."""
    form = document.form
    nature, recipient = form.first("nature"), form.first("recipient")
    start = nature.line if nature else 0
    # The stub above the head may contain the recipient's id, so the search begins below it.
    ends = [label.line for label in form.every("recipient") if label.line > start]
    end = ends[0] if ends else (recipient.line if recipient else len(form.lines))
    return (
        issuer for issuer in fiscal_document.printed_ids(document) if start <= issuer.line < end
    )


def _name(document: FiscalDocument) -> Extracted[str] | None:
    # The stub has the full legal name; the box may cut it, or show the trade name.
    stub = _stub_name(document)
    if stub and (box := _box_name(document)) and _is_better(box, stub):
        return box
    return stub or _labelled_name(document) or _box_name(document)


def _is_better(box: Extracted[str], stub: Extracted[str]) -> bool:
    """Return whether the box has the same name, which is printed in larger type there."""
    names_of = (normalize_label(box.value), normalize_label(stub.value))
    in_common = difflib.SequenceMatcher(None, *names_of).ratio()
    return _SAME_NAME <= in_common < 1 and len(names_of[0]) >= len(names_of[1])


def _stub_name(document: FiscalDocument) -> Extracted[str] | None:
    lines = list(document.lines)
    for index, line in enumerate(lines):
        if "RECE" not in line.text.upper():
            continue
        joined = " ".join(each.text for each in lines[index : index + 3])
        match = next((match for stub in _STUBS if (match := stub.search(joined))), None)
        if match and names.looks_like_name(match["name"]):
            name = names.cleaned(match["name"])
            return fiscal_document.line_cell(line).found(name, confidence=0.95)
    return None


def _labelled_name(document: FiscalDocument) -> Extracted[str] | None:
    """Return the name below its label in the issuer's part, as on shipping labels."""
    issuer, recipient = document.form.first("issuer"), document.form.first("recipient")
    if issuer is None or recipient is None:
        return None
    for label in document.form.every("name"):
        if issuer.line <= label.line < recipient.line:
            return document.form.read_at(label, _read_name)
    return None


def _read_name(text: str) -> str | None:
    return names.cleaned(text) if names.looks_like_name(text) else None


def _box_name(document: FiscalDocument) -> Extracted[str] | None:
    """Return the largest type in the issuer's box: left of the title, above the nature."""
    form = document.form
    title = form.first("title") or form.first("key")
    first = title.line if title else 0
    # Below the box are the labels of the next boxes, of which OCR may miss the first one.
    below = (label for kind in _BELOW_BOX for label in form.every(kind) if label.line > first)
    end = next(below, None)
    # In the carrier's box, `0 - Emitente` says who pays the freight.
    labels = (label for label in form.every("issuer") if end is None or label.line < end.line)
    label = next(labels, None)
    if end is None:
        return _under(document, label) if label else None
    right = title.box.x0 if title else float("inf")
    top = label.box.y1 if label else title.box.y0 - _ABOVE * title.box.height if title else 0.0
    rows = [
        Cell(words)
        for line in form.lines[: end.line]
        if line.line.page == end.page and top <= line.line.box.y_center
        if (words := tuple(word for word in line.line.words if word.box.x1 < right))
    ]
    return _joined(list(names.rows(rows)))


def _under(document: FiscalDocument, label: forms.Label) -> Extracted[str] | None:
    return _joined(list(names.rows(list(document.form.below(label)))))


def _joined(rows: list[Cell]) -> Extracted[str] | None:
    if not rows:
        return None
    cell = Cell(tuple(word for row in rows for word in row.words))
    return cell.found(names.cleaned(cell.text), confidence=0.9)
