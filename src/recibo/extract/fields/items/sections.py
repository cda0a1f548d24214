"""Bills in sections: charges at one indentation, their parts indented under them, no table.

Bills of utilities, telephones and clouds are set so. What stands at one edge counts as the goods
if it adds up to a printed total; anything else on such a page may be anything.
"""

import bisect
from collections.abc import Iterator, Sequence

from recibo.extract.fields.items import item_name, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.layout.item_rows import Row
from recibo.extract.model import Extracted, LineItem

#: Rows at one edge begin within so many heights of one another.
_EDGE = 0.5
#: A bill has fewer sums, each of which may part a section from the next.
_MOST_SECTIONS = 40
#: One row that equals the total may be the total.
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
    """Return the charges that begin at the same left edge, the leftmost edge first."""
    placed = sorted(enumerate(charges), key=lambda each: each[1].row.line.box.x0)
    lefts = [charge.row.line.box.x0 for _, charge in placed]
    start = 0
    while start < len(placed):
        end = bisect.bisect(lefts, lefts[start] + _EDGE * placed[start][1].row.height)
        yield [charge for _, charge in sorted(placed[start:end], key=lambda each: each[0])]
        start = end


def _item(charge: Priced) -> Extracted[LineItem]:
    name = item_name.cleaned(item_name.strip_code(charge.words).replace("\t", " "))
    made = charge.factors
    item = LineItem(
        name, made.qty if made else None, made.unit_price if made else None, charge.total
    )
    return charge.row.cell.found(item, confidence=_LIKELY)
