"""A fiscal document and what all kinds have in common: form, key, issuer, place of issue."""

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract import resources
from recibo.extract.brazil import states, tax_ids
from recibo.extract.brazil.documents.document_key import FoundKey
from recibo.extract.layout import forms, rows
from recibo.extract.layout.forms import Form, Vocabulary
from recibo.extract.layout.rows import Cell
from recibo.extract.model import DocumentType, Extracted, Header, Line, Moment, TextPage
from recibo.extract.text import numbers
from recibo.extract.text.normalized_lines import NormalizedLine, normalize_label

#: A value from the key or a code outranks a printed one.
_FROM_KEY = 0.97
_LIKELY = 0.9

_TAX_ID_LABEL = re.compile("|".join(map(normalize_label, ("CNPJ", "CPF", "CGC"))))
# On thermal receipts the number precedes the series, whatever its label is.
_BEFORE_SERIES = re.compile(
    r"(?<![0-9./-])(?P<number>[0-9]{1,3}(?:\.[0-9]{3}){1,2}|[0-9]{1,9})\W{1,6}S[eé]rie",
    re.IGNORECASE,
)
# `Modelo 22 - Série B1`
_OF_MODEL = re.compile(r"\bMOD(?:ELO)?\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FiscalDocument:
    """The pages, the labelled form and the access key of a fiscal document."""

    text_pages: tuple[TextPage, ...]
    form: Form
    found_key: FoundKey | None

    @classmethod
    def of(
        cls, text_pages: Sequence[TextPage], found_key: FoundKey | None, *, labels: str
    ) -> "FiscalDocument":
        """Find the labels of a file in `labels/` on the pages."""
        return cls(tuple(text_pages), Form.of(text_pages, _vocabulary(labels)), found_key)

    @property
    def lines(self) -> Iterator[Line]:
        """The lines of all pages."""
        return (line for page in self.text_pages for line in page.lines)

    @property
    def is_exact(self) -> bool:
        """Whether every page comes from a text layer."""
        return all(page.is_exact for page in self.text_pages)


@functools.cache
def _vocabulary(labels: str) -> Vocabulary:
    return forms.vocabulary(resources.table("brazil", "labels", f"{labels}.toml"))


def base_header(document: FiscalDocument, kind: DocumentType, *, title: str) -> Header:
    """Return the fields that every fiscal document has: type, currency, key."""
    evidence = document.found_key.extracted.text if document.found_key else title
    return Header(
        type=Extracted(kind, _FROM_KEY if document.found_key else _LIKELY, evidence),
        currency=Extracted("BRL", _FROM_KEY, evidence),
        document_key=document.found_key.extracted if document.found_key else None,
    )


def amount(document: FiscalDocument, *kinds: str) -> Extracted[Decimal] | None:
    """Return the first amount below or right of labels, in the order of their kinds."""
    return next(document.form.read(kinds, first_amount), None)


def first_amount(text: str) -> Decimal | None:
    """Return the first amount of money in a text."""
    return next(iter(numbers.money(text)), None)


def number(
    document: FiscalDocument, *kinds: str, reader: Callable[[str], str | None]
) -> Extracted[str] | None:
    """Return the document's number; that of a valid key outranks a printed one."""
    printed = list(document.form.read(kinds, reader))
    if document.found_key is None or not document.found_key.key.is_valid:
        return printed[0] if printed else number_from_key(document)
    agreeing = [found for found in printed if found.value == document.found_key.key.number]
    return agreeing[0] if agreeing else number_from_key(document)


def number_before_series(document: FiscalDocument) -> Extracted[str] | None:
    """Return the number right before the series."""
    for line in document.lines:
        for match in _BEFORE_SERIES.finditer(line.text):
            value = match["number"].replace(".", "").lstrip("0")
            if value and not _OF_MODEL.search(line.text[: match.start()]):
                return line_cell(line).found(value, confidence=_LIKELY)
    return None


def number_from_key(document: FiscalDocument) -> Extracted[str] | None:
    """Return the document number that the key contains."""
    if document.found_key is None or not document.found_key.key.number:
        return None
    return document.found_key.derive(document.found_key.key.number)


@dataclass(frozen=True, slots=True)
class Issuer:
    """A tax id printed on the document, and where."""

    tax_id: Extracted[str]
    is_valid: bool
    #: Index of its line in the form.
    line: int


def printed_ids(document: FiscalDocument) -> Iterator[Issuer]:
    """Yield the tax ids on the document in reading order, valid or not."""
    for index, normalized in enumerate(document.form.lines):
        for cell in rows.cells(normalized.line.words):
            for printed in tax_ids.find(cell.text):
                if printed.is_bare and not (printed.is_valid or _may_be_invalid(cell, normalized)):
                    continue
                confidence = 1.0 if printed.is_valid else 0.5
                found = cell.found(printed.text, confidence=confidence)
                yield Issuer(found, printed.is_valid, index)


def _may_be_invalid(cell: Cell, line: NormalizedLine) -> bool:
    """Return whether digits without a valid check digit are a tax id: a sample's, or labelled."""
    return cell.is_exact or _TAX_ID_LABEL.search(line.text) is not None


def issuer_id(document: FiscalDocument, labelled: Iterable[Issuer]) -> Extracted[str] | None:
    """Return the issuer's tax id.

    A valid key contains it. Where another tax id is printed in the issuer's place (documents
    issued by the tax office itself, anonymized samples), that one counts unless it is misread.
    """
    printed = next(iter(labelled), None)
    if document.found_key is None:
        return printed.tax_id if printed else None
    key = document.found_key.key
    for issuer in printed_ids(document):
        if issuer.tax_id.value == key.issuer:
            return issuer.tax_id
    if printed and (printed.is_valid or document.is_exact or not key.is_valid):
        return printed.tax_id
    return document.found_key.derive(key.issuer)


def with_offset(
    document: FiscalDocument, moment: Extracted[Moment] | None
) -> Extracted[Moment] | None:
    """Add the UTC offset of the place of issue: the state in the key, else in the address.

    Without a readable state it is the capital's, in whose time zone nine of ten Brazilians live.
    """
    if moment is None or moment.value.offset is not None:
        return moment
    text = "\n".join(line.text for line in document.lines)
    key = document.found_key.key if document.found_key else None
    state = key.state if key else states.find(text) or states.FEDERAL_DISTRICT
    local = dt.datetime.combine(moment.value.date, moment.value.time or dt.time(0))
    offset = states.offset_at(
        state,
        local,
        municipality=key.municipality if key else None,
        address=text if key is None or key.municipality is None else "",
    )
    return replace(moment, value=replace(moment.value, offset=offset))


def in_month_of_key(
    document: FiscalDocument, found: Iterable[Extracted[Moment]]
) -> Extracted[Moment] | None:
    """Return the first moment in the month of the key; without a key the first one."""
    moments = list(found)
    if document.found_key is None or not moments:
        return moments[0] if moments else None
    key = document.found_key.key
    agreeing = (
        moment
        for moment in moments
        if (moment.value.date.year, moment.value.date.month) == (key.year, key.month)
    )
    return next(agreeing, None if key.is_valid else moments[0])


def moment_in_qr_code(document: FiscalDocument) -> Extracted[Moment] | None:
    """Return the time of issue in the QR code, with its offset if it has one."""
    payload = document.found_key.payload if document.found_key else None
    if document.found_key is None or payload is None or payload.issued_at is None:
        return None
    at = payload.issued_at
    return document.found_key.derive(Moment(at.date(), at.time(), at.utcoffset()))


def total_in_qr_code(document: FiscalDocument) -> Extracted[Decimal] | None:
    """Return the total in the QR code."""
    payload = document.found_key.payload if document.found_key else None
    if document.found_key is None or payload is None or payload.total is None:
        return None
    return document.found_key.derive(payload.total)


def line_cell(line: Line) -> Cell:
    """Return a whole line as one cell."""
    return Cell(line.words)
