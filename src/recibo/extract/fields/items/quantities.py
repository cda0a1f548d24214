"""How a roll prints quantities: in front of the names, behind them, or not; or it counts the rows.

One figure beside a name may be a part of it; what most rows have is a column.
"""

import functools
import re
import statistics
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import item_name
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.text import item_words

#: An index stands at the very head of its row.
_INDEX_PLACE = 3
#: So many rows show a habit.
_FEWEST = 2
#: Where no goods are fewer than this, the column holds rates or codes.
_LEAST = 3
#: A one that the reader took for a letter.
_ONES = "lI|"
# What is taxed how, and at which rate, behind the quantity: `F1`, `01T18,00%`.
_TAXED = r"(?:\s+[0-9]{0,2}[A-Z]{1,2}[0-9]{0,2}(?:[.,][0-9]{2})?%?)?"


def behind(read: Priced) -> tuple[Decimal, str] | None:
    """Return a quantity that stands behind a name, and the name."""
    before = read.row.text[: read.total_figure.start]
    match = _behind().search(before)
    if match is None or not item_name.is_name(before[: match.start()]):
        return None
    printed = match["column"] or match["times"]
    return Decimal("1" if printed in _ONES else printed), before[: match.start()]


@functools.cache
def _behind() -> re.Pattern[str]:
    """`Latte  2  9.00`, `Brezel x3  4,50`, `Pano  1un F1 6,99`: between name and total."""
    return re.compile(
        rf"(?:\t\s*(?P<column>[1-9][0-9]{{0,2}}|[{_ONES}](?=\w))(?:\s?(?i:{item_words.units()}))?{_TAXED}"
        r"|\s[xX×]\s?(?P<times>[1-9][0-9]?))[\s$€£¥]*$"
    )


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
    if not counted:
        return False
    return len(counted) * 2 >= len(named) or _hang_out(
        counted, [read for read in named if read not in counted]
    )


def _hang_out(counted: Sequence[Priced], others: Sequence[Priced]) -> bool:
    """Tell whether figures stand left of the edge at which all names begin."""
    edge = statistics.median(read.row.line.box.x0 for read in others)
    return all(
        leading is not None
        and abs(read.row.x_at(read.row.text.find(leading[1])) - edge) <= read.row.height
        and read.row.line.box.x0 < edge - read.row.height / 2
        for read in counted
        for leading in [item_name.leading_qty(read.words)]
    )


def is_counted(read: Priced) -> bool:
    """Tell whether a quantity, or what looks like one, stands in front of a name."""
    if read.factors:
        return read.factors.qty_figure.start < _INDEX_PLACE
    return item_name.leading_qty(read.words) is not None
