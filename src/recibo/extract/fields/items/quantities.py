"""Detects whether quantities are printed before the names, after them, or not at all.

A number next to one name may be part of it; if most rows have one, it is a column.
"""

import functools
import re
import statistics
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import item_name
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.text import item_words

#: An index begins at most at this position of its row.
_INDEX_PLACE = 3
#: The fewest rows that show how a document is printed.
_FEWEST = 2
#: If no quantity is smaller, the column contains rates or codes.
_LEAST = 3
#: Letters that OCR reads for a one.
_ONES = "lI|"
# A tax code, perhaps with its rate, after the quantity: `F1`, `01T18,00%`.
_TAXED = r"(?:\s+[0-9]{0,2}[A-Z]{1,2}[0-9]{0,2}(?:[.,][0-9]{2})?%?)?"


def after_name(read: Priced) -> tuple[Decimal, str] | None:
    """Return a quantity after a name, and the name."""
    before = read.row.text[: read.total_figure.start]
    match = _after_name().search(before)
    if match is None or not item_name.is_name(before[: match.start()]):
        return None
    printed = match["column"] or match["times"]
    return Decimal("1" if printed in _ONES else printed), before[: match.start()]


def is_multiplied(read: Priced) -> bool:
    """Return whether a sign marks the quantity after a name, so that it needs no other row like it.

    In `Yaourt X16` the sign is part of the name.
    """
    match = _after_name().search(read.row.text[: read.total_figure.start])
    return match is not None and match["times"] is not None and " " in match[0].strip()


@functools.cache
def _after_name() -> re.Pattern[str]:
    """`Latte  2  9.00`, `Brezel x3  4,50`, `Pano  1un F1 6,99`: between name and total."""
    return re.compile(
        rf"(?:\t\s*(?P<column>[1-9][0-9]{{0,2}}|[{_ONES}](?=\w))(?:\s?(?i:{item_words.units()}))?{_TAXED}"
        r"|\s[xX×]\s?(?P<times>[1-9][0-9]?))[\s$€£¥]*$"
    )


def follow_names(reads: Sequence[Priced]) -> bool:
    """Return whether nearly all rows without a unit price have a quantity after the name."""
    bare = [read for read in reads if read.has_name and not read.factors and read.total > 0]
    found = [counted[0] for read in bare if (counted := after_name(read))]
    others = sum(read.factors is not None for read in reads)
    is_usual = bool(found) and len(found) * 4 >= len(bare) * 3 and len(found) + others >= _FEWEST
    return is_usual and (others > 0 or min(found) < _LEAST)


def precede_names(reads: Sequence[Priced]) -> bool:
    """Return whether most rows with a name have a number before it."""
    named = [read for read in reads if read.has_name]
    counted = [read for read in named if is_counted(read)]
    if not counted:
        return False
    return len(counted) * 2 >= len(named) or _are_outdented(
        counted, [read for read in named if read not in counted]
    )


def _are_outdented(counted: Sequence[Priced], others: Sequence[Priced]) -> bool:
    """Return whether the numbers are left of the edge at which all names begin."""
    edge = statistics.median(read.row.line.box.x0 for read in others)
    return all(
        leading is not None
        and abs(read.row.x_at(read.row.text.find(leading[1])) - edge) <= read.row.height
        and read.row.line.box.x0 < edge - read.row.height / 2
        for read in counted
        for leading in [item_name.leading_qty(read.words)]
    )


def is_counted(read: Priced) -> bool:
    """Return whether a quantity, or a similar number, is before a name."""
    if read.factors:
        return read.factors.qty_figure.start < _INDEX_PLACE
    return item_name.leading_qty(read.words) is not None
