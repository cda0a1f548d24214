"""Reads other electronic fiscal documents: transport, tickets, energy, telecom."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil import tax_ids
from recibo.extract.brazil.documents import fiscal_document, names, parties, taxes, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument, Issuer
from recibo.extract.layout import rows
from recibo.extract.layout.forms import Label
from recibo.extract.layout.rows import Cell
from recibo.extract.layout.rows import cells as cells_of
from recibo.extract.model import Box, Details, DocumentType, Extracted, Header, LineItem, Moment
from recibo.extract.text import lexicon, numbers, timestamps
from recibo.extract.text.folding import fold

LABELS = "other"
_TOTALS = ("total", "weak_total")

# A row of a list of taxes has three numbers after the name of the tax.
_TAX, _BASE_RATE_AMOUNT = "ICMS", 3

#: The most rows of the parts of a freight, and the most letters of a name with its amount.
_MOST_ROWS, _MOST_LETTERS = 12, 400
_LIKELY = 0.9
# Who may pay for a freight: the heading of who does says only which one.
_ROLES = frozenset({"remetente", "destinatario", "expedidor", "recebedor"})
# `FRETE VALOR ........ 287,50`
_DOTTED = re.compile(r"\W*(?P<name>[^\W\d].*?)[\s.:_-]*(?:R\$\s*)?[0-9][0-9.]*,[0-9]{2}\W*$")
#: A gap of this many line heights separates two blocks.
_APART = 1.6
#: Name, trade name, three rows of address, telephone, registrations.
_MOST_ISSUER_ROWS = 8
_LIKELY_ISSUER = 0.85


def read(document: FiscalDocument) -> Header:
    """Read the fields in the key and the amounts; the general finders find the others."""
    total = fiscal_document.amount(document, "payable", *_TOTALS)
    return replace(
        fiscal_document.base_header(document, DocumentType.INVOICE, title="DF-e"),
        merchant_name=name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, ()),
        issued_at=_issued_at(document),
        total=total,
        subtotal=_gross(document, total),
        tax=fiscal_document.amount(document, "icms") or _listed_tax(document),
        document_number=fiscal_document.number_from_key(document)
        or fiscal_document.number_before_series(document),
    )


def _listed_tax(document: FiscalDocument) -> Extracted[Decimal] | None:
    """Return the ICMS in a list of taxes: its base, its rate and their product in one row."""
    for line in document.lines:
        for start, word in enumerate(line.words):
            cell = Cell(line.words[start:])
            found = numbers.amounts(cell.text) if word.text.upper() == _TAX else ()
            # Another table may be right of the list.
            own = found[:_BASE_RATE_AMOUNT]
            if len(own) == _BASE_RATE_AMOUNT and taxes.is_product(own):
                return cell.found(own[-1].value)
    return None


def _gross(document: FiscalDocument, total: Extracted[Decimal] | None) -> Extracted[Decimal] | None:
    """Return the total before discounts; a smaller amount below such a label is a single item's."""
    gross = fiscal_document.amount(document, *_TOTALS)
    return gross if gross and total and gross.value > total.value else total


def line_items(document: FiscalDocument) -> tuple[Extracted[LineItem], ...]:
    """Return the parts of a freight, names and amounts in several columns; they add up to it."""
    total = fiscal_document.amount(document, *_TOTALS, "payable")
    for label in document.form.every("parts") if total else ():
        items: list[Extracted[LineItem]] = []
        for item in _parts(document, label):
            items.append(item)
            if total and sum(each.value.total or 0 for each in items) == total.value:
                return tuple(items)
    return ()


def _parts(document: FiscalDocument, label: Label) -> Iterator[Extracted[LineItem]]:
    rows = document.form.lines[label.line + 1 : label.line + 1 + _MOST_ROWS]
    below = range(label.line + 1, label.line + 1 + len(rows))
    sums = [one for kind in (*_TOTALS, "payable") for one in document.form.every(kind)]
    # The boxes of the sums are right of the parts, or in a row below.
    boxed = (
        one.box.x0
        for one in sums
        if one.line in below
        and (document.form.on_line(one.line)[0].start or one.box.x0 > label.box.x1)
    )
    right = min(boxed, default=float("inf"))
    titles: list[Cell] = []
    for normalized in rows:
        words = [word for word in normalized.line.words if word.box.x0 < right]
        cells = list(cells_of(words))
        if len(cells) == len(titles) and all(map(_is_amount, cells)):
            # The names are in boxes above the amounts.
            cells = list(itertools.chain(*zip(titles, cells, strict=True)))
        yield from _named_amounts(cells)
        titles = cells if not any(numbers.money(cell.text) for cell in cells) else []


def _is_amount(cell: Cell) -> bool:
    return len(numbers.money(cell.text)) == 1 and not names.has_letters(cell.text)


