"""Goods on a till roll: a name and an amount a row, details above, under or beside."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from recibo.extract.fields import letters
from recibo.extract.fields.item_lines import arithmetic, headings, priced, stops
from recibo.extract.fields.item_lines.priced import Detail, Priced
from recibo.extract.fields.item_lines.rows import Row
from recibo.extract.fields.item_lines.stops import Meaning
from recibo.extract.model import Found, LineItem

#: A row that belongs to another stands within this many heights of it.
_NEAR = 1.9
#: Totals end in one column, give or take this share of the rows' extent.
_COLUMN_SLACK = 0.12
#: So many headings are no count or sum.
_COLUMNS = 3
#: The first goods stand within this many rows of their heading.
_FEW = 6
_CONFIDENT, _LIKELY = 0.95, 0.8


@dataclass
class _Entry:
    """Goods being gathered."""

    priced: Priced
    above: list[Row] = field(default_factory=list)
    below: list[Row] = field(default_factory=list)
    detail: Detail | None = None


def read(rows: Sequence[Row]) -> tuple[Found[LineItem], ...]:
    """Return the goods listed on a roll."""
    minor = _minor(rows)
    entries = _without_sum(list(_in_column(_entries(_region(rows, minor), minor))))
    names_below = _stand_below(entries)
    indexed = _are_indexed(entries)
    return tuple(
        item
        for entry in entries
        if (item := _item(entry, below=names_below, indexed=indexed)) is not None
    )


def _minor(rows: Sequence[Row]) -> int:
    """Return how many decimals money has here: none where amounts are whole by habit."""
    figures = [figure for row in rows for figure in row.figures]
    cents = sum(figure.decimals == 2 for figure in figures)
    marked = sum(figure.has_mark and figure.decimals == 0 for figure in figures)
    grouped = sum(figure.decimals == 0 and abs(figure.value) >= 1000 and figure.end - figure.start in (5, 6, 7) for figure in figures)
    return 2 if cents >= max(marked, 1) or cents >= grouped else 0


def _region(rows: Sequence[Row], minor: int) -> Sequence[Row]:
    """Return the rows from the heading, or the first amount, to before the totals."""
    start = _start(rows)
    region: list[Row] = []
    has_goods = False
    for row in rows[start:]:
        read = priced.read(row, minor=minor)
        is_end = stops.meaning(row) is Meaning.END and not (read and read.is_product)
        if is_end and has_goods:
            return region
        if is_end:
            region = region if has_goods else []
            continue
        if headings.is_heading(row) and not has_goods:
            region = []
            continue
        region.append(row)
        has_goods = has_goods or read is not None
    return region if has_goods else ()


def _start(rows: Sequence[Row]) -> int:
    """Return the row after the heading of the goods; with none, the first one."""
    for index, row in enumerate(rows):
        # `Total items` is a count, though both words head columns elsewhere.
        is_count = stops.meaning(row) is Meaning.END and len(headings.read(row)) < _COLUMNS
        if headings.is_heading(row) and not is_count and _heads_goods(rows[index + 1 : index + 1 + _FEW]):
            return index + 1
    return 0


def _heads_goods(rows: Sequence[Row]) -> bool:
    """Tell whether an amount follows before any total."""
    for row in rows:
        if stops.meaning(row) is Meaning.END:
            return False
        if any(figure.is_money for figure in row.figures):
            return True
    return False


def _entries(rows: Iterable[Row], minor: int) -> list[_Entry]:
    entries: list[_Entry] = []
    pending: list[Row] = []
    waiting: Detail | None = None
    for row in rows:
        detail, read = priced.read_detail(row), priced.read(row, minor=minor)
        if detail is not None:
            if entries and _explains(detail, entries[-1]):
                entries[-1].detail = detail
            else:
                waiting = detail
        elif read is None:
            pending.append(row)
            if entries:
                entries[-1].below.append(row)
        elif _is_no_goods(row, read):
            continue
        elif entries and stops.restates(row):
            _restate(entries, read)
        else:
            entry = _Entry(read, above=pending)
            if waiting and _explains(waiting, entry):
                entry.detail = waiting
            entries.append(entry)
            pending, waiting = [], None
    return entries


def _restate(entries: list[_Entry], final: Priced) -> None:
    """Put the final price in the place of an item's first price and the discounts on it."""
    while len(entries) > 1 and entries[-1].priced.total < 0:
        entries.pop()
    last = entries[-1]
    last.priced = replace(last.priced, total=final.total)


