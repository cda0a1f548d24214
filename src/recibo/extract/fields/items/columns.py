"""Finds the columns of a table by its headings, and assigns the words of a row to columns."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Heading, Role
from recibo.extract.layout.rows import Cell, Row, cells, single_words
from recibo.extract.model import Box
from recibo.extract.text import numbers
from recibo.extract.text.normalized_lines import normalize_label
from recibo.extract.text.numbers import Number

#: A second row of headings is at most this many heights away.
_STACKED = 2.4
#: The fewest headings of a table.
_FEWEST = 3
_DIGIT_ROLES = frozenset({Role.CODE, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
_ONCE = frozenset({Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.CODE})
#: The rows below the headings that are used to identify columns.
_SAMPLE = 12
#: The fewest letters of a name in a column of names.
_LETTERS_OF_NAME = 4
#: Two columns of amounts.
_PAIR = 2
#: An amount with its tax is at most so many times the net one.
_MOST_TAXED, _CENT = Decimal("1.35"), Decimal("0.01")
_LETTERS = re.compile(r"[^\W\d_]{3}")
# `2x2x0,8`, and a part of a name, `p/3`.
_DIMENSION = re.compile(r"[0-9][^\W\d_]+[0-9]|^[^\W\d_]+/[0-9]")
_DECISIVE = frozenset({Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
#: For these roles the likeliest column is used, not the first.
_CHOSEN = frozenset({Role.UNIT_PRICE, Role.TOTAL})
_TOTAL_HEADING = normalize_label("total")
_ITEM_HEADINGS = frozenset(map(normalize_label, ("item", "product")))


def tables(rows: Sequence[Row], *, is_narrow: bool) -> Iterator[tuple[int, list[Heading]]]:
    """Yield the index of the first row of each table, with its columns.

    On a narrow receipt a heading `Item` may be above codes, with the names a row lower; elsewhere
    it is the heading of names if there is no other one.
    """
    index = 0
    while index < len(rows):
        if not _is_table_heading(rows[index]):
            index += 1
            continue
        if _is_better_below(rows, index):
            index += 1
        columns, end = _columns(rows, index)
        columns = columns if is_narrow else _with_name(columns)
        columns = _with_name_of_letters(columns, rows[end : end + _SAMPLE])
        if _has_enough(columns):
            yield end, columns
        index = end


def _is_table_heading(row: Row) -> bool:
    """Return whether a row has column headings; a legend is not one, since it has no wide gaps."""
    found = headings.read(row)
    return headings.is_heading(row) and len(found) >= _FEWEST and row.text.count("\t") > 1


def _is_better_below(rows: Sequence[Row], index: int) -> bool:
    """Return whether the row below is the better heading: more of its columns have a role."""
    if index + 1 >= len(rows) or not _are_stacked(rows[index], rows[index + 1]):
        return False
    here, below = ({each.role for each in headings.read(row)} for row in rows[index : index + 2])
    is_headed = _is_table_heading(rows[index + 1])
    # Between equals, the one with the names is better.
    rank_here, rank_below = ((len(own & _DECISIVE), Role.NAME in own) for own in (here, below))
    return is_headed and rank_below > rank_here


def _with_name(columns: list[Heading]) -> list[Heading]:
    """Make the first column `Item` or `Product` that of names if there is no other one."""
    if any(column.role is Role.NAME for column in columns):
        return columns
    # In `No.  Item  Qty` the first column has row numbers.
    item_columns = [column for column in columns if normalize_label(column.text) in _ITEM_HEADINGS]
    codes = [column for column in columns if column.role is Role.CODE]
    first = next(iter(item_columns or codes), None)
    return [replace(each, role=Role.NAME) if each is first else each for each in columns]


def _with_name_of_letters(columns: list[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Make the unknown column with the most letters that of names if there is no other one.

    The first item decides: on narrow receipts it may have a code, and its name in the next row.
    """
    roles = {column.role for column in columns}
    unknown = [column for column in columns if headings.role_of(column.text) is None]
    first = next((row for row in rows if any(figure.is_money for figure in row.numbers)), None)
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
    """Return the columns of a row of headings and adjacent rows, and the index of the next row."""
    columns = _with_unknown(headings.read(rows[index]), rows[index])
    if index and _are_stacked(rows[index - 1], rows[index]):
        columns = [_with_cell_above(each, rows[index - 1]) for each in columns]
        columns = _with_codes(columns, rows[index - 1])
    end = index + 1
    while end < len(rows) and _are_stacked(rows[index], rows[end]) and not rows[end].numbers:
        joined = [_joined(each, _parts(rows[end]), above=False) for each in columns]
        # A single cell that completes no heading is the name of the first item.
        if joined == columns and "\t" not in rows[end].text:
            break
        columns, end = _with_unknown(joined, rows[end]), end + 1
    sample = rows[end : end + _SAMPLE]
    return _one_of_each(_settled(columns, sample), sample), end