def _named_amounts(cells: Sequence[Cell]) -> Iterator[Extracted[LineItem]]:
    """Yield the amounts of a row, each with the text before it; none for a part not charged."""
    name: Cell | None = None
    for cell in cells:
        values = numbers.money(cell.text)
        if not names.has_letters(cell.text):
            if len(values) == 1 and name and values[0]:
                yield _part(name.text, values[0], Cell(name.words + cell.words))
            name = None if values else name
        elif not values:
            name = cell
        elif name and len(values) == 1 and _is_amount(Cell(cell.words[:1])):
            # `Frete Peso   1.210,00 Frete Valor   318,45`
            yield _part(name.text, values[0], Cell((*name.words, cell.words[0])))
            name = Cell(cell.words[1:])
        elif _is_short(cell) and (match := _DOTTED.match(cell.text)) and values[0]:
            yield _part(match["name"], values[0], cell)


def _is_short(cell: Cell) -> bool:
    return len(cell.text) <= _MOST_LETTERS


def _part(name: str, amount: Decimal, evidence: Cell) -> Extracted[LineItem]:
    item = LineItem(names.cleaned(name), None, None, amount)
    return evidence.found(item, confidence=_LIKELY)


def details(document: FiscalDocument) -> Details:
    """Return the customer."""
    customer = customer_section(document)
    if customer:
        found = parties.of_sections(document, parties.Section(0, 0), customer)
        named = parties.named_by(document, document.form.every("customer")[-1])
        if named.customer_name and fold(named.customer_name.value) in _ROLES:
            return Details(customer_tax_id=_id_below(document, named.customer_name.value))
        return replace(found, customer_name=found.customer_name or named.customer_name)
    named = parties.named_by(document, document.form.first("subscriber"))
    return replace(named, customer_tax_id=named.customer_tax_id or _other_id(document))


def _id_below(document: FiscalDocument, role: str) -> Extracted[str] | None:
    """Return the tax id in the column below the role of who pays: `TOMADOR  Destinatário`."""
    heading: Cell | None = None
    for line in document.lines:
        for cell in cells_of(line.words):
            if heading is None and cell.text.isupper() and fold(cell.text) == fold(role):
                heading = cell
            elif heading and cell.box.x0 >= heading.box.x0 - heading.box.height:
                ids = [one for one in tax_ids.find(cell.text) if one.is_valid]
                if ids:
                    return cell.found(ids[0].text)
    return None


def _other_id(document: FiscalDocument) -> Extracted[str] | None:
    """Return the only other tax id, the customer's; the issuer's is in the key, or comes first."""
    valid = [one.tax_id for one in fiscal_document.printed_ids(document) if one.is_valid]
    first = next((one.value for one in valid), None)
    issuer = document.found_key.key.issuer if document.found_key else first
    others = {one.value: one for one in valid if one.value != issuer}
    return next(iter(others.values())) if len(others) == 1 else None


def customer_section(document: FiscalDocument) -> parties.Section | None:
    """Return the lines of the last heading of the customer: the first one may be a choice."""
    headings = document.form.every("customer")
    return parties.section_between(document.form, headings[-1] if headings else None, ())


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    """Return the time of issue, not that of the journey or the payment."""
    labelled = document.form.read(["issued"], timestamps.first)
    found = (*thermal.stamps_near_series(document), *labelled)
    return fiscal_document.with_offset(document, fiscal_document.in_month_of_key(document, found))


def name(document: FiscalDocument) -> Extracted[str] | None:
    """Return the name above the issuer's tax id, which the key contains."""
    issuer = document.found_key.key.issuer if document.found_key else None
    found = (
        _name(document, printed)
        for printed in fiscal_document.printed_ids(document)
        if issuer in {None, printed.tax_id.value}
    )
    return next((each for each in found if each), None)


def _name(document: FiscalDocument, issuer: Issuer) -> Extracted[str] | None:
    above = list(_above(document, issuer))
    named = [index for index, cell in enumerate(above) if _is_name(cell.text)]
    formed = [index for index in named if names.has_form(above[index].text)]
    # Without a legal form the name is the topmost row, above the address.
    chosen = formed[:1] or named[-1:]
    if not chosen:
        return None
    place = chosen[0]
    reach = max(cell.box.x1 for cell in above)
    name = names.with_rows_above(above[place], above[place + 1 :], reach)
    # `SERVIÇO DE ÁGUA DE` and `ITABIRINHA` below it.
    if place and not formed and lexicon.is_joining(name.text.rsplit()[-1]):
        name = Cell(name.words + above[place - 1].words)
    return name.found(names.cleaned(name.text), confidence=_LIKELY_ISSUER)


def _is_name(text: str) -> bool:
    return names.looks_like_name(text) and not names.is_town_hall(text)


def _above(document: FiscalDocument, issuer: Issuer) -> Iterator[Cell]:
    """Yield the cells above a tax id, from the bottom up, until a gap."""
    below = issuer.tax_id.box
    lines = document.form.lines[max(0, issuer.line - 3 * _MOST_ISSUER_ROWS) : issuer.line]
    count = 0
    for normalized in reversed(lines):
        line = normalized.line
        over = next((cell for cell in rows.cells(line.words) if _overlap(cell, below)), None)
        if line.page != issuer.tax_id.page or below is None or count == _MOST_ISSUER_ROWS:
            return
        if over is None:
            continue
        if below.y0 - over.box.y1 > _APART * over.type_height:
            return
        below = over.box
        count += 1
        yield over


def _overlap(cell: Cell, box: Box | None) -> bool:
    return box is not None and cell.box.x0 < box.x1 and box.x0 < cell.box.x1
