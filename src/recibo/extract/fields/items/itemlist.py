"""Goods on a till roll: a name and an amount a row, details above, under or beside."""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from recibo.extract.fields.items import (
    details,
    item_name,
    priced_row,
    quantities,
    regions,
    sums,
    terminators,
)
from recibo.extract.fields.items.details import Detail, Labelled
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.layout.item_rows import Row, is_under
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import ocr_confusions

#: Rows of one item stand within this many usual distances of rows.
_NEAR = 1.7
#: An index stands at the very head of its row.
_INDEX_PLACE = 3
#: So many rows may begin with 1 and 2 by chance.
_CHANCE = 2
_CONFIDENT, _LIKELY = 0.95, 0.8
#: No name goes over more rows than this.
_LONGEST_NAME = 3
#: Nor is one looked for in more rows.
_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a roll sets its goods."""

    #: Rows of one item stand at most this far apart, pixels.
    reach: float
    are_names_below: bool
    #: Whether the first figures of the rows are quantities, neither counts nor parts of names.
    has_quantities: bool
    #: Whether a figure between name and total is a quantity.
    has_quantities_behind: bool
    #: Whether they count the goods: 1, 2, 3 and so on.
    are_indexed: bool
    #: Where the goods that stand furthest left begin, pixels.
    edge: float


@dataclass
class _Entry:
    """Goods being gathered."""

    priced: Priced
    above: list[Row] = field(default_factory=list)
    below: list[Row] = field(default_factory=list)
    detail: Detail | None = None
    #: The quantity and the unit price of the detail.
    made: tuple[Decimal, Decimal | None] | None = None
    #: Whether the detail stands above the amount.
    is_led: bool = False
    #: The row of the same article above, which was named there.
    last: Row | None = None

    @property
    def uppermost(self) -> Row:
        """The row of the amount, or of the detail above it."""
        if self.last:
            return self.last
        return self.detail.row if self.detail and self.is_led else self.priced.row


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
    reads = [entry.priced for entry in entries]
    first = _first_column(rows)
    manner = _Manner(
        reach=reach,
        are_names_below=_stand_below(entries, reach),
        has_quantities=quantities.stand_in_front(reads) and not _are_indexed(entries, first),
        has_quantities_behind=quantities.stand_behind(reads),
        are_indexed=_are_surely_indexed(entries, first),
        edge=min((read.row.line.box.x0 for read in reads if read.has_name), default=0.0),
    )
    items = (_item(entry, manner) for entry in entries)
    return tuple(item for item in items if item is not None)


def _first_column(rows: Sequence[Row]) -> Role | None:
    """Return what stands first in the rows of goods, as their headings tell."""
    heading = next((headings.read(row) for row in rows if headings.is_heading(row)), None)
    return heading[0].role if heading else None


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
        self.entries: list[_Entry] = []
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
        entry = _Entry(goods)
        waiting = self._waiting
        if waiting and _explained([entry], waiting):
            entry.is_led = True
            self._pending = [row for row in self._pending if row is not waiting.row]
        entry.above = self._pending
        last = self.entries[-1] if self.entries else None
        if last and not self._pending and _is_same_article(last, goods):
            entry.above, entry.last = last.above, last.uppermost
        self.entries.append(entry)
        self._pending, self._waiting = [], None


def _is_same_article(above: _Entry, goods: Priced) -> bool:
    """Tell whether a row without a name has the same number as the one above it."""
    words = goods.words.strip()
    has_number = any(map(str.isdigit, words)) and not goods.has_name
    return has_number and above.priced.words.strip() == words


def _explained(entries: Sequence[_Entry], detail: Detail) -> bool:
    """Note how the total of an item came about, if the figures agree."""
    for entry in entries:
        is_open = entry.detail is None and entry.priced.factors is None
        leading = item_name.leading_qty(entry.priced.words)
        counted = leading[0] if leading else None
        if is_open and (made := detail.made(entry.priced.total, counted=counted)):
            entry.detail, entry.made = detail, made
            return True
    return False


def _restate(entries: list[_Entry], final: Priced) -> None:
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


def _stand_below(entries: Sequence[_Entry], reach: float) -> bool:
    """Tell whether names stand under their amounts: where those above would be too far off."""
    nameless = [entry for entry in entries if entry.priced.total > 0 and not entry.priced.has_name]
    above = sum(bool(_near_above(entry, reach)) for entry in nameless)
    below = sum(bool(_near_below(entry, reach)) for entry in nameless)
    is_led = any(_is_led_by_name(entry, reach) for entry in nameless)
    return below > above or (below == above > 0 and not is_led)


def _is_led_by_name(entry: _Entry, reach: float) -> bool:
    row = entry.above[-1] if entry.above else None
    return (
        row is not None and _are_near(row, entry.uppermost, reach) and item_name.is_name(row.text)
    )


def _near_above(entry: _Entry, reach: float) -> list[Row]:
    """Return the rows above an amount that name the goods: those from its code on, else one."""
    named: list[Row] = []
    # How the total came about may stand between the name and the total.
    lower = entry.uppermost
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        if not _are_near(row, lower, reach) or _parts_off(row):
            break
        named.insert(0, row)
        lower = row
        bare = item_name.strip_code(row.text)
        if bare != row.text and item_name.is_name(bare) and len(named) <= _LONGEST_NAME:
            return named
    names = [row for row in named if item_name.is_name(row.text)]
    # A size in brackets goes with the name above it.
    has_size = bool(names) and names[-1].text.startswith("(") and names[-1].text.endswith(")")
    return names[-2:] if has_size else _broken(names)


def _parts_off(row: Row) -> bool:
    """Tell whether a row is about money: with columns or figures, or a total's bare label."""
    is_apart = "\t" in row.text or bool(row.figures)
    is_end = terminators.meaning(row) is Meaning.END
    return is_end and (is_apart or terminators.ends_list(row, has_amount=False))


