"""Goods on a till roll: a name and an amount a row, details above, under or beside."""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.items import (
    arithmetic,
    details,
    item_name,
    naming,
    priced_row,
    quantities,
    regions,
    sums,
    terminators,
)
from recibo.extract.fields.items.details import Detail, Labelled
from recibo.extract.fields.items.naming import Entry, Manner
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.layout.item_rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import ocr_confusions

#: Rows of one item stand within this many usual distances of rows.
_NEAR = 1.7
#: An index stands at the very head of its row.
_INDEX_PLACE = 3
#: So many rows may begin with 1 and 2 by chance.
_CHANCE = 2
_CONFIDENT, _LIKELY = 0.95, 0.8
#: A quantity and its price stand within so many rows of the total.
_MOST_DETAILS = 2


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the goods listed on a roll."""
    goods = regions.goods(rows)
    gathering = _Gathering()
    for row, price in goods:
        gathering.take(row, price)
    gathered = gathering.entries
    strangers = sums.strangers([entry.priced for entry in gathered], rows)
    entries = [entry for index, entry in enumerate(gathered) if index not in strangers]
    if mended := sums.mended([entry.priced for entry in entries], rows):
        index, right = mended
        entries[index].priced = right
    reach = _NEAR * _pitch([row for row, _ in goods])
    _explain(entries, reach)
    reads = [entry.priced for entry in entries]
    named = [read for read in reads if read.has_name]
    columns = _columns(rows)
    first = columns[0] if columns else None
    manner = Manner(
        reach=reach,
        are_names_below=_stand_below(entries, reach),
        has_quantities=quantities.stand_in_front(reads) and not _are_indexed(entries, first),
        has_quantities_behind=quantities.stand_behind(reads),
        are_indexed=_are_surely_indexed(entries, first),
        is_headed_qty=Role.QTY in columns and bool({Role.UNIT, Role.UNIT_PRICE} & {*columns}),
        have_codes=_have_codes(named),
        edge=min((read.row.line.box.x0 for read in named), default=0.0),
    )
    items = (_item(entry, manner) for entry in entries)
    return tuple(item for item in items if item is not None)


def _have_codes(named: Sequence[Priced]) -> bool:
    coded = sum(item_name.strip_code(read.words) != read.words for read in named)
    return coded * 2 > len(named)


def _columns(rows: Sequence[Row]) -> list[Role]:
    """Return what stands in the rows of goods, from left to right, as their headings tell."""
    heading = next((headings.read(row) for row in rows if headings.is_heading(row)), [])
    return [column.role for column in heading]


def _explain(entries: Sequence[Entry], reach: float) -> None:
    """Find the quantity and the price of each item in the rows around its total."""
    for entry, following in itertools.zip_longest(entries, entries[1:]):
        if entry.priced.factors or entry.made:
            continue
        above = _within(entry.above[::-1], entry.priced, reach)
        below = _within(entry.below, entry.priced, reach)
        found = details.around(entry.priced, above, below)
        if found is None:
            continue
        entry.made, used, entry.priced = found
        entry.above = [row for row in entry.above if row not in used]
        entry.below = [row for row in entry.below if row not in used]
        if following:
            following.above = [row for row in following.above if row not in used]


def _within(rows: Sequence[Row], read: Priced, reach: float) -> list[Row]:
    """Return the rows next to an amount, the nearest first, that may tell how it came about.

    Without a name of its own, it has it from them.
    """
    return [
        each
        for count, each in enumerate(rows[:_MOST_DETAILS], start=1)
        if abs(each.line.box.y_centre - read.row.line.box.y_centre) <= count * reach
        and each.line.page == read.row.line.page
        and (read.has_name or not item_name.is_name(item_name.without_units(each.text)))
    ]


def _pitch(rows: Sequence[Row]) -> float:
    """Return the usual distance from row to row."""
    steps = [
        lower.line.box.y_centre - upper.line.box.y_centre
        for upper, lower in itertools.pairwise(rows)
        if upper.line.page == lower.line.page
    ]
    return statistics.median(steps) if steps else 0.0


class _Gathering:
    """Gathers the rows of each item around its amount, as they come."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.entries: list[Entry] = []
        self._pending: list[Row] = []
        self._waiting: Detail | None = None
        self._labelled: Labelled | None = None

    def take(self, row: Row, price: Priced | None) -> None:
        """Take the next row, and its price if it has one."""
        if (part := details.read_labelled(row)) is not None:
            self._take_part(part)
        elif (detail := details.read(row)) is not None:
            if not self._is_explained(detail):
                self._pending.append(row)
        elif price is None:
            self._pending.append(row)
            if self.entries:
                self.entries[-1].below.append(row)
        elif self.entries and terminators.restates(row):
            _restate(self.entries, price)
        elif (goods := _as_goods(price)) is not None:
            self._take_goods(goods)

    def _take_part(self, part: Labelled) -> None:
        """Take a quantity or a price with its word: two of them make a detail."""
        detail = details.joined(self._labelled, part) if self._labelled else None
        self._labelled = part
        if detail is not None:
            self._is_explained(detail)

    def _is_explained(self, detail: Detail) -> bool:
        """Tell whether a detail belongs to the item above; else it waits for the next one."""
        if _explained(self.entries[-1:], detail):
            return True
        self._waiting = detail
        return False

    def _take_goods(self, goods: Priced) -> None:
        entry = Entry(goods)
        waiting = self._waiting
        if waiting and _explained([entry], waiting):
            entry.is_led = True
            self._pending = [row for row in self._pending if row is not waiting.row]
        entry.above = self._pending
        last = self.entries[-1] if self.entries else None
        if last and not self._pending and _is_same_article(last, goods):
            entry.above, entry.last = last.above, last.uppermost
        if last:
            leads_on = [item_name.goes_on(row.text, goods.words) for row in self._pending[-1:]]
            last.is_before_name = not goods.has_name or any(leads_on)
        self.entries.append(entry)
        self._pending, self._waiting = [], None


