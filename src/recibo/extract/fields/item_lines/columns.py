"""Goods in a table: columns under headings, descriptions over several rows, several pages."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields import letters
from recibo.extract.fields.forms import Cell, cells
from recibo.extract.fields.item_lines import arithmetic, figures, headings, priced, stops
from recibo.extract.fields.item_lines.headings import Heading, Role
from recibo.extract.fields.item_lines.rows import Row, single_words
from recibo.extract.model import Found, LineItem

#: A second row of headings stands within this many heights.
_STACKED = 2.4
#: Rows of one description follow within this many heights.
_WRAPPED = 2.2
_CONFIDENT, _LIKELY = 0.97, 0.8
_DIGIT_ROLES = frozenset({Role.CODE, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})


@dataclass
class _Goods:
    """A row of the table being gathered."""

    row: Row
    cells: dict[Role, str]
    name_rows: list[Cell]
    #: Whether the table has a column of quantities.
    has_qty: bool


def read(rows: Sequence[Row], *, is_roll: bool = False) -> tuple[Found[LineItem], ...]:
    """Return the goods of every table with headings.

    On a roll a heading `Item` may stand over codes, with the names a row lower; elsewhere a table
    without another name for its goods calls them so.
    """
    goods: list[_Goods] = []
    for start, columns in _tables(rows, is_roll=is_roll):
        goods.extend(_body(rows[start:], columns))
    items = (_item(each) for each in _without_parts(goods))
    return tuple(item for item in items if item is not None)


def _without_parts(goods: Sequence[_Goods]) -> Iterator[_Goods]:
    """Leave out the parts of a bundle: indented, and without the unit price that others have."""
    unpriced = [each for each in goods if Role.UNIT_PRICE not in each.cells]
    lefts = [each.name_rows[0].box.x0 for each in goods if each.name_rows]
    edge = min(lefts, default=0.0)
    for each in goods:
        is_indented = bool(each.name_rows) and each.name_rows[0].box.x0 > edge + each.row.height
        if not (is_indented and each in unpriced and len(unpriced) < len(goods) / 2):
            yield each


def _tables(rows: Sequence[Row], *, is_roll: bool) -> Iterator[tuple[int, list[Heading]]]:
    """Return where the body of each table begins, with its columns."""
    index = 0
    while index < len(rows):
        if not _is_table_heading(rows[index]):
            index += 1
            continue
        columns, end = _columns(rows, index)
        columns = columns if is_roll else _with_name(columns)
        if _has_enough(columns):
            yield end, columns
        index = end


def _is_table_heading(row: Row) -> bool:
    """Tell whether a row heads columns: a legend that only names what follows has no wide gaps."""
    found = headings.read(row)
    return headings.is_heading(row) and len(found) > 2 and row.text.count("\t") > 1


def _with_name(columns: list[Heading]) -> list[Heading]:
    """Take the first heading `Item` or `Product` for the names' where no other one is."""
    if any(column.role is Role.NAME for column in columns):
        return columns
    first = next((column for column in columns if column.role is Role.CODE), None)
    return [replace(each, role=Role.NAME) if each is first else each for each in columns]


def _has_enough(columns: Sequence[Heading]) -> bool:
    roles = {column.role for column in columns}
    return Role.NAME in roles and bool(roles & {Role.TOTAL, Role.UNIT_PRICE, Role.QTY})


def _columns(rows: Sequence[Row], index: int) -> tuple[list[Heading], int]:
    """Return the columns under a row of headings and those stacked on it, and the next row."""
    columns = headings.read(rows[index])
    if index and _are_stacked(rows[index - 1], rows[index]):
        columns = [_joined(each, _parts(rows[index - 1]), above=True) for each in columns]
    end = index + 1
    while end < len(rows) and _are_stacked(rows[index], rows[end]) and not rows[end].figures:
        columns = [_joined(each, _parts(rows[end]), above=False) for each in columns]
        end += 1
    return _one_of_each(columns), end


def _are_stacked(upper: Row, lower: Row) -> bool:
    distance = lower.line.box.y_centre - upper.line.box.y_centre
    is_near = 0 <= distance < _STACKED * max(upper.height, lower.height)
    return is_near and upper.line.page == lower.line.page


def _parts(row: Row) -> list[Cell]:
    """Return the parts of headings in a row over or under the others; alone they mean nothing."""
    return [Cell((word,)) for word in single_words(row.line.words)]


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


def _one_of_each(columns: Sequence[Heading]) -> list[Heading]:
    """Let only one column have each role that an item takes: the last total, the first of others."""
    kept: list[Heading] = []
    totals = [column for column in columns if column.role is Role.TOTAL]
    seen: set[Role] = set()
    for column in columns:
        is_again = column.role in seen or (
            column.role is Role.TOTAL and column is not _best_total(totals)
        )
        kept.append(replace(column, role=Role.OTHER) if is_again else column)
        if column.role in {Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.CODE}:
            seen.add(column.role)
    return kept


def _best_total(totals: Sequence[Heading]) -> Heading:
    """Return the column of the rows' totals: the one that says so, else the last."""
    saying = [column for column in totals if "TOTAI" in headings.fold(column.text)]
    return (saying or list(totals))[-1]


def _body(rows: Sequence[Row], columns: Sequence[Heading]) -> Iterator[_Goods]:
    """Return the goods under the headings, up to the totals or the next headings."""
    current: _Goods | None = None
    reach = _description_reach(columns)
    has_qty = any(column.role is Role.QTY for column in columns)
    for row in rows:
        placed = _place(row, columns)
        is_goods = _has_figure(placed.get(Role.QTY)) and _has_figure(placed.get(Role.UNIT_PRICE))
        is_end = stops.ends_table(row) or headings.is_heading(row)
        if is_end and not is_goods:
            if current is None:
                continue
            break
        if _is_start(row, placed):
            if current is not None:
                yield current
            texts = {role: cell.text for role, cell in placed.items()}
            name = placed.get(Role.NAME)
            current = _Goods(row, texts, [name] if name else [], has_qty)
        elif current and Role.NAME in placed and _goes_on(current, row, placed[Role.NAME], reach):
            current.name_rows.append(placed[Role.NAME])
    if current is not None:
        yield current