def _is_no_goods(row: Row, read: Priced) -> bool:
    """Tell whether a row is a discount of nothing, or one that a Brazilian total leaves out."""
    meaning = stops.meaning(row)
    return meaning is Meaning.ON_ITEM or (meaning is Meaning.DISCOUNT and read.total == 0)


def _explains(detail: Detail, entry: _Entry) -> bool:
    return (
        entry.detail is None
        and entry.priced.factors is None
        and arithmetic.agrees(detail.qty, detail.unit_price, entry.priced.total)
    )


def _in_column(entries: Sequence[_Entry]) -> Iterator[_Entry]:
    """Leave out amounts that do not end where the others end."""
    if not entries:
        return
    ends = [entry.priced.row.x_at(entry.priced.total_figure.end) for entry in entries]
    column = statistics.median(ends)
    slack = _COLUMN_SLACK * (
        max(entry.priced.row.line.box.x1 for entry in entries)
        - min(entry.priced.row.line.box.x0 for entry in entries)
    )
    for entry, end in zip(entries, ends, strict=True):
        if abs(end - column) <= slack:
            yield entry


def _without_sum(entries: list[_Entry]) -> list[_Entry]:
    """Leave out a last row that is the sum of all others, under whatever name."""
    totals = [entry.priced.total for entry in entries]
    is_sum = len(totals) > 2 and totals[-1] == sum(totals[:-1])
    return entries[:-1] if is_sum and entries[-1].priced.factors is None else entries


def _stand_below(entries: Sequence[_Entry]) -> bool:
    """Tell whether names stand under their amounts: where those above would be too far off."""
    nameless = [entry for entry in entries if entry.priced.total and not entry.priced.has_name]
    above = sum(_near_above(entry) is not None for entry in nameless)
    below = sum(_near_below(entry) is not None for entry in nameless)
    return below > above


def _near_above(entry: _Entry) -> Row | None:
    row = entry.above[-1] if entry.above else None
    return row if row and _are_near(row, entry.priced.row) and _may_name(row) else None


def _near_below(entry: _Entry) -> Row | None:
    row = entry.below[0] if entry.below else None
    return row if row and _are_near(entry.priced.row, row) and _may_name(row) else None


def _are_near(upper: Row, lower: Row) -> bool:
    if upper.line.page != lower.line.page:
        return False
    distance = lower.line.box.y_centre - upper.line.box.y_centre
    return distance < (1 + _NEAR) * max(upper.height, lower.height)


def _may_name(row: Row) -> bool:
    return row.letters > 1


def _are_indexed(entries: Sequence[_Entry]) -> bool:
    """Tell whether the first figures of the rows count the goods: 1, 2, 3 …"""
    counts = []
    for entry in entries:
        names = [entry.priced.row, *entry.above[-1:]] if not entry.priced.has_name else [entry.priced.row]
        firsts = [row.figures[0].value for row in names if row.figures and row.figures[0].start < 3]
        counts.append(firsts[-1] if firsts else None)
    return len(counts) > 1 and counts == [Decimal(count) for count in range(1, len(counts) + 1)]


def _item(entry: _Entry, *, below: bool, indexed: bool) -> Found[LineItem] | None:
    read = entry.priced
    words, row = read.words, read.row
    if not read.has_name:
        named = _near_below(entry) if below else _near_above(entry)
        if named is None:
            return None
        words, row = named.text, named
    words, qty = _split(words, read, indexed=indexed)
    unit_price = None
    if read.factors:
        qty, unit_price = read.factors.qty, read.factors.unit_price
    elif entry.detail:
        qty, unit_price = entry.detail.qty, entry.detail.unit_price
    name = priced.cleaned(words.replace("\t", " "))
    name = name if row.is_exact else letters.mended(name)
    if not name or (read.total == 0 and qty is None):
        return None
    item = LineItem(name, qty, unit_price, read.total)
    cell = read.row.cell
    return cell.found(item, confidence=_CONFIDENT if unit_price is not None else _LIKELY)


def _split(words: str, read: Priced, *, indexed: bool) -> tuple[str, Decimal | None]:
    """Part the name from an index, a code, a quantity in front of it."""
    stripped = priced.strip_code(words)
    if stripped != words:
        return stripped, None
    leading = priced.leading_qty(words)
    if leading is None:
        return words, None
    qty, name = leading
    return (name, None) if indexed or read.factors else (name, qty)
