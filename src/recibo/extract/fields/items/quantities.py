"""How a roll prints quantities: in front of the names, behind them, or not; or it counts the rows.

One figure beside a name may be a part of it; what most rows have is a column.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import item_name
from recibo.extract.fields.items.priced_row import Priced

#: An index stands at the very head of its row.
_INDEX_PLACE = 3
#: So many rows show a habit.
_FEWEST = 2
#: Where no goods are fewer than this, the column holds rates or codes.
_LEAST = 3
# `Latte  2  9.00`, `Brezel x3  4,50`: a quantity between name and total.
_BEHIND = re.compile(
    r"(?:\t\s*(?P<column>[1-9][0-9]{0,2})[点個コ本枚件個개]?|\s[xX×]\s?(?P<times>[1-9][0-9]?))[\s$€£¥]*$"
)


def behind(read: Priced) -> tuple[Decimal, str] | None:
    """Return a quantity that stands behind a name, and the name."""
    before = read.row.text[: read.total_figure.start]
    match = _BEHIND.search(before)
    if match is None or not item_name.is_name(before[: match.start()]):
        return None
    return Decimal(match["column"] or match["times"]), before[: match.start()]


def stand_behind(reads: Sequence[Priced]) -> bool:
    """Tell whether nearly all rows without a unit price have a quantity behind the name."""
    bare = [read for read in reads if read.has_name and not read.factors and read.total > 0]
    found = [counted[0] for read in bare if (counted := behind(read))]
    others = sum(read.factors is not None for read in reads)
    is_habit = bool(found) and len(found) * 4 >= len(bare) * 3 and len(found) + others >= _FEWEST
    return is_habit and (others > 0 or min(found) < _LEAST)


def stand_in_front(reads: Sequence[Priced]) -> bool:
    """Tell whether most rows with a name have a figure in front of it."""
    named = [read for read in reads if read.has_name]
    counted = [read for read in named if is_counted(read)]
    return bool(counted) and len(counted) * 2 >= len(named)


def is_counted(read: Priced) -> bool:
    """Tell whether a quantity, or what looks like one, stands in front of a name."""
    if read.factors:
        return read.factors.qty_figure.start < _INDEX_PLACE
    return item_name.leading_qty(read.words) is not None