def _description_reach(columns: Sequence[Heading]) -> float:
    """Return the left edge of the column right of the descriptions."""
    name = next(column for column in columns if column.role is Role.NAME)
    return min((column.x0 for column in columns if column.x0 > name.x1), default=float("inf"))


def _is_start(row: Row, placed: dict[Role, Cell]) -> bool:
    """Tell whether a row begins an item: an amount, with a name or a quantity."""
    has_amount = any(_has_figure(placed.get(role)) for role in (Role.TOTAL, Role.UNIT_PRICE))
    has_head = Role.NAME in placed or Role.QTY in placed
    return has_head and (has_amount or arithmetic.triple(row.figures) is not None)


def _goes_on(current: _Goods, row: Row, cell: Cell, reach: float) -> bool:
    """Tell whether a row continues the description above: that was broken at the column's edge."""
    if not current.name_rows:
        return True
    last = current.name_rows[-1]
    is_near = cell.box.y_centre - last.box.y_centre < _WRAPPED * cell.box.height
    first = cell.words[0]
    letters = max(len(first.text), 1)
    first_word = first.box.width * len(first.text.split(" ")[0]) / letters
    is_full = last.box.x1 + first_word + 2.5 * cell.box.height > reach
    return is_near and is_full and ":" not in cell.text and row.line.page == current.row.line.page


def _place(row: Row, columns: Sequence[Heading]) -> dict[Role, Cell]:
    """Return the cells of a row by the role of the column that they stand in."""
    placed: dict[Role, Cell] = {}
    for cell in cells(single_words(row.line.words)):
        for part, column in _parted(cell, columns):
            known = placed.get(column.role)
            placed[column.role] = Cell(known.words + part.words) if known else part
    return placed


def _parted(cell: Cell, columns: Sequence[Heading]) -> Iterator[tuple[Cell, Heading]]:
    """Return a cell with its column, or its words each with theirs if it spans several."""
    under = [each for each in columns if min(each.x1, cell.box.x1) > max(each.x0, cell.box.x0)]
    if len(under) < 2:
        yield cell, min(columns, key=lambda each: _distance(cell, each))
        return
    for word in cell.words:
        part = Cell((word,))
        # A word without a digit stands in no column of figures, however far a heading reaches.
        has_digit = any(map(str.isdigit, word.text))
        fitting = [each for each in under if has_digit or each.role not in _DIGIT_ROLES]
        yield part, min(fitting or under, key=lambda each: _distance(part, each))


def _distance(cell: Cell, column: Heading) -> tuple[float, float]:
    """Return how far a cell is from a column: the gap, then the distance of the middles."""
    gap = max(column.x0 - cell.box.x1, cell.box.x0 - column.x1)
    middle = abs((column.x0 + column.x1) / 2 - cell.box.x_centre)
    return max(gap, 0.0), middle


def _has_figure(cell: Cell | None) -> bool:
    return cell is not None and any(True for _ in figures.every(cell.text))


def _item(goods: _Goods) -> Found[LineItem] | None:
    name = priced.cleaned(" ".join(cell.text for cell in goods.name_rows))
    name = name if goods.row.is_exact else letters.mended(name)
    total = _figure(goods, Role.TOTAL)
    qty, unit_price = _figure(goods, Role.QTY), _figure(goods, Role.UNIT_PRICE)
    if not any(map(str.isalpha, name)) or headings.are_headings(name):
        return None
    sound = _reconciled(qty, unit_price, total) or arithmetic.triple(goods.row.figures)
    if sound is None and (qty is None or unit_price is None):
        sound = _recovered(goods, unit_price, total)
    if sound is not None:
        return goods.row.cell.found(LineItem(name, *sound), confidence=_CONFIDENT)
    if total is None and unit_price is None:
        return None
    plain = LineItem(
        name,
        qty.readings[-1] if qty else None,
        unit_price.value if unit_price else None,
        total.value if total else None,
    )
    return goods.row.cell.found(plain, confidence=_LIKELY)


def _reconciled(
    qty: figures.Figure | None, price: figures.Figure | None, total: figures.Figure | None
) -> arithmetic.Product | None:
    """Return the readings whose product is the total; a dot may group or be decimal."""
    if qty is None or price is None or total is None:
        return None
    options = itertools.product(qty.readings, price.readings, total.readings)
    return next((each for each in options if arithmetic.agrees(*each)), None)


def _recovered(
    goods: _Goods, price: figures.Figure | None, total: figures.Figure | None
) -> arithmetic.Product | None:
    """Look for quantity and price anywhere in the row: a column may have been missed.

    Where a column of quantities shows none, the reader lost it, and the total tells it.
    """
    if total is None:
        return None
    row = goods.row.figures
    ends = [index for index, figure in enumerate(row) if figure.value == total.value]
    found = arithmetic.factors(row[: ends[-1]], total.value) if ends else None
    if found is not None:
        return found.qty, found.unit_price, total.value
    qty = arithmetic.missing_qty(price.value, total.value) if price and goods.has_qty else None
    return (qty, price.value, total.value) if qty and price else None


def _figure(goods: _Goods, role: Role) -> figures.Figure | None:
    text = goods.cells.get(role)
    found = [each for each in figures.every(text) if not each.is_percent] if text else []
    return found[0] if found else None
