"""A fiscal paper opened for reading: its form, its key, its issuer, its place."""

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract import resources
from recibo.extract.brazil import states, tax_ids
from recibo.extract.brazil.documents.document_key import Keyed
from recibo.extract.layout import forms
from recibo.extract.layout.forms import Cell, Form, Vocabulary
from recibo.extract.model import DocumentType, Extracted, Header, Line, Moment, TextPage
from recibo.extract.text import numbers
from recibo.extract.text.squeezed import SqueezedLine, squeeze

#: What the key or a code says outranks what is printed beside it.
_FROM_KEY = 0.97
_LIKELY = 0.9

_TAX_ID_LABEL = re.compile("|".join(map(squeeze, ("CNPJ", "CPF", "CGC"))))
# Rolls set the number before the series, whatever its own label is.
_BEFORE_SERIES = re.compile(
    r"(?<![0-9./-])(?P<number>[0-9]{1,3}(?:\.[0-9]{3}){1,2}|[0-9]{1,9})\W{1,6}S[eé]rie",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paper:
    """What every kind of fiscal paper is read from."""

    text_pages: tuple[TextPage, ...]
    form: Form
    keyed: Keyed | None

    @classmethod
    def open(cls, text_pages: Sequence[TextPage], keyed: Keyed | None, *, labels: str) -> "Paper":
        """Open a document with the labels of a file in `labels/`."""
        return cls(tuple(text_pages), Form.of(text_pages, _vocabulary(labels)), keyed)

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


def start(paper: Paper, kind: DocumentType, *, title: str) -> Header:
    """Return a record of what every fiscal document has: type, currency, key."""
    evidence = paper.keyed.found.text if paper.keyed else title
    return Header(
        type=Extracted(kind, _FROM_KEY if paper.keyed else _LIKELY, evidence),
        currency=Extracted("BRL", _FROM_KEY, evidence),
        document_key=paper.keyed.found if paper.keyed else None,
    )


def amount(paper: Paper, *kinds: str) -> Extracted[Decimal] | None:
    """Return the first amount under or beside labels of these kinds, the first kind first."""
    return next(paper.form.read(kinds, first_amount), None)


def first_amount(text: str) -> Decimal | None:
    """Return the first amount of money in a text."""
    return next(iter(numbers.money(text)), None)


def number(paper: Paper, *kinds: str, reader: Callable[[str], str | None]) -> Extracted[str] | None:
    """Return the document's number: from the key, with the printed one as evidence if it agrees."""
    printed = list(paper.form.read(kinds, reader))
    if paper.keyed is None or not paper.keyed.key.is_sound:
        return printed[0] if printed else keyed_number(paper)
    agreeing = [found for found in printed if found.value == paper.keyed.key.number]
    return agreeing[0] if agreeing else keyed_number(paper)


def number_before_series(paper: Paper) -> Extracted[str] | None:
    """Return the number that stands right before the series."""
    for line in paper.lines:
        if match := _BEFORE_SERIES.search(line.text):
            value = match["number"].replace(".", "").lstrip("0")
            return line_cell(line).found(value, confidence=_LIKELY) if value else None
    return None


def keyed_number(paper: Paper) -> Extracted[str] | None:
    """Return the number that the key holds."""
    if paper.keyed is None or not paper.keyed.key.number:
        return None
    return paper.keyed.tells(paper.keyed.key.number)


@dataclass(frozen=True, slots=True)
class Issuer:
    """A tax id printed on the paper, and where."""

    tax_id: Extracted[str]
    is_sound: bool
    #: Index of its line in the form.
    line: int


def printed_ids(paper: Paper) -> Iterator[Issuer]:
    """Return the tax ids on the paper in reading order, sound or not."""
    for index, squeezed in enumerate(paper.form.lines):
        for cell in forms.cells(squeezed.line.words):
            for printed in tax_ids.find(cell.text):
                if printed.is_bare and not (printed.is_sound or _may_be_unsound(cell, squeezed)):
                    continue
                confidence = 1.0 if printed.is_sound else 0.5
                found = cell.found(printed.text, confidence=confidence)
                yield Issuer(found, printed.is_sound, index)


def _may_be_unsound(cell: Cell, line: SqueezedLine) -> bool:
    """Tell whether a run of digits is a tax id all the same: of a sample, or by its label."""
    return cell.is_exact or _TAX_ID_LABEL.search(line.text) is not None


def issuer_id(paper: Paper, labelled: Iterable[Issuer]) -> Extracted[str] | None:
    """Return the issuer's tax id.

    A sound key names its issuer; yet where another stands in the issuer's place (notes issued by
    the tax office itself, anonymised samples) the printed one is meant, unless it is misread.
    """
    printed = next(iter(labelled), None)
    if paper.keyed is None:
        return printed.tax_id if printed else None
    key = paper.keyed.key
    for issuer in printed_ids(paper):
        if issuer.tax_id.value == key.issuer:
            return issuer.tax_id
    if printed and (printed.is_sound or paper.is_exact or not key.is_sound):
        return printed.tax_id
    return paper.keyed.tells(key.issuer)


def placed(paper: Paper, moment: Extracted[Moment] | None) -> Extracted[Moment] | None:
    """Give a moment the offset of the place of issue: the key's state, else the address's.

    A fiscal paper is Brazilian even where no state can be read: then the capital's clock counts,
    by which nine of ten Brazilians live.
    """
    if moment is None or moment.value.offset is not None:
        return moment
    text = "\n".join(line.text for line in paper.lines)
    key = paper.keyed.key if paper.keyed else None
    state = key.state if key else states.find(text) or states.FEDERAL_DISTRICT
    local = dt.datetime.combine(moment.value.date, moment.value.time or dt.time(0))
    offset = states.offset_at(
        state,
        local,
        municipality=key.municipality if key else None,
        address=text if key is None or key.municipality is None else "",
    )
    return replace(moment, value=replace(moment.value, offset=offset))


def of_key_month(paper: Paper, found: Iterable[Extracted[Moment]]) -> Extracted[Moment] | None:
    """Return the first moment in the month that the key names; without a key simply the first."""
    moments = list(found)
    if paper.keyed is None or not moments:
        return moments[0] if moments else None
    key = paper.keyed.key
    agreeing = (
        moment
        for moment in moments
        if (moment.value.date.year, moment.value.date.month) == (key.year, key.month)
    )
    return next(agreeing, None if key.is_sound else moments[0])


def coded_moment(paper: Paper) -> Extracted[Moment] | None:
    """Return the time of issue that the QR code prints, with its offset if it has one."""
    payload = paper.keyed.payload if paper.keyed else None
    if paper.keyed is None or payload is None or payload.issued_at is None:
        return None
    at = payload.issued_at
    return paper.keyed.tells(Moment(at.date(), at.time(), at.utcoffset()))


def coded_total(paper: Paper) -> Extracted[Decimal] | None:
    """Return the total that the QR code prints."""
    payload = paper.keyed.payload if paper.keyed else None
    if paper.keyed is None or payload is None or payload.total is None:
        return None
    return paper.keyed.tells(payload.total)


def line_cell(line: Line) -> Cell:
    """Return a whole line as one cell."""
    return Cell(line.words)
