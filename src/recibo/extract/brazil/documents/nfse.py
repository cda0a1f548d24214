"""Reads the NFS-e: the national DANFSe and the forms of several hundred municipalities."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil import access_keys, tax_ids
from recibo.extract.brazil.documents import fiscal_document, names, parties
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument, Issuer
from recibo.extract.brazil.documents.parties import Section
from recibo.extract.layout.forms import Form, Label
from recibo.extract.layout.rows import Cell
from recibo.extract.layout.rows import cells as cells_of
from recibo.extract.model import Details, DocumentType, Extracted, Header, LineItem, Moment, Word
from recibo.extract.text import timestamps

LABELS = "nfse"

# The number may follow a year or a series, 2024/12345, E-1023, or precede the series: 958/1, 890/E.
_FIGURE = (
    r"(?:[A-Z]{1,2}\s?-\s?)?(?:20[0-9]{2}\s?[/-]\s?)?"
    r"(?P<number>[0-9]{1,3}(?:\s[0-9]{3})+(?![0-9])|[0-9][0-9.]{0,18})"
    r"(?:(?![0-9/,:])|(?=\s?/\s?[0-9A-Z]{1,3}(?![0-9A-Z/])))"
)
_NUMBER = re.compile(rf"^\W*+(?:N?[º°o.]*+)?+\W*+{_FIGURE}")
# The sign behind `N` is read as a digit: `N9:2017/250`.
_MISREAD_SIGN = re.compile(rf"^\W*N[0-9]{{0,2}}\s?[.:]\s*{_FIGURE}")
# Only numbers of documents have zeros in front.
_PADDED = re.compile(r"^\s*(?P<number>0{2,}[1-9][0-9]{0,8})\s*$")
_SERVICE_KEY = re.compile(r"[0-9A-Z]{50}")
#: A gap of this many line heights separates two paragraphs.
_APART = 1.6
#: The confidence of a labelled key with invalid fields: a sample or misread.
_LABELLED_KEY = 0.5
_LIKELY = 0.8


def read(document: FiscalDocument) -> Header:
    """Read an NFS-e."""
    gross = _gross(document)
    return replace(
        fiscal_document.base_header(document, DocumentType.NFSE, title="NFS-e"),
        merchant_name=_name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, _issuers(document)),
        issued_at=_issued_at(document),
        total=_nonzero(document, "net") or _nonzero(document, "page_total") or gross,
        subtotal=gross,
        tax=fiscal_document.amount(document, "iss", "weak_iss"),
        document_number=_number(document),
        document_key=document.found_key.extracted
        if document.found_key
        else _labelled_key(document),
    )


def details(document: FiscalDocument) -> Details:
    """Return the parties of an NFS-e."""
    own, customer = _section(document), customer_section(document)
    found = parties.of_sections(document, own, customer)
    if found.customer_name or customer is None:
        return found
    return replace(found, customer_name=parties.unlabelled_name(document, customer))


def customer_section(document: FiscalDocument) -> Section | None:
    """Return the lines of the customer."""
    form, start = document.form, _section(document).start
    heading = next((one for one in form.every("customer") if one.line > start), None)
    if heading is None:
        heading = form.first("customer")
    return parties.section_between(form, heading, ("intermediary", "description", "provider"))


def _gross(document: FiscalDocument) -> Extracted[Decimal] | None:
    return _nonzero(document, "gross", "page_total", "weak_total")


def _nonzero(document: FiscalDocument, *kinds: str) -> Extracted[Decimal] | None:
    """Return the first amount that is not zero, in the order of the kinds: empty boxes print 0,00.

    The description may contain calculations, so its amounts come last, from the bottom up: the
    amounts of the form are below it.
    """
    form, described = document.form, _description_lines(document)
    read = [
        (label.line, found)
        for kind in kinds
        for label in form.every(kind)
        if (found := form.read_at(label, lambda text: fiscal_document.first_amount(text) or None))
    ]
    outside = (found for line, found in read if line not in described)
    in_text = (
        found for line, found in sorted(read, key=lambda each: -each[0]) if line in described
    )
    return next(itertools.chain(outside, in_text), None)


def _description_lines(document: FiscalDocument) -> range:
    """Return the lines of the description: from its label to the next label or row of boxes."""
    form = document.form
    label = form.first("description")
    if label is None:
        return range(0)
    first = label.line + 1
    is_form = (index for index in range(first, len(form.lines)) if _is_form_row(form, index))
    return range(first, next(is_form, len(form.lines)))


def _is_form_row(form: Form, index: int) -> bool:
    """Return whether a line is only a label, or has labels at the start of several cells."""
    labels = form.on_line(index)
    line = form.lines[index]
    if any(label.end - label.start == len(line.text) for label in labels):
        return True
    lefts = {cell.box.x0 for cell in cells_of(line.line.words)}
    return sum(label.box.x0 in lefts for label in labels) > 1


def _number(document: FiscalDocument) -> Extracted[str] | None:
    found = fiscal_document.number(document, "number", reader=_read_number)
    if found is not None:
        return found
    # Words like `Nº` are in addresses too, so they count only above the provider.
    section = _section(document)
    end = section.start or next((issuer.line for issuer in _issuers(document)), section.end)
    above = (
        document.form.read_at(label, _read_number)
        for label in document.form.every("weak_number")
        if label.line < end
    )
    unlabelled = (_unlabelled_number(document, end, shape) for shape in (_MISREAD_SIGN, _PADDED))
    return next((each for each in itertools.chain(above, unlabelled) if each), None)


def _unlabelled_number(
    document: FiscalDocument, end: int, shape: re.Pattern[str]
) -> Extracted[str] | None:
    """Return the number of a cell above a line whose label is misread."""
    for normalized in document.form.lines[:end]:
        for cell in cells_of(normalized.line.words):
            if (match := shape.search(cell.text)) and (value := _bare(match["number"])):
                return cell.found(value, confidence=_LIKELY)
    return None


def _read_number(text: str) -> str | None:
    match = _NUMBER.search(text)
    return _bare(match["number"]) if match else None


def _bare(number: str) -> str | None:
    return re.sub(r"[.\s]", "", number).lstrip("0") or None


def _labelled_key(document: FiscalDocument) -> Extracted[str] | None:
    for line in document.lines:
        bare = re.sub(r"\s", "", line.text)
        if _SERVICE_KEY.fullmatch(bare) and access_keys.NFSE_SHAPE.fullmatch(bare):
            return fiscal_document.line_cell(line).found(bare, confidence=_LABELLED_KEY)
    return None


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    for kind in ("issued", "issued_day", "issued_dps", "competence"):
        found = fiscal_document.in_month_of_key(
            document, document.form.read([kind], timestamps.first)
        )
        if found is not None:
            return fiscal_document.with_offset(document, _with_time(document, found))
    return fiscal_document.with_offset(
        document, fiscal_document.in_month_of_key(document, _any_moment(document))
    )


def _with_time(document: FiscalDocument, day: Extracted[Moment]) -> Extracted[Moment]:
    """Add the time from a separate box."""
    time_of_day = next(document.form.read(["issued_time"], timestamps.time_of_day), None)
    if day.value.time is not None or time_of_day is None:
        return day
    return replace(day, value=replace(day.value, time=time_of_day.value))


def _any_moment(document: FiscalDocument) -> Iterator[Extracted[Moment]]:
    for line in document.lines:
        for moment in timestamps.every(line.text):
            if moment.time is not None:
                yield fiscal_document.line_cell(line).found(moment, confidence=0.7)


def _section(document: FiscalDocument) -> Section:
    """Return the lines from the provider's heading to before the customer's."""
    form = document.form
    provider = form.first("provider")
    start = provider.line if provider else 0
    ends = (
        label.line
        for label in form.labels
        if label.kind in ("customer", "intermediary", "description") and label.line > start
    )
    return Section(start, min(ends, default=len(form.lines)))


def _issuers(document: FiscalDocument) -> Iterator[Issuer]:
    """Yield the tax ids in the provider's section, then those above it, such as the town hall's."""
    section = _section(document)
    printed = list(fiscal_document.printed_ids(document))
    yield from (issuer for issuer in printed if issuer.line in section)
    yield from (issuer for issuer in printed if issuer.line < section.start)


def _name(document: FiscalDocument) -> Extracted[str] | None:
    section = _section(document)
    for kind in ("name", "trade_name"):
        for label in document.form.every(kind):
            if label.line in section and (found := document.form.read_at(label, _read_name)):
                return names.with_next_row(document.form, label, found)
    if section.start:
        return parties.unlabelled_name(document, section)
    return _name_above_tax_id(document)


def _read_name(text: str) -> str | None:
    name = names.cleaned(text)
    return name if names.has_letters(name) and not any(tax_ids.find(name)) else None


def _name_above_tax_id(document: FiscalDocument) -> Extracted[str] | None:
    """Return the name right above the first tax id, on pages without a heading of the provider."""
    issuer = next(_issuers(document), None)
    if issuer is None or issuer.tax_id.box is None:
        return None
    bottom, left = issuer.tax_id.box.y0, issuer.tax_id.box.x0
    found: list[Cell] = []
    for index in range(issuer.line - 1, -1, -1):
        line = document.form.lines[index].line
        if line.page != issuer.tax_id.page or bottom - line.box.y1 > _APART * line.box.height:
            break
        bottom = line.box.y0
        cell = next(_over(line.words, left), None)
        if cell is None or not names.looks_like_name(cell.text) or names.is_town_hall(cell.text):
            break
        found.append(cell)
    row = next((cell for cell in found if names.has_form(cell.text)), next(iter(found), None))
    return row.found(names.cleaned(row.text), confidence=0.7) if row else None


def _over(words: Sequence[Word], place: float) -> Iterator[Cell]:
    """Yield the cells of a row, those first that begin nearest to a place."""
    cells = list(cells_of(words))
    yield from sorted(cells, key=lambda cell: abs(cell.box.x0 - place))


def service(document: FiscalDocument) -> Extracted[LineItem] | None:
    """Return the only line item of an NFS-e: the first paragraph of its description."""
    described, gross = _description(document), _gross(document)
    if described is None:
        return None
    amount = gross.value if gross else None
    item = LineItem(names.cleaned(described.text), Decimal(1) if gross else None, amount, amount)
    return described.found(item, confidence=0.9)


def _description(document: FiscalDocument) -> Cell | None:
    for label in document.form.every("description"):
        rows = list(_paragraph(document, label))
        if rows:
            return Cell(tuple(word for row in rows for word in row.words))
    return _above_taxes(document)


def _above_taxes(document: FiscalDocument) -> Cell | None:
    """Return the text above the heading of the taxes, whose own heading is misread.

    Only the national form has this part between its services and its taxes.
    """
    form = document.form
    taxes, services = form.first("taxation"), form.first("services")
    if taxes is None or services is None:
        return None
    rows: list[Cell] = []
    for index in range(taxes.line - 1, services.line, -1):
        cell = Cell(form.lines[index].line.words)
        is_form = any(label.start == 0 for label in form.on_line(index))
        if is_form or len(list(cells_of(cell.words))) > 1:
            break
        rows.append(cell)
    # The row on top is the heading.
    words = tuple(word for row in reversed(rows[:-1]) for word in row.words)
    return Cell(words) if words else None


def _is_all(label: Label, document: FiscalDocument) -> bool:
    """Return whether a label is the whole line: the heading of the next part of the form."""
    return label.end == len(document.form.lines[label.line].text)


def _paragraph(document: FiscalDocument, label: Label) -> Iterator[Cell]:
    right = document.form.right(label)
    bottom = None
    if right and names.looks_like_name(right.text):
        bottom = right.box.y1
        yield right
    # A description may contain words that are labels elsewhere, but not at the start of a line.
    labelled = {each.line: each for each in document.form.labels if each.start == 0}
    for index in range(label.line + 1, len(document.form.lines)):
        line = document.form.lines[index].line
        if bottom is None:
            is_apart = index in labelled and _is_all(labelled[index], document)
        else:
            is_apart = index in labelled or line.box.y0 - bottom > _APART * line.box.height
        if line.page != label.page or is_apart:
            return
        bottom = line.box.y1
        yield Cell(line.words)
