"""Reads items in rows of name and amount, with details above, below or in the row."""

import itertools
import re
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
    regions,
    sums,
    terminators,
)
from recibo.extract.fields.items.details import Detail, Labelled
from recibo.extract.fields.items.naming import Entry, Layout
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, LineItem, around
from recibo.extract.text import ocr_confusions

#: Rows of one item are at most this many usual row distances apart.
_NEAR = 1.7
#: A code below its heading may be short, and there must be some.
_NUMBERED = re.compile(r"\W*(?P<code>[0-9]{1,6})\W*\s(?=[^\W\d_]{2})")
_FEWEST = 2
# `65 x2`: a price, and how many.
_COUNT_BEHIND = re.compile(r"[0-9]\s[xX×](?P<count>[0-9]{1,2})(?![0-9.,])")
_OF = re.compile(r"^of:\s+")
#: An index begins at most at this position of its row.
_INDEX_PLACE = 3
#: This many rows may begin with 1 and 2 by chance.
_CHANCE = 2
_CONFIDENT, _LIKELY = 0.95, 0.8
#: The numbers of a row in a table of taxes: a code, a rate, an amount and its tax.
_FEWEST_OF_TAX, _MOST_RATE = 4, 100
_HALF_CENT = Decimal("0.005")
#: A quantity and its price are at most this many rows from the total.
_MOST_DETAILS = 2


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the items in rows of name and amount."""
    item_rows = regions.find(rows)
    collector = _Collector()
    for row, price in item_rows:
        collector.add(row, price)
    collected = collector.entries
    outliers = sums.outliers([entry.priced for entry in collected], rows)
    entries = [entry for index, entry in enumerate(collected) if index not in outliers]
    if repaired := sums.repaired([entry.priced for entry in entries], rows):
        index, corrected = repaired
        entries[index].priced = corrected
    reach = _NEAR * _pitch([row for row, _ in item_rows])
    _find_factors(entries, reach)
    _set_counts(entries)
    are_names_below = _are_names_below(entries, reach)
    reads = [entry.priced for entry in entries]
    named = [read for read in reads if read.has_name]
    if all(read.total <= 0 for read in named):
        # All items have their names in other rows.
        whole = (_named_apart(entry, reach, are_below=are_names_below) for entry in entries)
        reads = [read for read in whole if read]
    columns = _columns(rows)
    first = columns[0] if columns else None
    layout = Layout(
        reach=reach,
        are_names_below=are_names_below,
        has_quantities=naming.precede_names(reads) and not _are_indexed(entries, first),
        has_quantities_after_names=naming.follow_names(reads),
        are_indexed=_are_surely_indexed(entries, first) or _are_tax_codes(reads, rows),
        is_headed_qty=Role.QTY in columns and bool({Role.UNIT, Role.UNIT_PRICE} & {*columns}),
        have_pieces=naming.have_pieces(reads),
        have_codes=_have_codes(named, first),
        have_mixed_codes=_have_mixed_codes(named),
        edge=min((read.row.line.box.x0 for read in named), default=0.0),
    )
    items = _in_order([item for entry in entries if (item := _item(entry, layout))])
    return tuple(_without_short_codes(items) if first is Role.CODE else items)


def _in_order(items: Sequence[Extracted[LineItem]]) -> Sequence[Extracted[LineItem]]:
    """Exchange quantities and prices where prices are printed first: `189.00 x 3.00`, `65 x2`."""
    if arithmetic.are_prices_first([item.value for item in items]):
        return [_exchanged(item) for item in items]
    counts = {item: _count_behind(item) for item in items if item.value.qty is not None}
    if len(counts) < _FEWEST or None in counts.values():
        return items
    are_first = {item for item, count in counts.items() if item.value.qty != count}
    return [_exchanged(item) if item in are_first else item for item in items]


def _exchanged(item: Extracted[LineItem]) -> Extracted[LineItem]:
    value = item.value
    return replace(item, value=replace(value, qty=value.unit_price, unit_price=value.qty))


def _count_behind(item: Extracted[LineItem]) -> Decimal | None:
    """Return the smaller factor of a price if it is joined to a sign behind the other one."""
    match, (qty, price) = _COUNT_BEHIND.search(item.text), (item.value.qty, item.value.unit_price)
    if match is None or qty is None or price is None:
        return None
    count = Decimal(match["count"])
    return count if count == min(qty, price) else None


def _without_short_codes(items: Sequence[Extracted[LineItem]]) -> Sequence[Extracted[LineItem]]:
    """Take the numbers before the names out of them if all have one: `20 FISH`, `33 BREAD 1KG`."""
    named = [_NUMBERED.match(item.value.name) for item in items]
    codes = [match["code"] for match in named if match]
    is_index = [int(code) for code in codes] == list(range(1, len(codes) + 1))
    if len(codes) < len(items) or len({*codes}) < _FEWEST or is_index:
        return items
    return [
        replace(item, value=replace(item.value, name=item.value.name[match.end() :]))
        for item, match in zip(items, named, strict=True)
        if match
    ]


def _have_codes(named: Sequence[Priced], first: Role | None) -> bool:
    """Return whether most names begin with a code, or all below its heading with a number."""
    are_numbered = [item_name.strip_short_code(read.words) != read.words for read in named]
    if first is Role.CODE and len(named) > 1 and all(are_numbered):
        return True
    coded = sum(item_name.strip_code(read.words) != read.words for read in named)
    return coded * 2 > len(named)


def _have_mixed_codes(named: Sequence[Priced]) -> bool:
    """Return whether every name begins so, and not all with the same code, one of taxes."""
    codes = [item_name.mixed_code(read.words) for read in named if read.total > 0]
    return all(codes) and len({*codes}) > 1


def _columns(rows: Sequence[Row]) -> list[Role]:
    """Return the roles of the columns from left to right, by their headings."""
    heading = next((headings.read(row) for row in rows if headings.is_heading(row)), [])
    return [column.role for column in heading]


def _find_factors(entries: Sequence[Entry], reach: float) -> None:
    """Find the quantity and the price of each item in the rows around its total."""
    for entry, following in itertools.zip_longest(entries, entries[1:]):
        if entry.priced.factors or entry.qty_and_price:
            continue
        above = _within(entry.above[::-1], entry.priced, reach)
        below = _within(entry.below, entry.priced, reach)
        found = details.around(entry.priced, above, below)
        if found is None:
            continue
        entry.qty_and_price, used, entry.priced = found
        entry.detail_rows = tuple(used)
        entry.above = [row for row in entry.above if row not in used]
        entry.below = [row for row in entry.below if row not in used]
        if following:
            following.above = [row for row in following.above if row not in used]


def _set_counts(entries: Sequence[Entry]) -> None:
    """Set the quantities of a list in which each item has one below: `Quantity: 2`.

    Below a single item it may be the number of all.
    """
    counts = [details.count(entry.counts) for entry in entries]
    if len(entries) > 1 and all(counts):
        for entry, count in zip(entries, counts, strict=True):
            entry.count = count


def _within(rows: Sequence[Row], read: Priced, reach: float) -> list[Row]:
    """Return the rows next to an amount, the nearest first, that may contain quantity and price.

    If the row of the amount has no name, rows with a name are left out.
    """
    return [
        each
        for count, each in enumerate(rows[:_MOST_DETAILS], start=1)
        if abs(naming.distance(read.row, each)) <= count * reach
        and each.line.page == read.row.line.page
        and (read.has_name or not item_name.is_name(item_name.without_units(each.text)))
    ]


def _pitch(rows: Sequence[Row]) -> float:
    """Return the median distance of adjacent rows."""
    steps = [
        naming.distance(upper, lower)
        for upper, lower in itertools.pairwise(rows)
        if upper.line.page == lower.line.page
    ]
    return statistics.median(steps) if steps else 0.0


class _Collector:
    """Collects the rows of each item around its amount, from top to bottom."""

    def __init__(self) -> None:
        """Create an empty list."""
        self.entries: list[Entry] = []
        self._pending: list[Row] = []
        self._waiting: Detail | None = None
        self._labelled: Labelled | None = None

    def add(self, row: Row, price: Priced | None) -> None:
        """Add the next row, and its price if it has one."""
        if (part := details.read_labelled(row)) is not None:
            self._add_labelled(part)
        elif (detail := details.read(row)) is not None:
            if not self._belongs_above(detail):
                self._pending.append(row)
        elif price is None:
            self._pending.append(row)
            if self.entries:
                self.entries[-1].below.append(row)
        elif self.entries and terminators.is_final_price(row):
            _apply_final_price(self.entries, price)
        elif (item := _as_item(price)) is not None:
            self._add_item(item)

    def _add_labelled(self, part: Labelled) -> None:
        """Add a labelled quantity or price: the two together are a detail."""
        detail = details.joined(self._labelled, part) if self._labelled else None
        self._labelled = part
        if self.entries and not part.is_price:
            self.entries[-1].counts.append(part)
        if detail is not None:
            self._belongs_above(detail)

    def _belongs_above(self, detail: Detail) -> bool:
        """Return whether a detail belongs to the item above; else keep it for the next one."""
        if _set_factors(self.entries[-1:], detail):
            return True
        self._waiting = detail
        return False

    def _add_item(self, item: Priced) -> None:
        entry = Entry(item)
        waiting = self._waiting
        if waiting and _set_factors([entry], waiting):
            entry.is_detail_above = True
            self._pending = [row for row in self._pending if row is not waiting.row]
        entry.above = self._pending
        last = self.entries[-1] if self.entries else None
        if last and not self._pending and _is_same_article(last, item):
            entry.above, entry.last = last.above, last.uppermost
        if last:
            is_continued = [item_name.continues(row.text, item.words) for row in self._pending[-1:]]
            last.is_before_name = not item.has_name or any(is_continued)
        self.entries.append(entry)
        self._pending, self._waiting = [], None


def _is_same_article(above: Entry, item: Priced) -> bool:
    """Return whether a row without a name has the same number as the one above it."""
    words = item.words.strip()
    has_number = any(map(str.isdigit, words)) and not item.has_name
    return has_number and above.priced.words.strip() == words


def _set_factors(entries: Sequence[Entry], detail: Detail) -> bool:
    """Set quantity and price of an item from a detail, if they agree with its total."""
    for entry in entries:
        is_open = entry.detail is None and entry.priced.factors is None
        leading = item_name.leading_qty(entry.priced.words)
        counted = leading[0] if leading else None
        if is_open and (qty_and_price := detail.qty_and_price(entry.priced.total, counted=counted)):
            entry.detail, entry.qty_and_price = detail, qty_and_price
            entry.detail_rows = (detail.row,)
            return True
    return False


def _apply_final_price(entries: list[Entry], final: Priced) -> None:
    """Replace an item's price and the discounts on it by the final price."""
    while len(entries) > 1 and entries[-1].priced.total < 0:
        entries.pop()
    entries[-1].priced = replace(entries[-1].priced, total=final.total)


