"""Reads items in tables: columns below headings, descriptions of several rows, several pages."""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, columns, item_name, terminators
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Heading, Role
from recibo.extract.layout.rows import Cell, Row
from recibo.extract.model import Extracted, LineItem, around
from recibo.extract.text import numbers, ocr_confusions
from recibo.extract.text.numbers import Number

#: A name above its figures shares at least this part of the height of a row with them.
_SHARED_HEIGHT = 0.35
#: Rows of one description are at most this many heights apart.
_WRAPPED = 2.2
#: The uncertainty of a column's right edge, in heights, since words differ in length.
_SLACK = 2.5
#: The widest space between words, in heights.
_SPACE = 0.9
_CONFIDENT, _LIKELY = 0.97, 0.8
#: The most tables of a document, and the most rows between headings and first item.
_MOST_TABLES, _MOST_HEAD_ROWS = 60, 40
#: A sum of fewer rows may be a chance.
_FEWEST = 2
#: Items may continue this many rows after a subtotal, below the title of the next part.
_SOON = 4
_CENT = Decimal("0.01")
_FIGURES = frozenset({Role.QTY, Role.UNIT, Role.UNIT_PRICE, Role.TOTAL})
_LETTER = re.compile(r"[^\W\d_]")
_BY_BLANKS = re.compile(r"-?[1-9][0-9]{0,2}(?:\s[0-9]{3})+")
_GROUPED = re.compile(r"(?<=[0-9])\s(?=[0-9]{3})")
# A word, not a code.
_WORD = re.compile(r"[^\W\d_]{3}")
# `PASTA 500G  3 x 0,89`: quantity and price in the column of names.
_PRODUCT_AT_END = re.compile(r"\s[0-9]{1,3}\s?[xX×*]\s?[0-9]+[.,][0-9]{2}\s*$")


@dataclass
class _TableItem:
    """An item of a table and the rows of its name."""

    row: Row
    cells: dict[Role, str]
    name_rows: list[Cell]
    #: Whether the table has a column of quantities, and one of unit prices.
    has_qty: bool
    has_price: bool


def read(rows: Sequence[Row], *, is_narrow: bool = False) -> tuple[Extracted[LineItem], ...]:
    """Return the items of all tables with headings; see `columns.tables` for `is_narrow`."""
    items: list[_TableItem] = []
    tables = list(itertools.islice(columns.tables(rows, is_narrow=is_narrow), _MOST_TABLES))
    starts = [start for start, _ in tables]
    for start, headed in tables:
        page = rows[start - 1].line.page
        # The second row of headings may look like those of a table on the same page.
        later = (other for other in starts if rows[other - 1].line.page > page)
        end = min(later, default=len(rows))
        items.extend(_body(_without_heads(rows, start, end, starts), headed))
    read_items = [item for each in _without_parts(items) if (item := _located(each)) is not None]
    return tuple(_without_sums(read_items))


def _without_heads(rows: Sequence[Row], start: int, end: int, starts: Sequence[int]) -> list[Row]:
    """Return the rows below headings and above the next ones, without the heads of later pages."""
    page = rows[start - 1].line.page
    ends = {rows[other - 1].line.page: other for other in reversed(starts)}
    return [
        row
        for index, row in enumerate(rows[start:end], start)
        if row.line.page == page or index >= ends.get(row.line.page, 0) - 1
    ]


def _without_sums(items: Sequence[Extracted[LineItem]]) -> Iterator[Extracted[LineItem]]:
    """Drop the sums of all rows above, whatever their label, such as amounts carried forward."""
    above, units, count = Decimal(0), Decimal(0), 0
    is_itemized = [bool(item.value.qty or item.value.unit_price) for item in items]
    count_itemized = sum(is_itemized)
    is_closed = False
    for index, item in enumerate(items):
        if is_closed and not arithmetic.is_product(item.value):
            continue
        total, qty = item.value.total or Decimal(0), item.value.qty
        is_bare = item.value.unit_price is None and (qty is None or qty == units)
        has_others = count_itemized > is_itemized[index]
        is_last = index == len(items) - 1
        if is_bare and count >= _FEWEST and total == above and (has_others or is_last):
            is_closed = all(arithmetic.is_product(each.value) for each in items[:index])
            continue
        above, units, count = above + total, units + (qty or 0), count + 1
        yield item


