"""The issuer's name in the block that ends with its tax id: name, address, registrations."""

from collections.abc import Iterator

from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import Issuer, Paper
from recibo.extract.layout import forms
from recibo.extract.layout.forms import Cell
from recibo.extract.model import Box, Extracted

#: A gap of this many heights parts two blocks.
_APART = 1.6
#: Name, trade name, address in three rows, telephone, registrations.
_MOST_ROWS = 8
_LIKELY = 0.85


def name(document: Paper) -> Extracted[str] | None:
    """Return the name above the tax id that the key says is the issuer's."""
    issuer = document.keyed.key.issuer if document.keyed else None
    found = (
        _name(document, printed)
        for printed in fiscal_document.printed_ids(document)
        if issuer in {None, printed.tax_id.value}
    )
    return next((each for each in found if each), None)


def _name(document: Paper, issuer: Issuer) -> Extracted[str] | None:
    named = [cell for cell in _above(document, issuer) if _is_name(cell.text)]
    formed = [cell for cell in named if names.has_form(cell.text)]
    # Without a legal form the name is what stands highest, above the address.
    chosen = formed[:1] or named[-1:]
    return chosen[0].found(names.cleaned(chosen[0].text), confidence=_LIKELY) if chosen else None


def _is_name(text: str) -> bool:
    return names.looks_like_name(text) and not names.is_hall(text)


def _above(document: Paper, issuer: Issuer) -> Iterator[Cell]:
    """Yield the cells over a tax id from the nearest up, as long as no gap parts them."""
    below = issuer.tax_id.box
    lines = document.form.lines[max(0, issuer.line - 3 * _MOST_ROWS) : issuer.line]
    count = 0
    for squeezed in reversed(lines):
        line = squeezed.line
        over = next((cell for cell in forms.cells(line.words) if _overlap(cell, below)), None)
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
