"""Reads bills in sections: charges at one indentation, with their parts indented below them.

Bills of utilities, telephones and cloud services look like this. Rows at one left edge are items
if they add up to a printed total; other rows may be anything.
"""

import bisect
from collections.abc import Iterator, Sequence

from recibo.extract.fields.items import item_name, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem

#: Rows at the same edge begin at most this many heights apart.
_EDGE = 0.5
#: The most sections, each of which ends with a sum.
_MOST_SECTIONS = 40
#: A single row equal to the total may be the total itself.
_FEWEST = 2
_LIKELY = 0.8


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the charges at one edge that add up to a total."""
    read_rows = [each for row in rows if (each := priced_row.read(row))]
    ends = [terminators.meaning(each.row) in terminators.ENDS for each in read_rows]
    totals = terminators.totals(rows)
    starts = [0, *(index + 1 for index, is_end in enumerate(ends) if is_end)]
    for start in starts[:_MOST_SECTIONS]:
        charges = [
            each
            for each, is_end in zip(read_rows[start:], ends[start:], strict=True)
            if not is_end and each.has_name
        ]
        for edge in _edges(charges):
            if len(edge) >= _FEWEST and sum(each.total for each in edge) in totals:
                return tuple(map(_item, edge))
    return ()


def _edges(charges: Sequence[Priced]) -> Iterator[list[Priced]]:
    """Yield the charges at each left edge, the leftmost edge first."""
    placed = sorted(enumerate(charges), key=lambda each: each[1].row.line.box.x0)
    lefts = [charge.row.line.box.x0 for _, charge in placed]
    start = 0
    while start < len(placed):
        end = bisect.bisect(lefts, lefts[start] + _EDGE * placed[start][1].row.height)
        yield [charge for _, charge in sorted(placed[start:end], key=lambda each: each[0])]
        start = end


def _item(charge: Priced) -> Extracted[LineItem]:
    name = item_name.cleaned(item_name.strip_code(charge.words).replace("\t", " "))
    factors = charge.factors
    item = LineItem(
        name,
        factors.qty if factors else None,
        factors.unit_price if factors else None,
        charge.total,
    )
    return charge.row.cell.found(item, confidence=_LIKELY)
