"""Finds the parties of a fiscal document: the issuer's address, and the customer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.brazil import tax_ids
from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.layout.forms import Form, Label
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Details, Extracted, Line, around

# The order in which the parts of an address are joined.
_PARTS = ("address", "complement", "district", "town", "state", "postcode")
_SURE, _LIKELY, _UNLABELLED = 0.97, 0.6, 0.7
_POSTCODE = re.compile(r"(?<![0-9])[0-9]{2}\.?[0-9]{3}-?[0-9]{3}(?![0-9])")
_CONSUMER = re.compile(
    r"CONSUM|CPF\s*/\s*CNPJ|CNPJ\s*/\s*CPF|DESTINAT|CPF\s+(?:DO\s+)?CLIENTE|CLIENTE\W{0,3}CPF",
    re.IGNORECASE,
)
# Companies sell, so the tax number of a person is the consumer's.
_PERSONAL = re.compile(r"\W*CPF\b", re.IGNORECASE)
_PERSON = re.compile(r"[A-ZÀ-Ý]{2,}(?: [A-ZÀ-Ý]+\.?){1,6}")
# The title of an NFC-e has the word for consumer, too.
_TITLE = re.compile(r"NOTA\s+FISCAL|ELETR[OÔ]NICA", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![0-9])(?:[0-9]{3}[., ]?[0-9]{3}[., ]?[0-9]{3}[-/ ]?[0-9]{2}"
    r"|(?<![A-Z])[0-9A-Z]{2}[., ]?[0-9A-Z]{3}[., ]?[0-9A-Z]{3}[/ ]?[0-9A-Z]{4}[- ]?[0-9]{2})"
    r"(?![0-9])"
)
_NAMED = re.compile(r"^\W*(?:NOME|RAZ[AÃ]O SOCIAL|CLIENTE)\W*:\W*(?P<name>.+)", re.IGNORECASE)
# `Consumidor: Ana Lima - CPF 648.203.177-33 - Rua 238, 55`
_BEFORE_ID = re.compile(
    r"\W*(?:CONSUMIDOR|CLIENTE|DESTINAT[AÁ]RIO|NOME)\s*:\s*"
    r"(?P<name>[^\W\d](?:[^\W\d]|[ .'&]){2,59})\W+(?:CPF|CNPJ)\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"N[AÃ]O\s+(?:IDENTIFICADO|INFORMADO)", re.IGNORECASE)
# The stub of a DANFE, which names the recipient.
_STUB = re.compile(r"RECEB(?:EMOS|I)\b.{0,80}(?:PRODUTO|SERVI|CONSTANTE)", re.IGNORECASE)
# The name and the tax id are within so many lines of the heading.
_NEAR_LINES = 3
_FEWEST_LETTERS = 3
# A passenger's identity card: `PASSAGEIRO DOC 11882044 - ANA LIMA`.
_DOCUMENT = re.compile(r"^\W*(?:DOC(?:UMENTO)?|RG)\b[\s.:nº°]*\d[\d.\-/xX]{3,14}\W+", re.IGNORECASE)
# Of a number whose check digits are wrong.
_FEWEST_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of a party."""

    start: int
    end: int

    def __contains__(self, line: int) -> bool:
        return self.start <= line < self.end


def of_sections(document: FiscalDocument, issuer: Section, customer: Section | None) -> Details:
    """Return the parties of a form with a section for each."""
    return Details(
        merchant_address=_address(document, issuer),
        customer_name=_labelled_name(document, customer) if customer else None,
        customer_tax_id=_tax_id(document, customer) if customer else None,
    )


def named_by(document: FiscalDocument, label: Label | None) -> Details:
    """Return the customer whose name follows a label, and whose tax id is near it."""
    if label is None:
        return Details()
    lines = list(document.lines)
    near = lines[label.line + 1 : label.line + 1 + _NEAR_LINES]
    name = (
        _name_right_of(document, label)
        or _consumer_name(lines[label.line], near)
        or document.form.read_at(label, _read_name)
    )
    name = names.with_next_row(document.form, label, name) if name else None
    section = Section(label.line, label.line + 1 + _NEAR_LINES)
    return Details(customer_name=name, customer_tax_id=_tax_id(document, section))


def _name_right_of(document: FiscalDocument, label: Label) -> Extracted[str] | None:
    cell = document.form.right(label)
    name = _read_name(cell.text) if cell else None
    return cell.found(name) if cell and name else None


def of_receipt(document: FiscalDocument) -> Details:
    """Return the consumer on a thermal receipt, and in its QR code."""
    lines = list(document.lines)
    payload = document.found_key.payload if document.found_key else None
    if document.found_key and payload and payload.consumer:
        coded = document.found_key.derive(payload.consumer)
    else:
        coded = None
    labelled = [index for index, line in enumerate(lines) if _CONSUMER.search(line.text)]
    personal = [index for index, line in enumerate(lines) if _PERSONAL.match(line.text)]
    for index in (*labelled, *personal):
        line, below = lines[index], lines[index + 1 : index + 1 + _NEAR_LINES]
        own = _number(line)
        found = own or (_number(below[0]) if below else None)
        if found or (coded and _NAMED.search(line.text)):
            name = _consumer_name(line, below)
            if name is None and own is None and below:
                name = _consumer_name(below[0], below[1:])
            return Details(customer_tax_id=coded or found, customer_name=name)
    return Details(customer_tax_id=coded)