def _without_parts(items: Sequence[_TableItem]) -> Iterator[_TableItem]:
    """Drop the parts of a bundle: indented, and without the unit price that others have."""
    # Discounts of items are indented too.
    unpriced = [Role.UNIT_PRICE not in each.cells and not _is_discount(each) for each in items]
    are_few = sum(unpriced) < len(items) / 2
    lefts = [each.name_rows[0].box.x0 for each in items if each.name_rows]
    edge = min(lefts, default=0.0)
    for each, is_unpriced in zip(items, unpriced, strict=True):
        is_indented = bool(each.name_rows) and each.name_rows[0].box.x0 > edge + each.row.height
        if not (is_indented and is_unpriced and are_few):
            yield each


def _is_discount(item: _TableItem) -> bool:
    total = _figure(item, Role.TOTAL)
    return total is not None and total.value < 0


def _body(rows: Sequence[Row], headed: Sequence[Heading]) -> list[_TableItem]:
    """Return the items below the headings, up to the totals or the next headings."""
    items: list[_TableItem] = []
    reach = _description_reach(headed)
    roles = {column.role for column in headed}
    waiting: Cell | None = None
    # Whether the row that waits for its numbers begins with a code.
    is_headed = False
    head = functools.cache(functools.partial(_head, rows, headed))
    for index, row in enumerate(rows):
        if not items and index == _MOST_HEAD_ROWS:
            return []
        if row.line.page != rows[0].line.page and index in head(row.line.page):
            continue
        placed = columns.place(row, headed)
        name = _name(placed)
        if _is_end(row, placed, items):
            if items and (headings.is_heading(row) or not _resumes(rows[index + 1 :], headed)):
                return items
        elif _is_start(row, placed) and _has_minor_digits(placed, items):
            texts = {role: cell.text for role, cell in placed.items()}
            has_words = name is not None and _WORD.search(name.text) is not None
            is_split = is_headed and has_words and not _is_coded(placed)
            named = [name] if name else []
            if waiting and _leads_to(waiting, row, None if is_split else name):
                named.insert(0, waiting)
            has = Role.QTY in roles, Role.UNIT_PRICE in roles
            items.append(_TableItem(row, texts, named, *has))
        elif name and not _has_columns(placed):
            name = _with_rest(name, placed)
            below = rows[index + 1 : index + 2]
            is_above = bool(below) and _is_as_low(name, below[0])
            is_rest = items and not _is_coded(placed) and not is_above
            if is_rest and _continues(items[-1], row, name, reach):
                items[-1].name_rows.append(name)
            else:
                waiting, is_headed = name, _is_coded(placed)
                continue
        waiting = None
    return items


def _head(rows: Sequence[Row], headed: Sequence[Heading], page: int) -> range:
    """Return the rows above the first product of a page without headings."""
    listed = [(index, row) for index, row in enumerate(rows) if row.line.page == page]
    first = next((index for index, row in listed if _is_reconciled(row, headed)), None)
    if first is None or any(headings.is_heading(row) for _, row in listed):
        return range(0)
    return range(listed[0][0], first)


def _is_coded(placed: dict[Role, Cell]) -> bool:
    """Return whether a row has a number in the column of codes."""
    code = placed.get(Role.CODE)
    return code is not None and any(map(str.isdigit, code.text))


def _leads_to(upper: Cell, row: Row, name: Cell | None) -> bool:
    """Return whether a name begins in the row above its numbers, which are at its middle or end."""
    is_near = row.line.box.y_center - upper.box.y_center < _WRAPPED * upper.box.height
    is_whole = ":" in upper.text or upper.words[0].page != row.line.page
    is_next = name is None or name.text[:1].islower() or _is_as_low(upper, row)
    return is_near and not is_whole and is_next


