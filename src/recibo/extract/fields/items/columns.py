"""The columns of a table: read off its headings, and which words of a row stand in which."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recibo.extract.fields.items import arithmetic
from recibo.extract.layout import headings
from recibo.extract.layout.forms import Cell, cells
from recibo.extract.layout.headings import Heading, Role
from recibo.extract.layout.item_rows import Row, single_words
from recibo.extract.model import Box
from recibo.extract.text import figures
from recibo.extract.text.figures import Figure
from recibo.extract.text.squeezed import squeeze

#: A second row of headings stands within this many heights.
_STACKED = 2.4
#: So many headings, with as many wide gaps between as this less two, make a table.
_FEWEST = 3
_DIGIT_ROLES = frozenset({Role.CODE, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
_ONCE = frozenset({Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.CODE})
#: So many rows below the headings tell of their columns.
_SAMPLE = 12
#: A column of names has more letters than this.
_LETTERS_OF_NAME = 4
_DIMENSION = re.compile(r"[0-9][^\W\d_]+[0-9]")
_DECISIVE = frozenset({Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
#: Of these the likeliest column is taken, not the first.
_CHOSEN = frozenset({Role.UNIT_PRICE, Role.TOTAL})
_SAYS_TOTAL = squeeze("total")
_SAYS_GOODS = frozenset(map(squeeze, ("item", "product")))


def tables(rows: Sequence[Row], *, is_roll: bool) -> Iterator[tuple[int, list[Heading]]]:
    """Return where the body of each table begins, with its columns.

    On a roll a heading `Item` may stand over codes, with the names a row lower; elsewhere a table
    without another name for its goods calls them so.
    """
    index = 0
    while index < len(rows):
        if not _is_table_heading(rows[index]):
            index += 1
            continue
        if _is_better_below(rows, index):
            index += 1
        columns, end = _columns(rows, index)
        columns = columns if is_roll else _with_name(columns)
        columns = _with_name_of_letters(columns, rows[end : end + _SAMPLE])
        if _has_enough(columns):
            yield end, columns
        index = end


def _is_table_heading(row: Row) -> bool:
    """Tell whether a row heads columns: a legend that only names what follows has no wide gaps."""
    found = headings.read(row)
    return headings.is_heading(row) and len(found) >= _FEWEST and row.text.count("\t") > 1


def _is_better_below(rows: Sequence[Row], index: int) -> bool:
    """Tell whether the row below is the one that heads the columns: more of them have a role."""
    if index + 1 >= len(rows) or not _are_stacked(rows[index], rows[index + 1]):
        return False
    here, below = ({each.role for each in headings.read(row)} for row in rows[index : index + 2])
    is_headed = _is_table_heading(rows[index + 1])
    return is_headed and len(below & _DECISIVE) > len(here & _DECISIVE)


def _with_name(columns: list[Heading]) -> list[Heading]:
    """Take the first heading `Item` or `Product` for the names' where no other one is."""
    if any(column.role is Role.NAME for column in columns):
        return columns
    # `No.  Item  Qty` counts the rows first.
    saying = [column for column in columns if squeeze(column.text) in _SAYS_GOODS]
    codes = [column for column in columns if column.role is Role.CODE]
    first = next(iter(saying or codes), None)
    return [replace(each, role=Role.NAME) if each is first else each for each in columns]