def _as_item(price: Priced) -> Priced | None:
    """Return a row as an item; None for a discount that the total does not include.

    Brazilian totals do not include it, and a discount without a sign is already included in the
    price, unless the remaining price follows it: `OPUST -1,00 4,07`.
    """
    meaning = terminators.meaning(price.row)
    if meaning is Meaning.ON_ITEM:
        # With a sign it may be included: the printed total decides later.
        return price if price.total < 0 else None
    if meaning is not Meaning.DISCOUNT or price.total < 0:
        return price
    taken = next((each for each in price.row.numbers if each.is_money and each.value < 0), None)
    return priced_row.at(price.row, taken) if taken else None


def _are_names_below(entries: Sequence[Entry], reach: float) -> bool:
    """Return whether names are below their amounts: more rows below than above are near enough."""
    nameless = [entry for entry in entries if entry.priced.total > 0 and not entry.priced.has_name]
    above = sum(bool(naming.above(entry, reach)) for entry in nameless)
    below = sum(bool(naming.below(entry, reach)) for entry in nameless)
    is_above = any(_has_name_above(entry, reach) for entry in nameless)
    return below > above or (below == above > 0 and not is_above)


def _has_name_above(entry: Entry, reach: float) -> bool:
    row = entry.above[-1] if entry.above else None
    return (
        row is not None
        and naming.are_near(row, entry.uppermost, reach)
        and item_name.is_name(row.text)
    )