def _is_as_low(upper: Cell, row: Row) -> bool:
    """Return whether a name is partly as low as the next row: figures are at its middle.

    Only a text layer is exact enough.
    """
    shared = upper.box.y1 - row.line.box.y0
    is_figured = row.is_exact and any(row.is_money(amount) for amount in row.amounts)
    return is_figured and shared > _SHARED_HEIGHT * min(upper.box.height, row.line.box.height)


def _is_full(upper: Cell, lower: Cell, reach: float) -> bool:
    """Return whether a row of a description is full: the next word has no room in it."""
    return upper.box.x1 + lower.words[0].box.width + _SLACK * lower.box.height > reach


def _has_columns(placed: dict[Role, Cell]) -> bool:
    """Return whether a row has numbers in the columns, and so is not part of the row above."""
    cells = (placed.get(role) for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL))
    return any(cell is not None and numbers.is_number(cell.text) for cell in cells)


def _name(placed: dict[Role, Cell]) -> Cell | None:
    """Return the name of an item: of both name columns, but without a code in the first."""
    name, detail = placed.get(Role.NAME), placed.get(Role.DETAIL)
    if name is None and detail is None:
        # The name of a charge without a quantity may begin in the quantity column.
        first = placed.get(Role.QTY)
        return first if first and _WORD.search(first.text) and not _has_figure(first) else None
    if name is None or (detail and not _WORD.search(name.text)):
        return detail
    return Cell(name.words + detail.words) if detail else name


def _with_rest(name: Cell, placed: dict[Role, Cell]) -> Cell:
    """Return a name with its last words, which reach into the columns of numbers."""
    words = list(name.words)
    cells = (cell for role, cell in placed.items() if role in _FIGURES)
    for cell in sorted(cells, key=lambda cell: cell.box.x0):
        gap = cell.box.x0 - words[-1].box.x1
        if 0 <= gap < _SPACE * cell.box.height and item_name.without_units(cell.text).strip(" ."):
            words += cell.words
    return Cell(tuple(words))


def _resumes(rows: Sequence[Row], headed: Sequence[Heading]) -> bool:
    """Return whether items continue after a sum: quantity, price and their product follow soon."""
    for row in rows[:_SOON]:
        if headings.is_heading(row):
            return False
        if _is_reconciled(row, headed):
            return True
    return False


def _is_reconciled(row: Row, headed: Sequence[Heading]) -> bool:
    """Return whether a row has a name, a quantity, a price and their product in the columns."""
    placed = columns.place(row, headed)
    figures_of = [
        next(numbers.every(placed[role].text, minor=row.minor), None) if role in placed else None
        for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL)
    ]
    return bool(_name(placed) and arithmetic.reconciled(*figures_of))


def _is_end(row: Row, placed: dict[Role, Cell], items: Sequence[_TableItem]) -> bool:
    """Return whether a row is a total or a heading."""
    if _has_figure(placed.get(Role.QTY)) and _has_figure(placed.get(Role.UNIT_PRICE)):
        return False
    # A row with a date is an item, even with a word for a payment or tax.
    has_day = Role.DATE in placed and placed[Role.DATE].text[:1].isdigit()
    if has_day and Role.TOTAL in placed and not terminators.is_total(row):
        return False
    if Role.TOTAL in placed and items and _is_charge_below_items(row, items):
        return False
    return terminators.ends_table(row) or headings.is_heading(row)


def _is_charge_below_items(row: Row, items: Sequence[_TableItem]) -> bool:
    """Return whether a row is a charge such as delivery, aligned with the item or name above."""
    last = items[-1]
    edges = [last.row.line.box.x0, *(cell.box.x0 for cell in last.name_rows[:1])]
    is_below = any(abs(row.line.box.x0 - edge) < row.height for edge in edges)
    return is_below and terminators.meaning(row) is Meaning.CHARGE


def _description_reach(headed: Sequence[Heading]) -> float:
    """Return the left edge of the column right of the name column."""
    name = next(column for column in headed if column.role is Role.NAME)
    return min((column.x0 for column in headed if column.x0 > name.x1), default=float("inf"))