def _with_name_of_letters(columns: list[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Take the unknown heading over most letters for the names' where no other one is.

    The first row of goods tells: on rolls a number may stand there, and the name in the next row.
    """
    roles = {column.role for column in columns}
    unknown = [column for column in columns if headings.role_of(column.text) is None]
    first = next((row for row in rows if any(figure.is_money for figure in row.figures)), None)
    if roles & {Role.NAME, Role.CODE} or not unknown or first is None:
        return columns
    placed = _cells(first, columns)
    letters = {
        column: sum(sum(map(str.isalpha, cell.text)) for cell, above in placed if above is column)
        for column in unknown
    }
    most = max(unknown, key=lambda column: letters[column])
    if letters[most] < _LETTERS_OF_NAME:
        return columns
    return [replace(each, role=Role.NAME) if each is most else each for each in columns]


def _has_enough(columns: Sequence[Heading]) -> bool:
    roles = {column.role for column in columns}
    return Role.NAME in roles and bool(roles & {Role.TOTAL, Role.UNIT_PRICE, Role.QTY})


def _columns(rows: Sequence[Row], index: int) -> tuple[list[Heading], int]:
    """Return the columns under a row of headings and those stacked on it, and the next row."""
    columns = _with_unknown(headings.read(rows[index]), rows[index])
    if index and _are_stacked(rows[index - 1], rows[index]):
        columns = [_joined(each, _parts(rows[index - 1]), above=True) for each in columns]
        columns = _with_codes(columns, rows[index - 1])
    end = index + 1
    while end < len(rows) and _are_stacked(rows[index], rows[end]) and not rows[end].figures:
        joined = [_joined(each, _parts(rows[end]), above=False) for each in columns]
        # One cell that adds to no heading is the name of the first goods.
        if joined == columns and "\t" not in rows[end].text:
            break
        columns, end = joined, end + 1
    return _one_of_each(columns, rows[end : end + _SAMPLE]), end


def _with_unknown(columns: Sequence[Heading], row: Row) -> list[Heading]:
    """Add the columns whose headings mean nothing to us, so that no other one takes their cells."""
    others = [
        Heading(cell.text, Role.OTHER, cell.box.x0, cell.box.x1)
        for cell in cells(single_words(row.line.words))
        if any(map(str.isalpha, cell.text))
        and not any(min(each.x1, cell.box.x1) > max(each.x0, cell.box.x0) for each in columns)
    ]
    return sorted([*columns, *others], key=lambda column: column.x0)


def _with_codes(columns: Sequence[Heading], above: Row) -> list[Heading]:
    """Add a column of codes left of all others, whose heading stands a row higher."""
    left = min(column.x0 for column in columns)
    codes = [each for each in headings.read(above)[:1] if each.role is Role.CODE and each.x1 < left]
    return [*codes, *columns]


def _are_stacked(upper: Row, lower: Row) -> bool:
    distance = lower.line.box.y_centre - upper.line.box.y_centre
    is_near = 0 <= distance < _STACKED * max(upper.height, lower.height)
    return is_near and upper.line.page == lower.line.page


def _parts(row: Row) -> list[Cell]:
    """Return the parts of headings in a row over or under the others; alone they mean nothing."""
    words = single_words(row.line.words)
    return [Cell((word,)) for word in words if any(map(str.isalpha, word.text))]


def _joined(heading: Heading, parts: Sequence[Cell], *, above: bool) -> Heading:
    """Join a heading with what stands over or under it, if both together have a meaning."""
    near = [part for part in parts if min(part.box.x1, heading.x1) > max(part.box.x0, heading.x0)]
    text = " ".join(part.text for part in near)
    whole = f"{text} {heading.text}" if above else f"{heading.text} {text}"
    role = headings.role_of(whole) if near else None
    if role is None:
        return heading
    x0, x1 = min(part.box.x0 for part in near), max(part.box.x1 for part in near)
    return Heading(whole, role, min(x0, heading.x0), max(x1, heading.x1))


def _one_of_each(columns: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Let one column alone have each role: the likeliest price and total, the first of others."""
    kept: list[Heading] = []
    best = _best(columns, rows)
    seen: set[Role] = set()
    for column in columns:
        is_other = column.role in _CHOSEN and column not in best
        is_again = column.role in seen or is_other
        is_beside = column.role is Role.NAME and bool(kept) and kept[-1].role is Role.NAME
        other = Role.DETAIL if is_beside else Role.OTHER
        kept.append(replace(column, role=other) if is_again else column)
        if column.role in _ONCE:
            seen.add(column.role)
    return kept


def _best(columns: Sequence[Heading], rows: Sequence[Row]) -> Sequence[Heading]:
    """Return the columns of prices and totals that most products make, without tax or with it.

    Else the first price, and the total that says so or stands last.
    """
    prices, totals = (
        [each for each in columns if each.role is role] for role in (Role.UNIT_PRICE, Role.TOTAL)
    )
    if len(prices) <= 1 and len(totals) <= 1:
        return [*prices, *totals]
    if not prices or not totals:
        return [*prices[:1], *sorted(totals, key=_says_total)[-1:]]
    pairs = itertools.product(prices, totals)
    qty = next((each for each in columns if each.role is Role.QTY), None)
    first = [_first_figures(row, columns) for row in rows]
    return max(
        pairs,
        key=lambda pair: (
            sum(_is_product(figures_of, qty, *pair) for figures_of in first),
            _says_total(pair[1]),
            -pair[0].x0,
        ),
    )


def _says_total(column: Heading) -> tuple[bool, float]:
    return _SAYS_TOTAL in squeeze(column.text), column.x0


def _first_figures(row: Row, columns: Sequence[Heading]) -> Mapping[Heading, Figure | None]:
    """Return the first figure under each column that a row has something in."""
    first: dict[Heading, Figure | None] = {}
    for cell, column in _cells(row, columns):
        first.setdefault(column, next(figures.every(cell.text, minor=row.minor), None))
    return first


def _is_product(
    first: Mapping[Heading, Figure | None], qty: Heading | None, price: Heading, total: Heading
) -> bool:
    """Tell whether quantity times a price is the total beside it."""
    factors = [first.get(column) if column else None for column in (qty, price, total)]
    return arithmetic.reconciled(*factors) is not None


def place(row: Row, columns: Sequence[Heading]) -> dict[Role, Cell]:
    """Return the cells of a row by the role of the column that they stand in."""
    placed: dict[Role, Cell] = {}
    for part, column in _cells(row, columns):
        known = placed.get(column.role)
        placed[column.role] = Cell(known.words + part.words) if known else part
    return placed


def _cells(row: Row, columns: Sequence[Heading]) -> list[tuple[Cell, Heading]]:
    """Return the cells of a row, each with its column."""
    whole = cells(single_words(row.line.words))
    return [each for cell in whole for each in _parted(cell, columns)]


def _parted(cell: Cell, columns: Sequence[Heading]) -> Iterator[tuple[Cell, Heading]]:
    """Return a cell with its column, or its words each with theirs if it spans several."""
    box = cell.box
    under = [each for each in columns if min(each.x1, box.x1) > max(each.x0, box.x0)]
    if len(under) <= 1:
        yield cell, _nearest(box, columns)
        return
    for word in cell.words:
        part = Cell((word,))
        fitting = [each for each in under if _fits(word.text, each)]
        yield part, _nearest(word.box, fitting or under)


def _fits(word: str, column: Heading) -> bool:
    """Tell whether a word may stand in a column, however far its heading reaches.

    What has no digit is no figure, nor what has letters between its digits: `2x2x0,8`.
    """
    if column.role not in _DIGIT_ROLES:
        return True
    is_dimension = column.role is not Role.CODE and _DIMENSION.search(word) is not None
    return any(map(str.isdigit, word)) and not is_dimension


def _nearest(box: Box, columns: Sequence[Heading]) -> Heading:
    """Return the column that a box is least far from: by the gap, then by the middles."""

    def distance(column: Heading) -> tuple[float, float]:
        gap = max(column.x0 - box.x1, box.x0 - column.x1)
        return max(gap, 0.0), abs((column.x0 + column.x1) / 2 - box.x_centre)

    return min(columns, key=distance)