def _are_indexed(entries: Sequence[Entry], first: Role | None) -> bool:
    """Return whether the first numbers of the rows are an index: 1, 2, 3 and so on.

    A single row has an index only below a heading of codes.
    """
    if first is Role.QTY or any(_has_quantity(entry) for entry in entries):
        return False
    counts = [_first_figure(entry) for entry in entries]
    is_enough = len(counts) > 1 or first is Role.CODE
    return is_enough and counts == [Decimal(count) for count in range(1, len(counts) + 1)]


def _has_quantity(entry: Entry) -> bool:
    """Return whether the first number of a row is surely a quantity: a factor, or `2 x`."""
    read = entry.priced
    # In the row below a name, quantity and price come first: `0.352 KG x 49.90`.
    is_product = read.is_product and read.has_name and naming.is_counted(read)
    return is_product or item_name.is_multiplied(read.words)


def _are_surely_indexed(entries: Sequence[Entry], first: Role | None) -> bool:
    """Return whether the index is not a chance: two rows may have the quantities 1 and 2."""
    is_proven = first is Role.CODE or any(entry.priced.factors for entry in entries)
    return _are_indexed(entries, first) and (len(entries) > _CHANCE or is_proven)


def _are_tax_codes(reads: Sequence[Priced], rows: Sequence[Row]) -> bool:
    """Return whether each number before a name is a code in the table of taxes below."""
    counted = [item_name.leading_qty(read.words) for read in reads]
    codes = {leading[0] for leading in counted if leading}
    return bool(codes) and codes <= {row.numbers[0].value for row in rows if _has_tax_code(row)}