def _is_start(row: Row, placed: dict[Role, Cell]) -> bool:
    """Return whether a row begins an item: an amount, with a name or a quantity."""
    has_amount = any(_has_amount(placed.get(role)) for role in (Role.TOTAL, Role.UNIT_PRICE))
    has_head = Role.NAME in placed or Role.QTY in placed
    return has_head and (has_amount or arithmetic.triple(row.numbers) is not None)


def _has_minor_digits(placed: dict[Role, Cell], items: Sequence[_TableItem]) -> bool:
    """Return whether a row has an amount written as such, if all items above have one.

    The last rows of a page contain other numbers.
    """
    if not items or not all(map(_is_priced, (item.cells for item in items))):
        return True
    return _is_priced({role: cell.text for role, cell in placed.items()})


def _is_priced(cells: dict[Role, str]) -> bool:
    texts = (cells.get(role, "") for role in (Role.TOTAL, Role.UNIT_PRICE))
    return any(figure.has_minor for text in texts for figure in numbers.every(text))


def _continues(current: _TableItem, row: Row, cell: Cell, reach: float) -> bool:
    """Return whether a row continues the description above, which ends at the column's edge."""
    if not current.name_rows:
        return True
    last = current.name_rows[-1]
    is_near = cell.box.y_center - last.box.y_center < _WRAPPED * cell.box.height
    is_whole = ":" in cell.text or row.line.page != current.row.line.page
    is_whole = is_whole or item_name.is_choice(cell.text)
    is_broken = item_name.continues(last.text, cell.text) or _is_full(last, cell, reach)
    # Unlike on a till receipt, a note begins with a capital or an abbreviation: `inkl. Batterie`.
    first = cell.text.split()[0].strip(",;")
    is_broken = is_broken or (first.isalpha() and first.islower())
    is_broken = is_broken or _is_around(last, current.row, cell)
    return is_near and not is_whole and is_broken


def _is_around(upper: Cell, row: Row, lower: Cell) -> bool:
    """Return whether the figures of a row are at the middle of two rows of its name."""
    height = row.line.box.height
    above = row.line.box.y_center - upper.box.y_center
    below = lower.box.y_center - row.line.box.y_center
    is_apart = min(above, below) > _SHARED_HEIGHT * height and max(above, below) < height
    return row.is_exact and is_apart and abs(above - below) < _SHARED_HEIGHT * height


def _has_amount(cell: Cell | None) -> bool:
    """Return whether a cell contains a number that is not a measure, `10KG`."""
    found = numbers.every(cell.text) if cell else ()
    return any(figure.is_money or not figure.has_unit for figure in found)


def _has_figure(cell: Cell | None) -> bool:
    return cell is not None and any(True for _ in numbers.every(cell.text))


def _located(item: _TableItem) -> Extracted[LineItem] | None:
    """Return an item with the box of all its rows."""
    found = _item(item)
    page = item.row.line.page
    names = [cell.box for cell in item.name_rows if cell.words[0].page == page]
    return replace(found, whole_box=around([item.row.line.box, *names])) if found else None


def _item(item: _TableItem) -> Extracted[LineItem] | None:
    name = item_name.cleaned(" ".join(cell.text for cell in item.name_rows))
    name = name if item.row.is_exact else ocr_confusions.repaired(name)
    # Quantity and price are not a name: `25 UN X 5,10` below headings in two rows.
    is_product = any(map(str.isdigit, name)) and not _LETTER.search(item_name.without_units(name))
    is_unit = item_name.is_unit_and_sign(name)
    if is_product or is_unit or not _LETTER.search(name) or headings.are_headings(name):
        return None
    qty, price, total = (_figure(item, role) for role in (Role.QTY, Role.UNIT_PRICE, Role.TOTAL))
    product = (
        arithmetic.reconciled(qty, price, total)
        or arithmetic.less_discount(qty, price, total, _figure(item, Role.DISCOUNT))
        or _hired(item, qty, price, total)
        or arithmetic.triple(item.row.numbers)
        or (arithmetic.taxed(item.row.numbers, total.value) if total else None)
    )
    if product is None and (qty is None or price is None):
        product = _recovered(item, price, total)
    if product is None and qty and total:
        product = _priced_elsewhere(item, qty, total) or _missing_price(item, qty, total)
    name = _without_qty(name, item, product)
    if product is not None:
        return item.row.cell.found(LineItem(name, *product), confidence=_CONFIDENT)
    if total is None and price is None:
        return None
    plain = LineItem(
        name,
        # In quantities a dot is rarely a thousands separator.
        qty.readings[-1] if qty else None,
        price.value if price else None,
        total.value if total else None,
    )
    return item.row.cell.found(plain, confidence=_LIKELY)


