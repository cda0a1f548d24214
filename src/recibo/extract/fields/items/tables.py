"""Goods in a table: columns under headings, descriptions over several rows, several pages."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, columns, item_name, terminators
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.forms import Cell
from recibo.extract.layout.headings import Heading, Role
from recibo.extract.layout.item_rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import figures, ocr_confusions
from recibo.extract.text.figures import Figure

#: Rows of one description follow within this many heights.
_WRAPPED = 2.2
#: A column's right edge is known but for so many heights: words are as long as they are.
_SLACK = 2.5
_CONFIDENT, _LIKELY = 0.97, 0.8
#: No paper has more tables: its goods begin within so many rows of their headings.
_MOST_TABLES, _MOST_HEAD_ROWS = 60, 40
#: A sum of fewer rows may be chance.
_FEWEST = 2
#: Goods go on within so many rows of a sum in between, below the title of the next part.
_SOON = 4
_LETTER = re.compile(r"[^\W\d_]")
_BY_BLANKS = re.compile(r"-?[1-9][0-9]{0,2}(?:\s[0-9]{3})+")
_GROUPED = re.compile(r"(?<=[0-9])\s(?=[0-9]{3})")
# No code, but a word.
_WORD = re.compile(r"[^\W\d_]{3}")


@dataclass
class _Goods:
    """A row of the table being gathered."""

    row: Row
    cells: dict[Role, str]
    name_rows: list[Cell]
    #: Whether the table has a column of quantities.
    has_qty: bool


def read(rows: Sequence[Row], *, is_roll: bool = False) -> tuple[Extracted[LineItem], ...]:
    """Return the goods of every table with headings; see `columns.tables` for rolls."""
    goods: list[_Goods] = []
    tables = list(itertools.islice(columns.tables(rows, is_roll=is_roll), _MOST_TABLES))
    for start, headed in tables:
        goods.extend(_body(_without_heads(rows, start, [other for other, _ in tables]), headed))
    read_items = (_item(each) for each in _without_parts(goods))
    return tuple(_without_sums([item for item in read_items if item is not None]))


def _without_heads(rows: Sequence[Row], start: int, starts: Sequence[int]) -> list[Row]:
    """Return the rows under headings without the heads of later pages that have headings too."""
    page = rows[start - 1].line.page
    ends = {rows[other - 1].line.page: other for other in reversed(starts)}
    return [
        row
        for index, row in enumerate(rows[start:], start)
        if row.line.page == page or index >= ends.get(row.line.page, 0) - 1
    ]


def _without_sums(items: Sequence[Extracted[LineItem]]) -> Iterator[Extracted[LineItem]]:
    """Leave out the sums of all rows above, under whatever name, carried over to the next page."""
    above, units, count = Decimal(0), Decimal(0), 0
    told = [bool(item.value.qty or item.value.unit_price) for item in items]
    several = sum(told)
    is_closed = False
    for index, item in enumerate(items):
        if is_closed and not arithmetic.is_product(item.value):
            continue
        total, qty = item.value.total or Decimal(0), item.value.qty
        is_bare = item.value.unit_price is None and (qty is None or qty == units)
        has_others = several > told[index]
        is_last = index == len(items) - 1
        if is_bare and count >= _FEWEST and total == above and (has_others or is_last):
            is_closed = all(arithmetic.is_product(each.value) for each in items[:index])
            continue
        above, units, count = above + total, units + (qty or 0), count + 1
        yield item


def _without_parts(goods: Sequence[_Goods]) -> Iterator[_Goods]:
    """Leave out the parts of a bundle: indented, and without the unit price that others have."""
    # What is taken off an item stands indented too.
    unpriced = [Role.UNIT_PRICE not in each.cells and not _is_taken_off(each) for each in goods]
    are_few = sum(unpriced) < len(goods) / 2
    lefts = [each.name_rows[0].box.x0 for each in goods if each.name_rows]
    edge = min(lefts, default=0.0)
    for each, is_unpriced in zip(goods, unpriced, strict=True):
        is_indented = bool(each.name_rows) and each.name_rows[0].box.x0 > edge + each.row.height
        if not (is_indented and is_unpriced and are_few):
            yield each


def _is_taken_off(goods: _Goods) -> bool:
    total = _figure(goods, Role.TOTAL)
    return total is not None and total.value < 0


def _body(rows: Sequence[Row], headed: Sequence[Heading]) -> list[_Goods]:
    """Return the goods under the headings, up to the totals or the next headings."""
    goods: list[_Goods] = []
    reach = _description_reach(headed)
    has_qty = any(column.role is Role.QTY for column in headed)
    waiting: Cell | None = None
    for index, row in enumerate(rows):
        if not goods and index == _MOST_HEAD_ROWS:
            return []
        placed = columns.place(row, headed)
        name = _name(placed)
        if _is_end(row, placed, goods):
            if goods and (headings.is_heading(row) or not _resumes(rows[index + 1 :], headed)):
                return goods
        elif _is_start(row, placed):
            texts = {role: cell.text for role, cell in placed.items()}
            named = [name] if name else []
            if waiting and _leads_to(waiting, row, name):
                named.insert(0, waiting)
            goods.append(_Goods(row, texts, named, has_qty))
        elif name and not _has_columns(placed):
            if goods and _goes_on(goods[-1], row, name, reach):
                goods[-1].name_rows.append(name)
            else:
                waiting = name
                continue
        waiting = None
    return goods


def _leads_to(upper: Cell, row: Row, name: Cell | None) -> bool:
    """Tell whether a name begins a row above its figures: these stand at its middle or its end."""
    is_near = row.line.box.y_centre - upper.box.y_centre < _WRAPPED * upper.box.height
    is_whole = ":" in upper.text or upper.words[0].page != row.line.page
    return is_near and not is_whole and (name is None or name.text[:1].islower())


def _is_full(upper: Cell, lower: Cell, reach: float) -> bool:
    """Tell whether a row of a description was broken since the next word found no room."""
    return upper.box.x1 + lower.words[0].box.width + _SLACK * lower.box.height > reach


def _has_columns(placed: dict[Role, Cell]) -> bool:
    """Tell whether a row has figures of its own, and so is no part of the one above."""
    cells = (placed.get(role) for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL))
    return any(cell is not None and figures.is_figure(cell.text) for cell in cells)


def _name(placed: dict[Role, Cell]) -> Cell | None:
    """Return what names the goods: of two columns both, but for a code in the first."""
    name, detail = placed.get(Role.NAME), placed.get(Role.DETAIL)
    if name is None and detail is None:
        # A charge without a quantity may begin in the column of the quantities.
        first = placed.get(Role.QTY)
        return first if first and _WORD.search(first.text) and not _has_figure(first) else None
    if name is None or (detail and not _WORD.search(name.text)):
        return detail
    return Cell(name.words + detail.words) if detail else name


def _resumes(rows: Sequence[Row], headed: Sequence[Heading]) -> bool:
    """Tell whether goods go on behind a sum: a quantity, a price and their product follow soon."""
    for row in rows[:_SOON]:
        if headings.is_heading(row):
            return False
        placed = columns.place(row, headed)
        figures_of = [
            next(figures.every(placed[role].text, minor=row.minor), None)
            if role in placed
            else None
            for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL)
        ]
        if _name(placed) and arithmetic.reconciled(*figures_of):
            return True
    return False


def _is_end(row: Row, placed: dict[Role, Cell], goods: Sequence[_Goods]) -> bool:
    """Tell whether a row is a total or a heading, whatever goods may be called."""
    if _has_figure(placed.get(Role.QTY)) and _has_figure(placed.get(Role.UNIT_PRICE)):
        return False
    # What has a day of its own is a charge, whatever word for money it bears.
    has_day = Role.DATE in placed and placed[Role.DATE].text[:1].isdigit()
    if has_day and Role.TOTAL in placed and not terminators.is_total(row):
        return False
    if Role.TOTAL in placed and goods and _is_charge_beneath(row, goods):
        return False
    return terminators.ends_table(row) or headings.is_heading(row)


def _is_charge_beneath(row: Row, goods: Sequence[_Goods]) -> bool:
    """Tell whether a row charges delivery and the like right under the goods or their names."""
    last = goods[-1]
    edges = [last.row.line.box.x0, *(cell.box.x0 for cell in last.name_rows[:1])]
    is_beneath = any(abs(row.line.box.x0 - edge) < row.height for edge in edges)
    return is_beneath and terminators.meaning(row) is Meaning.CHARGE


def _description_reach(headed: Sequence[Heading]) -> float:
    """Return the left edge of the column right of the descriptions."""
    name = next(column for column in headed if column.role is Role.NAME)
    return min((column.x0 for column in headed if column.x0 > name.x1), default=float("inf"))


def _is_start(row: Row, placed: dict[Role, Cell]) -> bool:
    """Tell whether a row begins an item: an amount, with a name or a quantity."""
    has_amount = any(_has_amount(placed.get(role)) for role in (Role.TOTAL, Role.UNIT_PRICE))
    has_head = Role.NAME in placed or Role.QTY in placed
    return has_head and (has_amount or arithmetic.triple(row.figures) is not None)


def _goes_on(current: _Goods, row: Row, cell: Cell, reach: float) -> bool:
    """Tell whether a row continues the description above: that was broken at the column's edge."""
    if not current.name_rows:
        return True
    last = current.name_rows[-1]
    is_near = cell.box.y_centre - last.box.y_centre < _WRAPPED * cell.box.height
    is_whole = ":" in cell.text or row.line.page != current.row.line.page
    is_broken = item_name.goes_on(last.text, cell.text) or _is_full(last, cell, reach)
    return is_near and not is_whole and is_broken


