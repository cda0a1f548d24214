"""Reads items whose amounts are shifted by a row, as on a curved receipt.

An amount without a name shows this. Names and amounts are still in order in their columns: if as
many amounts as there are names add up to the next amount, the total, they belong together in that
order.
"""

from collections.abc import Sequence

from recibo.extract.fields.items import details, item_name, priced_row, regions, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import ocr_confusions

#: Fewer amounts may add up by chance.
_FEWEST = 3
_LIKELY = 0.7


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the items, names and amounts paired in order; none if no sum proves it."""
    found = regions.find(rows)
    priced_rows = [row for row, read in found if read]
    if not priced_rows:
        return ()
    following = rows[next(index for index, row in enumerate(rows) if row is priced_rows[0]) :]
    names = _names(following)
    amounts = [each for row in following if (each := priced_row.read(row))]
    count = len(names)
    if not _FEWEST <= count < len(amounts) or all(each.has_name for each in amounts[:count]):
        return ()
    if sum(each.total for each in amounts[:count]) != amounts[count].total:
        return ()
    counted = [row for row in names if item_name.leading_qty(row.text)]
    is_counted = len(counted) * 2 >= count
    items = tuple(
        _item(row, amount, counted=is_counted)
        for row, amount in zip(names, amounts[:count], strict=True)
    )
    return items if all(item.value.name for item in items) else ()


def _names(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with names, up to the first total."""
    named: list[Row] = []
    for row in rows:
        if terminators.meaning(row) in terminators.ENDS:
            return named
        is_named = item_name.is_name(item_name.of_row(row, len(row.text), None))
        if is_named and details.read(row) is None:
            named.append(row)
    return named


def _item(row: Row, amount: Priced, *, counted: bool) -> Extracted[LineItem]:
    before = priced_row.read(row)
    words = before.words if before else row.text
    leading = item_name.leading_qty(words) if counted else None
    qty, words = leading or (None, item_name.strip_code(words))
    name = item_name.cleaned(words.replace("\t", " "))
    name = name if row.is_exact else ocr_confusions.repaired(name)
    return row.cell.found(LineItem(name, qty, None, amount.total), confidence=_LIKELY)