def _has_tax_code(row: Row) -> bool:
    """Return whether a row has only a code, a rate, and amounts with the tax at that rate.

    3   20,00   3,83   0,77   4,60
    """
    if len(row.numbers) < _FEWEST_OF_TAX or any(map(str.isalpha, row.text)):
        return False
    code, rate, *amounts = (each.value for each in row.numbers)
    is_taxed = any(
        abs(net * rate / 100 - tax) <= _HALF_CENT
        for net, tax in itertools.permutations(amounts[:_FEWEST_OF_TAX], 2)
    )
    return code == int(code) and 0 < rate < _MOST_RATE and is_taxed


def _first_figure(entry: Entry) -> Decimal | None:
    """Return the number at the start of an item's first row."""
    row = entry.priced.row if entry.priced.has_name else (entry.above or [entry.priced.row])[-1]
    is_first = row.numbers and row.numbers[0].start < _INDEX_PLACE
    return row.numbers[0].value if is_first else None


def _item(entry: Entry, layout: Layout) -> Extracted[LineItem] | None:
    read = _named(entry, layout)
    if read is None:
        return None
    words, qty = _split_name(read, layout)
    if layout.have_pieces and naming.is_counted(read):
        words = item_name.without_piece(words)
    name = item_name.cleaned((words or read.words).replace("\t", " "))
    name = name if read.row.is_exact else ocr_confusions.repaired(name)
    unit_price = None
    qty_and_price = (
        (read.factors.qty, read.factors.unit_price) if read.factors else entry.qty_and_price
    )
    if layout.is_headed_qty:
        qty_and_price = qty_and_price or _taxed(read) or _missing_qty(read)
    if qty_and_price:
        qty, unit_price = qty_and_price
    elif qty is not None and not entry.priced.has_name:
        unit_price = _price_of(qty, entry.priced)
    qty = qty or entry.count or details.count_of_offer(entry.priced.row, entry.priced.total_figure)
    if not name or (read.total == 0 and qty is None):
        return None
    item = _of_several(LineItem(name, qty, unit_price, read.total))
    found = read.row.cell.found(item, confidence=_CONFIDENT if qty_and_price else _LIKELY)
    return replace(found, whole_box=_whole_box(read, entry.detail_rows))