def _has_amount(cell: Cell | None) -> bool:
    """Tell whether a cell holds more than a measure, `10KG`."""
    found = figures.every(cell.text) if cell else ()
    return any(figure.is_money or not figure.has_unit for figure in found)


def _has_figure(cell: Cell | None) -> bool:
    return cell is not None and any(True for _ in figures.every(cell.text))


def _item(goods: _Goods) -> Extracted[LineItem] | None:
    name = item_name.cleaned(" ".join(cell.text for cell in goods.name_rows))
    name = name if goods.row.is_exact else ocr_confusions.mended(name)
    # How a total came about is no name: `25 UN X 5,10` under headings of which half is below.
    is_product = any(map(str.isdigit, name)) and not _LETTER.search(item_name.without_units(name))
    if is_product or not _LETTER.search(name) or headings.are_headings(name):
        return None
    qty, price, total = (_figure(goods, role) for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL))
    sound = (
        arithmetic.reconciled(qty, price, total)
        or arithmetic.less_discount(qty, price, total, _figure(goods, Role.DISCOUNT))
        or arithmetic.triple(goods.row.figures)
    )
    if sound is None and (qty is None or price is None):
        sound = _recovered(goods, price, total)
    if sound is None and qty and total:
        sound = _priced_elsewhere(goods, qty, total)
    name = _without_qty(name, goods, sound)
    if sound is not None:
        return goods.row.cell.found(LineItem(name, *sound), confidence=_CONFIDENT)
    if total is None and price is None:
        return None
    plain = LineItem(
        name,
        # Quantities are seldom so large that a dot groups their thousands.
        qty.readings[-1] if qty else None,
        price.value if price else None,
        total.value if total else None,
    )
    return goods.row.cell.found(plain, confidence=_LIKELY)