def _broken(rows: Sequence[Row]) -> list[Row]:
    """Return the last row of a name with those above it that it goes on from."""
    name = list(rows[-1:])
    for upper, lower in zip(rows[-2::-1], rows[::-1], strict=False):
        # No goods have the name of a charge alone: `BUFFET SELF` and `SERVICE KG` below it.
        is_rest = terminators.meaning(lower) is not None
        if not is_rest and not item_name.goes_on(upper.text, lower.text):
            break
        name.insert(0, upper)
    return name


def _unbroken(entry: _Entry, manner: _Manner) -> Priced:
    """Return an amount beside its name with the rest of the name from the rows around it."""
    reach, edge = manner.reach, manner.edge
    read = entry.priced
    before: list[Row] = []
    first, lower = read.words, read.row
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        is_of_name = _are_near(row, lower, reach) and item_name.is_name(row.text)
        # What has a quantity of its own is a dish, with a priced addition under it.
        is_head = not before and item_name.leading_qty(row.text) is None
        is_broken = item_name.goes_on(row.text, first) or (is_head and is_under(row, lower, edge))
        if not (is_of_name and is_broken):
            break
        before.insert(0, row)
        first, lower = row.text, row
    behind: list[Row] = []
    last, upper = read.words, read.row
    for row in entry.below[:_MOST_ROWS]:
        is_apart = not _are_near(upper, row, reach) or terminators.meaning(row) is not None
        if is_apart or not item_name.goes_on(last, row.text):
            break
        behind.append(row)
        last, upper = f"{last} {row.text}", row
    parts = [*(row.text for row in before), read.words, *(row.text for row in behind)]
    return replace(read, words=" ".join(parts)) if before or behind else read


def _near_below(entry: _Entry, reach: float) -> list[Row]:
    row = entry.below[0] if entry.below else None
    is_named = row and _are_near(entry.priced.row, row, reach) and item_name.is_name(row.text)
    return [row] if row and is_named else []


def _are_near(upper: Row, lower: Row, reach: float) -> bool:
    distance = lower.line.box.y_centre - upper.line.box.y_centre
    return upper.line.page == lower.line.page and distance <= reach


def _are_indexed(entries: Sequence[_Entry], first: Role | None) -> bool:
    """Tell whether the first figures of the rows count the goods: 1, 2, 3 and so on.

    One row alone is counted under a heading of codes.
    """
    if first is Role.QTY or any(_has_quantity(entry) for entry in entries):
        return False
    counts = [_first_figure(entry) for entry in entries]
    is_enough = len(counts) > 1 or first is Role.CODE
    return is_enough and counts == [Decimal(count) for count in range(1, len(counts) + 1)]


def _has_quantity(entry: _Entry) -> bool:
    """Tell whether the first figure of a row is surely a quantity: multiplied, or `2 x`."""
    read = entry.priced
    # Below its name a product stands at the head of the row all the same: `0.352 KG x 49.90`.
    is_product = read.is_product and read.has_name and quantities.is_counted(read)
    return is_product or item_name.is_multiplied(read.words)


def _are_surely_indexed(entries: Sequence[_Entry], first: Role | None) -> bool:
    """Tell whether that is no chance: two rows may be one of this and two of that."""
    is_told = first is Role.CODE or any(entry.priced.factors for entry in entries)
    return _are_indexed(entries, first) and (len(entries) > _CHANCE or is_told)


def _first_figure(entry: _Entry) -> Decimal | None:
    """Return the figure at the head of an item's first row."""
    row = entry.priced.row if entry.priced.has_name else (entry.above or [entry.priced.row])[-1]
    is_first = row.figures and row.figures[0].start < _INDEX_PLACE
    return row.figures[0].value if is_first else None


def _item(entry: _Entry, manner: _Manner) -> Extracted[LineItem] | None:
    read = _named(entry, manner)
    if read is None:
        return None
    words, qty = _split(read, manner)
    name = item_name.cleaned((words or read.words).replace("\t", " "))
    name = name if read.row.is_exact else ocr_confusions.mended(name)
    unit_price = None
    made = (read.factors.qty, read.factors.unit_price) if read.factors else entry.made
    if made:
        qty, unit_price = made
    qty = qty or details.count_of_offer(entry.priced.row, entry.priced.total_figure)
    if not name or (read.total == 0 and qty is None):
        return None
    item = LineItem(name, qty, unit_price, read.total)
    return read.row.cell.found(item, confidence=_CONFIDENT if made else _LIKELY)


def _named(entry: _Entry, manner: _Manner) -> Priced | None:
    """Return the price with what names the goods: on their own row, or beside it."""
    if entry.priced.has_name:
        return _unbroken(entry, manner)
    look = _near_below if manner.are_names_below else _near_above
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


def _split(read: Priced, manner: _Manner) -> tuple[str, Decimal | None]:
    """Part the name from an index, a code, a quantity in front of it or behind it."""
    stripped = item_name.strip_code(read.words)
    if stripped != read.words:
        return stripped, None
    leading = item_name.leading_qty(read.words)
    if manner.has_quantities_behind and not read.factors and (counted := quantities.behind(read)):
        qty, name = counted
        return item_name.strip_code(name), qty
    if leading is None or not (manner.has_quantities or manner.are_indexed):
        return read.words, None
    qty, name = leading
    return name, None if read.factors or manner.are_indexed else qty
