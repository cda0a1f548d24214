"""Finds the issuer's name in the block of name, address and registrations above its tax id."""

from collections.abc import Iterator

from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument, Issuer
from recibo.extract.layout import rows
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Box, Extracted

#: A gap of this many line heights separates two blocks.
_APART = 1.6
#: Name, trade name, three rows of address, telephone, registrations.
_MOST_ROWS = 8
_LIKELY = 0.85


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
    named = [cell for cell in _above(document, issuer) if _is_name(cell.text)]
    formed = [cell for cell in named if names.has_form(cell.text)]
    # Without a legal form the name is the topmost row, above the address.
    chosen = formed[:1] or named[-1:]
    return chosen[0].found(names.cleaned(chosen[0].text), confidence=_LIKELY) if chosen else None


def _is_name(text: str) -> bool:
    return names.looks_like_name(text) and not names.is_town_hall(text)


def _above(document: FiscalDocument, issuer: Issuer) -> Iterator[Cell]:
    """Yield the cells above a tax id, from the bottom up, until a gap."""
    below = issuer.tax_id.box
    lines = document.form.lines[max(0, issuer.line - 3 * _MOST_ROWS) : issuer.line]
    count = 0
    for normalized in reversed(lines):
        line = normalized.line
        over = next((cell for cell in rows.cells(line.words) if _overlap(cell, below)), None)
        if line.page != issuer.tax_id.page or below is None or count == _MOST_ROWS:
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
