"""Finds charges next to other text: names at one edge, amounts at another, and their sum.

TARIFA DE ÁGUA     110,86      0 a 10 m³    38,72
TARIFA DE ESGOTO    88,69     11 a 20 m³    51,20
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate

from recibo.extract.fields.items import priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.rows import Row, of_line
from recibo.extract.model import around

#: Fewer amounts may add up by chance; more are not tried.
_FEWEST, _MOST = 4, 40
# Rows begin and end at one edge, in heights; other rows of the page may be between them.
_EDGE, _MOST_BETWEEN = 0.6, 3
_MOST_ROWS = 400
# Rows of so many columns may alternate.
_MOST_ALTERNATING = 3


def find(rows: Sequence[Row], printed: Collection[Decimal]) -> list[Priced]:
    """Return the most charges in a column whose sum is one of the printed amounts, else none."""
    first = rows[:_MOST_ROWS]
    right = [_right_part(row) for row in first]
    for is_charge in (_is_charge, _is_no_total):
        columns = (*_columns(first, is_charge), *_columns(right, is_charge))
        runs = (run for column in columns for run in _summed(column, printed))
        if found := max(runs, key=len, default=[]):
            return found
    return []


def _is_charge(row: Row) -> bool:
    return terminators.meaning(row) is not Meaning.END


def _is_no_total(row: Row) -> bool:
    """Return whether a row may be a charge; some are called taxes, `Taxa ordinária`."""
    return not terminators.is_total(row)


def _right_part(row: Row) -> Row:
    """Return the last cell of a row with the one before it, right of another column's text."""
    cells = list(row.cells())[-2:]
    words = tuple(word for cell in cells for word in cell.words)
    if len(words) == len(row.line.words):
        return row
    line = replace(row.line, words=words, box=around([word.box for word in words]))
    return replace(of_line(line, minor=row.minor), index=row.index)


def _columns(rows: Sequence[Row], is_charge: Callable[[Row], bool]) -> list[list[Priced]]:
    """Return the rows whose names and first amounts are below each other."""
    columns: list[list[Priced]] = []
    places: list[int] = []
    for index, row in enumerate(rows):
        read = _read(row) if is_charge(row) else None
        if read is None:
            continue
        recent = range(len(columns) - 1, max(len(columns) - _MOST_ALTERNATING, 0) - 1, -1)
        near = (one for one in recent if index - places[one] <= _MOST_BETWEEN)
        own = next((one for one in near if _is_below(columns[one][-1], read)), None)
        if own is None or len(columns[own]) == _MOST:
            columns.append([read])
            places.append(index)
        else:
            columns[own].append(read)
            places[own] = index
    return columns


def _read(row: Row) -> Priced | None:
    """Return a row up to its first amount, if a name is before that."""
    money = (figure for figure in row.numbers if figure.is_money and not figure.is_percent)
    first = next(money, None)
    read = priced_row.at(row, first) if first else None
    return read if read is not None and read.has_name else None


def _is_below(upper: Priced, lower: Priced) -> bool:
    lefts = (each.row.line.box.x0 for each in (upper, lower))
    rights = (each.row.x_at(each.total_figure.end) for each in (upper, lower))
    most = _EDGE * lower.row.height
    is_page = upper.row.line.page == lower.row.line.page
    return is_page and all(abs(one - other) < most for one, other in (lefts, rights))


def _summed(column: Sequence[Priced], printed: Collection[Decimal]) -> Iterator[list[Priced]]:
    for start in range(len(column) - _FEWEST + 1):
        sums = list(accumulate(each.total for each in column[start:]))
        ends = [count for count, total in enumerate(sums, 1) if total in printed]
        if ends and ends[-1] >= _FEWEST:
            yield list(column[start : start + ends[-1]])