def consumer_section(document: FiscalDocument) -> Section | None:
    """Return the lines of a thermal receipt from the first one about the consumer."""
    labels = (
        index
        for index, line in enumerate(document.lines)
        if _CONSUMER.search(line.text) and not _TITLE.search(line.text)
    )
    start = next(labels, None)
    return None if start is None else Section(start, len(document.form.lines))


def lines_of_others(document: FiscalDocument, customer: Section | None) -> frozenset[int]:
    """Return the indices of the lines from the customer on, and of the stub above the head."""
    stub = [
        index + step
        for index, line in enumerate(document.lines)
        if _STUB.search(line.text)
        for step in range(_NEAR_LINES)
    ]
    start = customer.start if customer else len(document.form.lines)
    return frozenset((*stub, *range(start, len(document.form.lines))))


def section_between(form: Form, start: Label | None, ends: Sequence[str]) -> Section | None:
    """Return the lines from a heading to before the next label of some kinds."""
    if start is None:
        return None
    following = (label.line for kind in ends for label in form.every(kind))
    end = min((line for line in following if line > start.line), default=len(form.lines))
    return Section(start.line, end)


def _address(document: FiscalDocument, section: Section) -> Extracted[str] | None:
    """Return the parts of the address that have labels in a section, joined."""
    found = {kind: part for kind in _PARTS if (part := _part(document, section, kind))}
    if "address" not in found:
        return None
    parts = list(found.values())
    boxes = [part.box for part in parts if part.box]
    return Extracted(
        ", ".join(part.value for part in parts),
        min(part.confidence for part in parts),
        "\n".join(part.text for part in parts),
        parts[0].page,
        around(boxes) if boxes else None,
    )


def _part(document: FiscalDocument, section: Section, kind: str) -> Extracted[str] | None:
    reader = _read_postcode if kind == "postcode" else _read_part
    for label in document.form.every(kind):
        if label.line in section and (found := document.form.read_at(label, reader)):
            return found
    return None


def _read_part(text: str) -> str | None:
    cleaned = text.strip(" -:;,|*_./")
    return cleaned if any(map(str.isalpha, cleaned)) else None


def _read_postcode(text: str) -> str | None:
    match = _POSTCODE.search(text)
    return match[0] if match else None


def _labelled_name(document: FiscalDocument, section: Section) -> Extracted[str] | None:
    for label in document.form.every("name"):
        if label.line in section and (found := document.form.read_at(label, _read_name)):
            return names.with_next_row(document.form, label, found)
    return None


def unlabelled_name(document: FiscalDocument, section: Section) -> Extracted[str] | None:
    """Return the first row of a section that has no label and is not an address."""
    labelled = {label.line for label in document.form.labels}
    rows = [
        Cell(document.form.lines[index].line.words)
        for index in range(section.start, section.end)
        if index not in labelled
    ]
    row = next((row for row in rows if names.looks_like_name(row.text)), None)
    return row.found(names.cleaned(row.text), confidence=_UNLABELLED) if row else None


def _read_name(text: str) -> str | None:
    name = names.cleaned(_DOCUMENT.sub("", text))
    is_number = names.is_account(name) or any(True for _ in tax_ids.find(name))
    return name if names.has_letters(name) and not is_number and not _UNKNOWN.search(name) else None


def _tax_id(document: FiscalDocument, section: Section) -> Extracted[str] | None:
    found = (one for one in fiscal_document.printed_ids(document) if one.line in section)
    if (first := next(found, None)) is not None:
        return first.tax_id
    # A CPF may be printed without separators.
    for label in document.form.every("tax_id"):
        if label.line in section and (bare := document.form.read_at(label, _read_number)):
            return bare
    return None


def _read_number(text: str) -> str | None:
    return next(_numbers(text), None)


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text.upper()):
        bare = re.sub(r"[^0-9A-Z]", "", match[0])
        is_misread = not match[0].isalnum() and sum(map(str.isdigit, bare)) >= _FEWEST_DIGITS
        if is_misread or tax_ids.is_tax_id(bare):
            yield bare


def _number(line: Line) -> Extracted[str] | None:
    """Return the tax id in a line; that with valid check digits is sure."""
    value = _read_number(line.text)
    if value is None:
        return None
    sure = _SURE if tax_ids.is_tax_id(value) else _LIKELY
    return fiscal_document.line_cell(line).found(value, confidence=sure)


def _consumer_name(line: Line, below: Sequence[Line]) -> Extracted[str] | None:
    """Return the name before or after the tax id, or in a row with its label."""
    if match := _BEFORE_ID.match(line.text):
        return fiscal_document.line_cell(line).found(names.cleaned(match["name"]), confidence=0.9)
    numbers = list(_NUMBER.finditer(line.text.upper()))
    rest = names.cleaned(line.text[numbers[-1].end() :]) if numbers else ""
    if sum(map(str.isalpha, rest)) >= _FEWEST_LETTERS and not _UNKNOWN.search(rest):
        following = below[0].text if below else ""
        if not names.has_form(rest) and names.has_form(following):
            rest = f"{rest} {names.cleaned(following)}"
        return fiscal_document.line_cell(line).found(rest, confidence=0.8)
    for other in below:
        if match := _NAMED.search(other.text):
            name = names.cleaned(match["name"])
            return fiscal_document.line_cell(other).found(name, confidence=0.9)
    first = names.without_address(below[0].text) if below else ""
    if numbers and (names.has_form(first) or _is_person(first)):
        return fiscal_document.line_cell(below[0]).found(names.cleaned(first), confidence=0.8)
    return None


def _is_person(text: str) -> bool:
    """Return whether a line is only the name of a person, in capitals."""
    return _PERSON.fullmatch(text) is not None and names.looks_like_name(text)
