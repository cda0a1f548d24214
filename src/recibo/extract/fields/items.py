"""The goods and services that a document lists."""

from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields import fiscal
from recibo.extract.fields.fiscal_papers import nfse
from recibo.extract.fields.item_lines import arithmetic, columns, rows, till
from recibo.extract.fields.item_lines.rows import Row
from recibo.extract.model import Found, LineItem, Sheet

_Items = tuple[Found[LineItem], ...]


def find(sheets: Sequence[Sheet]) -> tuple[Found[LineItem], ...]:
    """Return the line items of a document, top to bottom; none is invented."""
    note = fiscal.service_note(sheets)
    if note is not None:
        service = nfse.service(note)
        return (service,) if service else ()
    lines = rows.of_sheets(sheets)
    return _sounder(
        columns.read(lines, is_roll=rows.are_roll(lines)), till.read(lines), lines=lines
    )


def _sounder(tabled: _Items, rolled: _Items, *, lines: Sequence[Row]) -> _Items:
    """Return the reading whose figures agree better with one another, the table when in doubt."""
    if not tabled or not rolled:
        return tabled or rolled
    amounts = {figure.value for row in lines for figure in row.figures if figure.is_money}
    return max((tabled, rolled), key=lambda items: _soundness(items, amounts))


def _soundness(items: _Items, amounts: set[Decimal]) -> tuple[bool, int]:
    """Rank a reading: is the sum of its totals printed, and how many products are right."""
    totals = [item.value.total for item in items if item.value.total is not None]
    is_summed = len(totals) > 1 and sum(totals) in amounts
    return is_summed, sum(_is_product(item.value) for item in items)


def _is_product(item: LineItem) -> bool:
    return (
        item.qty is not None
        and item.unit_price is not None
        and item.total is not None
        and arithmetic.agrees(item.qty, item.unit_price, item.total)
    )