def _without_qty(name: str, item: _TableItem, product: arithmetic.Product | None) -> str:
    """Return a name without the quantity before it, if there is no quantity column."""
    if item.has_qty or product is None:
        return name
    if match := _PRODUCT_AT_END.search(name):
        printed = {figure.value for figure in numbers.every(match[0])}
        name = name[: match.start()] if printed == set(product[:2]) else name
    leading = item_name.leading_qty(name)
    return item_name.without_unit(leading[1]) if leading and leading[0] == product[0] else name


def _priced_elsewhere(item: _TableItem, qty: Number, total: Number) -> arithmetic.Product | None:
    """Find the price that agrees with the total: columns may be without or with tax."""
    row = item.row.numbers
    before = next((row[:index] for index, each in enumerate(row) if each.value == total.value), ())
    counts = [each for each in before if each.value == qty.value]
    prices = [each for each in before if each.is_money and each not in counts]
    options = itertools.product(qty.readings[:1], (each.value for each in prices), total.readings)
    return next((each for each in options if each[0] > 1 and arithmetic.agrees(*each)), None)


def _hired(
    item: _TableItem, qty: Number | None, price: Number | None, total: Number | None
) -> arithmetic.Product | None:
    """Return what is hired by the day, if quantity, price and days make the total."""
    if qty is None or price is None or total is None:
        return None
    counts = (each.value for each in item.row.numbers if not each.is_money and each.value > 1)
    is_hired = any(days * qty.value * price.value == total.value for days in counts)
    return (qty.value, price.value, total.value) if is_hired else None


def _missing_price(item: _TableItem, qty: Number, total: Number) -> arithmetic.Product | None:
    """Return the price that quantity and total imply if OCR missed the price in its column."""
    count = qty.readings[-1]
    is_missed = item.has_price and not item.row.is_exact and Role.UNIT_PRICE not in item.cells
    if not is_missed or count <= 1 or total.value <= 0:
        return None
    price = (total.value / count).quantize(_CENT)
    return (count, price, total.value) if price * count == total.value else None


def _recovered(
    item: _TableItem, price: Number | None, total: Number | None
) -> arithmetic.Product | None:
    """Find quantity and price anywhere in the row, in case a column was missed.

    If the quantity column is empty, OCR missed the quantity, and the total implies it.
    """
    if total is None:
        return None
    row = item.row.numbers
    ends = [index for index, figure in enumerate(row) if figure.value == total.value]
    found = arithmetic.factors(row[: ends[-1]], total.value) if ends else None
    if found is not None:
        return found.qty, found.unit_price, total.value
    qty = arithmetic.missing_qty(price.value, total.value) if price and item.has_qty else None
    return (qty, price.value, total.value) if qty and price else None


def _figure(item: _TableItem, role: Role) -> Number | None:
    text = item.cells.get(role)
    # In a separate cell spaces are thousands separators even without decimals: `45 000`.
    whole = _GROUPED.sub("", text) if text and _BY_BLANKS.fullmatch(text) else text
    every = numbers.every(whole, minor=item.row.minor) if whole else ()
    is_rate = role is Role.DISCOUNT
    return next(
        (each for each in every if (is_rate or not each.is_percent) and not each.is_code), None
    )