def _settled(columns: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Correct the roles of columns by the numbers of the rows with a quantity."""
    roles = [column.role for column in columns]
    if not {Role.QTY, Role.TOTAL} & {*roles} and roles.count(Role.UNIT_PRICE) == 1:
        # `Service  Period  Cost`: without quantities the price is the amount.
        return [
            replace(column, role=Role.TOTAL) if column.role is Role.UNIT_PRICE else column
            for column in columns
        ]
    if Role.QTY not in roles:
        return list(columns)
    qty = roles.index(Role.QTY)
    firsts = [_first_figures(row, columns) for row in rows]
    columned = [[first.get(column) for column in columns] for first in firsts]
    # The first amount without a quantity is a sum.
    listed = itertools.takewhile(lambda own: own[qty] or not any(map(_is_amount, own)), columned)
    counted = [own for own in listed if own[qty]]
    for changed in _CORRECTIONS if counted else ():
        roles = changed(roles, counted)
    return [replace(column, role=role) for column, role in zip(columns, roles, strict=True)]


def _net_total(roles: list[Role], rows: Sequence[Sequence[Number | None]]) -> list[Role]:
    """Make the second of two prices the total if it is one without tax: `Price  Price  Tax  Sum`.

    It is the quantity times the first price in some row, and no more in any; a discount may be off.
    """
    prices = [index for index, role in enumerate(roles) if role is Role.UNIT_PRICE]
    if len(prices) != _PAIR or roles.count(Role.TOTAL) != 1:
        return roles
    qty, (price, net), gross = roles.index(Role.QTY), prices, roles.index(Role.TOTAL)
    products = [_product(own[qty], own[price]) for own in rows]
    nets = [own[net] for own in rows]
    pairs = [(product, one.value) for product, one in zip(products, nets, strict=True) if one]
    is_product = any(abs(product - one) <= _CENT for product, one in pairs)
    is_net = len(pairs) == len(rows) and all(one <= product + _CENT for product, one in pairs)
    if not (is_product and is_net and all(_is_taxed(own[net], own[gross]) for own in rows)):
        return roles
    changed = {net: Role.TOTAL, gross: Role.OTHER}
    return [changed.get(index, role) for index, role in enumerate(roles)]


def _product(qty: Number | None, price: Number | None) -> Decimal:
    """Return a quantity times a price, 0 without one."""
    return qty.value * price.value if qty and price else Decimal(0)


def _gross_total(roles: list[Role], rows: Sequence[Sequence[Number | None]]) -> list[Role]:
    """Make the price right of a net total the total: `Net  Price`."""
    places = {role: index for index, role in enumerate(roles) if role in _CHOSEN}
    if roles.count(Role.UNIT_PRICE) != 1 or Role.TOTAL not in places:
        return roles
    price, total = places[Role.UNIT_PRICE], places[Role.TOTAL]
    if price < total or not all(_is_taxed(own[total], own[price]) for own in rows):
        return roles
    return [
        Role.TOTAL if index == price else Role.OTHER if role is Role.TOTAL else role
        for index, role in enumerate(roles)
    ]


def _net_price(roles: list[Role], rows: Sequence[Sequence[Number | None]]) -> list[Role]:
    """Make the first of two totals the price if it is one: `Net price  Tax  Total`."""
    totals = [index for index, role in enumerate(roles) if role is Role.TOTAL]
    qty = roles.index(Role.QTY)
    if Role.UNIT_PRICE in roles or len(totals) < _PAIR:
        return roles
    if not all(_is_taxed(own[totals[0]], own[totals[-1]], times=own[qty]) for own in rows):
        return roles
    return [Role.UNIT_PRICE if index == totals[0] else role for index, role in enumerate(roles)]


def _unnamed_total(roles: list[Role], rows: Sequence[Sequence[Number | None]]) -> list[Role]:
    """Make the last column of amounts the total if no heading is that of one."""
    unknown = (Role.OTHER, Role.NAME, Role.DETAIL)
    price = roles.index(Role.UNIT_PRICE) if Role.UNIT_PRICE in roles else len(roles)
    amounts = [
        index
        for index, role in enumerate(roles)
        if role in unknown and index > price and all(_is_amount(own[index]) for own in rows)
    ]
    if Role.TOTAL in roles or not amounts:
        return roles
    return [Role.TOTAL if index == amounts[-1] else role for index, role in enumerate(roles)]


def _unit_price(roles: list[Role], rows: Sequence[Sequence[Number | None]]) -> list[Role]:
    """Make a column `Unit` with amounts that of prices if there is no other one."""
    if Role.UNIT_PRICE in roles or roles.count(Role.UNIT) != 1:
        return roles
    unit = roles.index(Role.UNIT)
    is_priced = 2 * sum(_is_amount(own[unit]) for own in rows) > len(rows)
    return [Role.UNIT_PRICE if is_priced and role is Role.UNIT else role for role in roles]


_CORRECTIONS = (_net_total, _gross_total, _net_price, _unnamed_total, _unit_price)


def _is_amount(figure: Number | None) -> bool:
    return figure is not None and figure.is_money


def _is_taxed(net: Number | None, gross: Number | None, times: Number | None = None) -> bool:
    """Return whether an amount is another one, so many times, with its tax."""
    if net is None or gross is None or not net.is_money:
        return False
    whole = net.value * (times.value if times else 1)
    return whole - _CENT <= gross.value <= whole * _MOST_TAXED


def _with_unknown(columns: Sequence[Heading], row: Row) -> list[Heading]:
    """Add the columns with unknown headings, so that no other column gets their cells."""
    whole = cells(single_words(row.line.words))
    parts = [part for cell in whole for part in (cell, *_before_known(cell, columns))]
    others = [
        Heading(part.text, Role.OTHER, part.box.x0, part.box.x1)
        for part in parts
        if any(map(str.isalpha, part.text))
        and not any(min(each.x1, part.box.x1) > max(each.x0, part.box.x0) for each in columns)
    ]
    return sorted([*columns, *others], key=lambda column: column.x0)


def _before_known(cell: Cell, columns: Sequence[Heading]) -> Iterator[Cell]:
    """Yield the words in brackets before a known heading, which are not its: `(R$) PIS/COFINS`."""
    known = [each.x0 for each in columns if cell.box.x0 < each.x0 < cell.box.x1]
    words = [word for word in cell.words if known and word.box.x1 < min(known)]
    if words and words[0].text.startswith("(") and words[-1].text.endswith(")"):
        yield Cell(tuple(words))


def _with_codes(columns: Sequence[Heading], above: Row) -> list[Heading]:
    """Add a column of codes left of all others, whose heading is a row higher."""
    left = min(column.x0 for column in columns)
    codes = [each for each in headings.read(above)[:1] if each.role is Role.CODE and each.x1 < left]
    return [*codes, *columns]


def _are_stacked(upper: Row, lower: Row) -> bool:
    distance = lower.line.box.y_center - upper.line.box.y_center
    is_near = 0 <= distance < _STACKED * max(upper.height, lower.height)
    return is_near and upper.line.page == lower.line.page


def _parts(row: Row) -> list[Cell]:
    """Return the parts of headings in a row above or below the others."""
    words = single_words(row.line.words)
    return [Cell((word,)) for word in words if any(map(str.isalpha, word.text))]


def _with_cell_above(heading: Heading, above: Row) -> Heading:
    """Join a heading with the words above it, or if those have no role with their whole cell."""
    joined = _joined(heading, _parts(above), above=True)
    if joined is not heading or headings.role_of(heading.text) is not None:
        return joined
    return _joined(heading, list(cells(single_words(above.line.words))), above=True)


def _joined(heading: Heading, parts: Sequence[Cell], *, above: bool) -> Heading:
    """Join a heading with the words above or below it, if both together have a role."""
    near = [part for part in parts if min(part.box.x1, heading.x1) > max(part.box.x0, heading.x0)]
    text = " ".join(part.text for part in near)
    whole = f"{text} {heading.text}" if above else f"{heading.text} {text}"
    role = headings.role_of(whole) if near else None
    if role is None:
        return heading
    x0, x1 = min(part.box.x0 for part in near), max(part.box.x1 for part in near)
    return Heading(whole, role, min(x0, heading.x0), max(x1, heading.x1))


def _one_of_each(columns: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Keep one column per role: the likeliest price and total, the first of others."""
    kept: list[Heading] = []
    columns = _with_one_qty(columns, rows)
    best = _best(columns, rows)
    seen: set[Role] = set()
    for column in columns:
        is_other = column.role in _CHOSEN and column not in best
        is_again = column.role in seen or is_other
        is_adjacent = column.role is Role.NAME and bool(kept) and kept[-1].role is Role.NAME
        other = Role.DETAIL if is_adjacent else Role.OTHER
        kept.append(replace(column, role=other) if is_again else column)
        if column.role in _ONCE:
            seen.add(column.role)
    return kept


def _with_one_qty(columns: Sequence[Heading], rows: Sequence[Row]) -> Sequence[Heading]:
    """Ignore a first column with the numbers 1, 2, 3 if there is another one of quantities.

    `SL` is the heading of quantities in Vietnam, and of the numbers of rows in India.
    """
    counts = [each for each in columns if each.role is Role.QTY]
    if len(counts) < _PAIR:
        return columns
    found = (_first_figures(row, columns).get(counts[0]) for row in rows)
    values = [figure.value for figure in found if figure]
    if len(values) < _PAIR or values != list(range(1, len(values) + 1)):
        return columns
    return [replace(each, role=Role.OTHER) if each is counts[0] else each for each in columns]


def _best(columns: Sequence[Heading], rows: Sequence[Row]) -> Sequence[Heading]:
    """Return the columns of prices and totals that agree in most rows, without tax or with it.

    Without both, return the first price, and the total with that heading, or the last one.
    """
    prices, totals = (
        [each for each in columns if each.role is role] for role in (Role.UNIT_PRICE, Role.TOTAL)
    )
    if len(prices) <= 1 and len(totals) <= 1:
        return [*prices, *totals]
    if not prices or not totals:
        return [*prices[:1], *sorted(totals, key=_total_rank)[-1:]]
    pairs = itertools.product(prices, totals)
    qty = next((each for each in columns if each.role is Role.QTY), None)
    first = [_first_figures(row, columns) for row in rows]
    return max(
        pairs,
        key=lambda pair: (
            sum(_is_product(figures_of, qty, *pair) for figures_of in first),
            _total_rank(pair[1]),
            -pair[0].x0,
        ),
    )


def _total_rank(column: Heading) -> tuple[bool, float]:
    return _TOTAL_HEADING in normalize_label(column.text), column.x0


def _first_figures(row: Row, columns: Sequence[Heading]) -> Mapping[Heading, Number | None]:
    """Return the first number of a row in each column."""
    first: dict[Heading, Number | None] = {}
    for cell, column in _cells(row, columns):
        first.setdefault(column, next(numbers.every(cell.text, minor=row.minor), None))
    return first


def _is_product(
    first: Mapping[Heading, Number | None], qty: Heading | None, price: Heading, total: Heading
) -> bool:
    """Return whether quantity times price is the total."""
    factors = [first.get(column) if column else None for column in (qty, price, total)]
    return arithmetic.reconciled(*factors) is not None


def place(row: Row, columns: Sequence[Heading]) -> dict[Role, Cell]:
    """Return the cells of a row by the role of their column."""
    placed: dict[Role, Cell] = {}
    for part, column in _cells(row, columns):
        known = placed.get(column.role)
        placed[column.role] = Cell(known.words + part.words) if known else part
    return placed


def by_column(row: Row, columns: Sequence[Heading]) -> list[tuple[Heading, str]]:
    """Return the text of each column with one, from left to right."""
    words: dict[Heading, list[str]] = {}
    for part, column in _cells(row, columns):
        words.setdefault(column, []).append(part.text)
    return [(column, " ".join(parts)) for column, parts in words.items()]


def _cells(row: Row, columns: Sequence[Heading]) -> list[tuple[Cell, Heading]]:
    """Return the cells of a row, each with its column."""
    whole = cells(single_words(row.line.words))
    placed = [each for cell in whole for each in _split(cell, columns)]
    taken = {column for cell, column in placed if _is_under(cell, column)}
    return [(cell, _free_neighbor(cell, column, columns, taken)) for cell, column in placed]


def _is_under(cell: Cell, column: Heading) -> bool:
    slack = cell.box.height
    return min(column.x1, cell.box.x1) + slack > max(column.x0, cell.box.x0)


def _free_neighbor(
    cell: Cell, nearest: Heading, columns: Sequence[Heading], taken: Collection[Heading]
) -> Heading:
    """Return the column of names next to the nearest one if a text is under neither heading.

    Its heading may be at the middle of a wide column: `7802   GOIABADA            20079990`.
    """
    if nearest not in taken or _is_under(cell, nearest):
        return nearest
    place = columns.index(nearest)
    is_right = cell.box.x0 > nearest.x1
    neighbors = columns[place + 1 : place + 2] if is_right else columns[max(place - 1, 0) : place]
    is_name = bool(_LETTERS.search(cell.text))
    free = [one for one in neighbors if one.role is Role.NAME and one not in taken and is_name]
    return free[0] if free else nearest


def _split(cell: Cell, columns: Sequence[Heading]) -> Iterator[tuple[Cell, Heading]]:
    """Yield a cell with its column, or each of its words with its column if it spans several."""
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
    """Return whether a word may be in a column.

    A number has a digit, and no letters between its digits as in `2x2x0,8`.
    """
    if column.role not in _DIGIT_ROLES:
        return True
    is_dimension = column.role is not Role.CODE and _DIMENSION.search(word) is not None
    return any(map(str.isdigit, word)) and not is_dimension


def _nearest(box: Box, columns: Sequence[Heading]) -> Heading:
    """Return the column nearest to a box: by the gap, then by the middles."""

    def distance(column: Heading) -> tuple[float, float]:
        gap = max(column.x0 - box.x1, box.x0 - column.x1)
        return max(gap, 0.0), abs((column.x0 + column.x1) / 2 - box.x_center)

    return min(columns, key=distance)