def _of_several(item: LineItem) -> LineItem:
    """Return an item of an order as online shops print it: `2 of: Desk Organizer  $31.98` each."""
    bare = _OF.sub("", item.name)
    if bare == item.name or item.qty is None or item.total is None:
        return item
    return replace(item, name=bare, unit_price=item.total, total=item.total * item.qty)


def _price_of(qty: Decimal, read: Priced) -> Decimal | None:
    """Return the price in the row of a total whose product with the quantity before a name it is.

    `2 Nasi Goreng`, and below it `@ 38.000  76.000`.
    """
    before = [each for each in read.row.numbers if each.end <= read.total_figure.start]
    # A quantity of one proves nothing, but the sign does.
    usable = (
        each
        for each in before
        if not each.is_percent and (qty > 1 or read.row.text[: each.start].rstrip().endswith("@"))
    )
    prices = (one for each in usable for one in each.readings[::-1] if read.total > 0)
    return next((one for one in prices if arithmetic.agrees(qty, one, read.total)), None)


def _whole_box(read: Priced, detail_rows: Sequence[Row]) -> Box | None:
    """Return the box of all rows of an item on the page of its amount."""
    others = [
        each.line.box
        for each in (*read.name_rows, *detail_rows)
        if each.line.page == read.row.line.page
    ]
    return around([read.row.line.box, *others]) if others else None


def _taxed(read: Priced) -> tuple[Decimal, Decimal] | None:
    """Return the quantity and price whose product plus a tax in the row is the total."""
    product = arithmetic.taxed(read.row.numbers, read.total)
    return product[:2] if product else None


def _missing_qty(read: Priced) -> tuple[Decimal, Decimal] | None:
    """Return the quantity that the total implies if only the unit price was read."""
    before = [each for each in read.row.numbers if each.end <= read.total_figure.start]
    # With another amount, the last one may be a tax.
    if not before or not before[-1].is_money or any(each.is_money for each in before[:-1]):
        return None
    qty = arithmetic.missing_qty(before[-1].value, read.total)
    return (qty, before[-1].value) if qty else None


def _named(entry: Entry, layout: Layout) -> Priced | None:
    """Return the price with the name of the item, in its row or a row near it."""
    if entry.priced.has_name:
        return naming.whole_name(entry, layout)
    return _named_apart(entry, layout.reach, are_below=layout.are_names_below)


def _named_apart(entry: Entry, reach: float, *, are_below: bool) -> Priced | None:
    """Return the price with the name in rows above or below it."""
    find = naming.below if are_below else naming.above
    rows = find(entry, reach)
    if not rows:
        # A discount may have only an article number for a name, and `bag` is a unit too.
        words = entry.priced.words
        has_number = entry.priced.total < 0 and any(map(str.isdigit, words))
        return (
            entry.priced if has_number or item_name.is_name(item_name.strip_code(words)) else None
        )
    *before, last = rows
    named = priced_row.of_total(last, entry.priced.total, at=entry.priced)
    words = " ".join([*(row.text for row in before), named.words])
    return replace(named, words=words, name_rows=tuple(rows))


def _split_name(read: Priced, layout: Layout) -> tuple[str, Decimal | None]:
    """Separate the name from an index, a code, a quantity before or after it."""
    if read.name_rows and not read.factors and (found := naming.split_count(read.words)):
        qty, name = found
        return item_name.strip_code(name), qty
    is_after_name = layout.has_quantities_after_names or naming.is_multiplied(read)
    if is_after_name and not read.factors and (counted := naming.after_name(read)):
        qty, name = counted
        return item_name.strip_code(name), qty
    stripped = item_name.strip_code(read.words)
    if stripped == read.words and layout.have_codes:
        stripped = item_name.strip_short_code(read.words)
    if stripped == read.words and layout.have_mixed_codes:
        stripped = item_name.strip_mixed_code(read.words)
    if stripped != read.words:
        return stripped, None
    leading = item_name.leading_qty(read.words)
    is_leading = layout.has_quantities or layout.are_indexed or item_name.is_counted(read.words)
    if leading is None or not is_leading:
        return read.words, None
    qty, name = leading[0], item_name.without_unit_column(leading[1])
    return name, None if read.factors or layout.are_indexed else qty
