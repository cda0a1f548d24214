"""The goods and services that a document lists."""

from collections.abc import Sequence

from recibo.extract.fields import fiscal
from recibo.extract.fields.fiscal_papers import nfse
from recibo.extract.fields.item_lines import columns, rows, till
from recibo.extract.model import Found, LineItem, Sheet


def find(sheets: Sequence[Sheet]) -> tuple[Found[LineItem], ...]:
    """Return the line items of a document, top to bottom; none is invented."""
    note = fiscal.service_note(sheets)
    if note is not None:
        service = nfse.service(note)
        return (service,) if service else ()
    lines = rows.of_sheets(sheets)
    tabled = columns.read(lines, is_roll=rows.are_roll(lines))
    return tabled or till.read(lines)