def _is_same_article(above: Entry, goods: Priced) -> bool:
    """Tell whether a row without a name has the same number as the one above it."""
    words = goods.words.strip()
    has_number = any(map(str.isdigit, words)) and not goods.has_name
    return has_number and above.priced.words.strip() == words


def _explained(entries: Sequence[Entry], detail: Detail) -> bool:
    """Note how the total of an item came about, if the figures agree."""
    for entry in entries:
        is_open = entry.detail is None and entry.priced.factors is None
        leading = item_name.leading_qty(entry.priced.words)
        counted = leading[0] if leading else None
        if is_open and (made := detail.made(entry.priced.total, counted=counted)):
            entry.detail, entry.made = detail, made
            return True
    return False


def _restate(entries: list[Entry], final: Priced) -> None:
    """Put the final price in the place of an item's first price and the discounts on it."""
    while len(entries) > 1 and entries[-1].priced.total < 0:
        entries.pop()
    entries[-1].priced = replace(entries[-1].priced, total=final.total)


def _as_goods(price: Priced) -> Priced | None:
    """Return a row as goods; None for a discount that takes nothing off the sum of the rows.

    A Brazilian total leaves it out, and a discount without a sign tells of one already taken,
    unless the price that is left stands behind it: `OPUST -1,00 4,07`.
    """
    meaning = terminators.meaning(price.row)
    if meaning is Meaning.ON_ITEM:
        # With its sign it may count all the same: the printed total tells.
        return price if price.total < 0 else None
    if meaning is not Meaning.DISCOUNT or price.total < 0:
        return price
    taken = next((each for each in price.row.figures if each.is_money and each.value < 0), None)
    return priced_row.at(price.row, taken) if taken else None


def _stand_below(entries: Sequence[Entry], reach: float) -> bool:
    """Tell whether names stand under their amounts: where those above would be too far off."""
    nameless = [entry for entry in entries if entry.priced.total > 0 and not entry.priced.has_name]
    above = sum(bool(naming.above(entry, reach)) for entry in nameless)
    below = sum(bool(naming.below(entry, reach)) for entry in nameless)
    is_led = any(_is_led_by_name(entry, reach) for entry in nameless)
    return below > above or (below == above > 0 and not is_led)


def _is_led_by_name(entry: Entry, reach: float) -> bool:
    row = entry.above[-1] if entry.above else None
    return (
        row is not None
        and naming.are_near(row, entry.uppermost, reach)
        and item_name.is_name(row.text)
    )