def _without_qty(name: str, goods: _Goods, sound: arithmetic.Product | None) -> str:
    """Return a name without the quantity in front of it, where that has no column of its own."""
    if goods.has_qty or sound is None:
        return name
    leading = item_name.leading_qty(name)
    return item_name.without_unit(leading[1]) if leading and leading[0] == sound[0] else name


def _priced_elsewhere(goods: _Goods, qty: Figure, total: Figure) -> arithmetic.Product | None:
    """Look for the price that makes the total: one column may be without the tax, one with it."""
    row = goods.row.figures
    before = next((row[:index] for index, each in enumerate(row) if each.value == total.value), ())
    counts = [each for each in before if each.value == qty.value]
    prices = [each for each in before if each.is_money and each not in counts]
    options = itertools.product(qty.readings[:1], (each.value for each in prices), total.readings)
    return next((each for each in options if each[0] > 1 and arithmetic.agrees(*each)), None)


def _recovered(
    goods: _Goods, price: Figure | None, total: Figure | None
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


def _figure(goods: _Goods, role: Role) -> Figure | None:
    text = goods.cells.get(role)
    # A cell of its own needs no decimals to tell that blanks group its thousands: `45 000`.
    whole = _GROUPED.sub("", text) if text and _BY_BLANKS.fullmatch(text) else text
    every = figures.every(whole, minor=goods.row.minor) if whole else ()
    is_rate = role is Role.DISCOUNT
    return next((each for each in every if is_rate or not each.is_percent), None)