def _are_indexed(entries: Sequence[Entry], first: Role | None) -> bool:
    """Tell whether the first figures of the rows count the goods: 1, 2, 3 and so on.

    One row alone is counted under a heading of codes.
    """
    if first is Role.QTY or any(_has_quantity(entry) for entry in entries):
        return False
    counts = [_first_figure(entry) for entry in entries]
    is_enough = len(counts) > 1 or first is Role.CODE
    return is_enough and counts == [Decimal(count) for count in range(1, len(counts) + 1)]


def _has_quantity(entry: Entry) -> bool:
    """Tell whether the first figure of a row is surely a quantity: multiplied, or `2 x`."""
    read = entry.priced
    # Below its name a product stands at the head of the row all the same: `0.352 KG x 49.90`.
    is_product = read.is_product and read.has_name and quantities.is_counted(read)
    return is_product or item_name.is_multiplied(read.words)


def _are_surely_indexed(entries: Sequence[Entry], first: Role | None) -> bool:
    """Tell whether that is no chance: two rows may be one of this and two of that."""
    is_told = first is Role.CODE or any(entry.priced.factors for entry in entries)
    return _are_indexed(entries, first) and (len(entries) > _CHANCE or is_told)


def _first_figure(entry: Entry) -> Decimal | None:
    """Return the figure at the head of an item's first row."""
    row = entry.priced.row if entry.priced.has_name else (entry.above or [entry.priced.row])[-1]
    is_first = row.figures and row.figures[0].start < _INDEX_PLACE
    return row.figures[0].value if is_first else None


def _item(entry: Entry, manner: Manner) -> Extracted[LineItem] | None:
    read = _named(entry, manner)
    if read is None:
        return None
    words, qty = _split(read, manner)
    name = item_name.cleaned((words or read.words).replace("\t", " "))
    name = name if read.row.is_exact else ocr_confusions.mended(name)
    unit_price = None
    made = (read.factors.qty, read.factors.unit_price) if read.factors else entry.made
    made = made or (_lost_qty(read) if manner.is_headed_qty else None)
    if made:
        qty, unit_price = made
    qty = qty or details.count_of_offer(entry.priced.row, entry.priced.total_figure)
    if not name or (read.total == 0 and qty is None):
        return None
    item = LineItem(name, qty, unit_price, read.total)
    return read.row.cell.found(item, confidence=_CONFIDENT if made else _LIKELY)


def _lost_qty(read: Priced) -> tuple[Decimal, Decimal] | None:
    """Return the quantity that the total tells where only the price of one was read beside it."""
    before = [each for each in read.row.figures if each.end <= read.total_figure.start]
    if not before or not before[-1].is_money:
        return None
    qty = arithmetic.missing_qty(before[-1].value, read.total)
    return (qty, before[-1].value) if qty else None


def _named(entry: Entry, manner: Manner) -> Priced | None:
    """Return the price with what names the goods: on their own row, or beside it."""
    if entry.priced.has_name:
        return naming.unbroken(entry, manner)
    look = naming.below if manner.are_names_below else naming.above
    rows = look(entry, manner.reach)
    if not rows:
        # What is taken off may bear no name but the number of the article, and a bag is a unit too.
        words = entry.priced.words
        has_number = entry.priced.total < 0 and any(map(str.isdigit, words))
        return (
            entry.priced if has_number or item_name.is_name(item_name.strip_code(words)) else None
        )
    *before, last = rows
    named = priced_row.of_total(last, entry.priced.total, at=entry.priced)
    return replace(named, words=" ".join([*(row.text for row in before), named.words]))


def _split(read: Priced, manner: Manner) -> tuple[str, Decimal | None]:
    """Part the name from an index, a code, a quantity in front of it or behind it."""
    if manner.has_quantities_behind and not read.factors and (counted := quantities.behind(read)):
        qty, name = counted
        return item_name.strip_code(name), qty
    stripped = item_name.strip_code(read.words)
    if stripped == read.words and manner.have_codes:
        stripped = item_name.strip_short_code(read.words)
    if stripped != read.words:
        return stripped, None
    leading = item_name.leading_qty(read.words)
    if leading is None or not (manner.has_quantities or manner.are_indexed):
        return read.words, None
    qty, name = leading
    return name, None if read.factors or manner.are_indexed else qty
