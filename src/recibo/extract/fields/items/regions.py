"""Finds the rows of items: below their heading, above the totals, with amounts in a column."""

import itertools
import statistics
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import details, item_name, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon

#: A row, and its price if it has one in the column of the totals.
PricedRow = tuple[Row, Priced | None]

#: The amounts of items end at the same x, within this share of the rows' width.
_COLUMN_SLACK = 0.12
#: The same for numbers without other evidence of being prices.
_CLOSE = 0.05
#: A row with this many headings is not a count or sum.
_COLUMNS = 3
#: The first item is at most this many rows below the heading.
_MOST_ROWS_TO_ITEM = 6
#: The total is at most this many rows below a charge.
_MOST_ROWS_TO_TOTAL = 200
#: Fewer totals may be above the items, such as one in the header.
_MOST_TOTALS_IN_HEADER = 2
#: The labels of numbers, of the document first.
_NUMBERS = ("number", "order_number", "weak_number", "other_number")
#: The most amounts whose sums are tried.
_MOST_PROVEN = 150
#: So many grouped amounts, and so many times those with cents, show that amounts have no decimals.
_FEWEST_GROUPED, _OUTVOTED = 4, 3
#: Prices of currencies without decimals have thousands.
_THOUSAND = 1000


def find(rows: Sequence[Row]) -> list[PricedRow]:
    """Return the rows of the items, each with its price."""
    minor = _minor(rows)
    first = _first_row(rows, minor)
    read = [
        (row, None if _is_not_priced(row) else priced_row.read(row, minor=minor))
        for row in rows[first:]
    ]
    region = _between(read)
    if _adds_up(region, rows):
        return region
    if minor:
        region = _in_column(region)
        return region if any(read for _, read in region) else _proven(read, rows)
    region = _between(_aligned_with_totals(read))
    return region if _adds_up(region, rows) else _in_column(region)


def _is_not_priced(row: Row) -> bool:
    return _is_detail(row) or _is_number(row)


def _is_number(row: Row) -> bool:
    """Return whether a row contains a number of the document, similar to a price without decimals.

    A number next to a date and time is that of a table or till.
    """
    if not row.numbers or any(figure.is_money for figure in row.numbers):
        return False
    if item_name.has_hour(row.text):
        return True
    label = row.text[: row.numbers[0].start]
    found = lexicon.phrasebook(*_NUMBERS).find(label)
    named = sum(_letters(label[phrase.start : phrase.end]) for phrase in found)
    return bool(found) and 2 * named > _letters(label)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_detail(row: Row) -> bool:
    """Return whether a row has only the quantity and price of an item; it does not end the list."""
    return details.read(row) is not None or details.read_labelled(row) is not None


def _aligned_with_totals(rows: list[PricedRow]) -> list[PricedRow]:
    """Remove the prices that do not end at the same x as the total.

    Without decimals every number looks like a price: a table number, a year. A number with a
    currency symbol, or one of thousands with a separator, is a price at any place.
    """
    totals = [read for row, read in rows if read and terminators.is_total(row)]
    # The code after a total may be in the column of the items' last digits.
    ends = [statistics.median(map(end, totals)) for end in (_end, _end_of_row)] if totals else []
    if any(map(_is_grouped, totals)):
        # Then a long number without separators is something else, such as a postcode.
        rows = [(row, read if read and _may_be_price(read) else None) for row, read in rows]
    return _in_column(rows, at=ends, slack=_CLOSE) if ends else rows


def _is_grouped(read: Priced) -> bool:
    figure = read.total_figure
    return any(sign in ".,'" for sign in read.row.text[figure.start : figure.end])


def _may_be_price(read: Priced) -> bool:
    return read.total < _THOUSAND or read.total_figure.has_symbol or _is_grouped(read)


def _adds_up(region: Sequence[PricedRow], rows: Sequence[Row]) -> bool:
    """Return whether the sum of several amounts is printed as a total: then all of them are items.

    Their amounts need no column: each may follow its name directly.
    """
    amounts = [read.total for _, read in region if read]
    return len(amounts) > 1 and sum(amounts) in terminators.totals(rows)


def _proven(rows: Sequence[PricedRow], all_rows: Sequence[Row]) -> list[PricedRow]:
    """Return the longest run of named amounts with a printed total as their sum, else none.

    A card slip may be between the items and their total.
    """
    totals = terminators.totals([row for row in all_rows if terminators.is_total(row)])
    priced = [(index, read) for index, (_, read) in enumerate(rows) if read][:_MOST_PROVEN]
    sums = list(itertools.accumulate((read.total for _, read in priced), initial=Decimal(0)))
    others = list(itertools.accumulate((not _is_item(each) for _, each in priced), initial=0))
    for count in range(len(priced), 1, -1):
        for start in range(len(priced) - count + 1):
            end = start + count
            if sums[end] - sums[start] in totals and others[end] == others[start]:
                first = priced[start - 1][0] + 1 if start else 0
                return list(rows[first : priced[end - 1][0] + 1])
    return []


def _is_item(read: Priced) -> bool:
    return read.has_name and terminators.meaning(read.row) not in terminators.ENDS


def _minor(rows: Sequence[Row]) -> int:
    """Return the decimals of amounts: none if most are whole numbers."""
    figures = [figure for row in rows for figure in row.numbers]
    cents = sum(figure.has_minor and not figure.has_unit for figure in figures)
    marked = sum(figure.has_symbol and figure.decimals == 0 for figure in figures)
    # `12.000` and `1,500`: grouped, so neither a code nor a year.
    grouped = sum(len(figure.readings) > 1 and figure.value >= _THOUSAND for figure in figures)
    if not cents and any(terminators.is_total(row) and row.numbers for row in rows):
        return 0
    # A few amounts with cents among many grouped ones have a misread separator.
    is_grouped = grouped >= _FEWEST_GROUPED and grouped > _OUTVOTED * cents
    return 2 if (cents >= max(marked, 1) and not is_grouped) or cents >= grouped else 0


def _first_row(rows: Sequence[Row], minor: int) -> int:
    """Return the index of the row after the heading of the items; 0 without a heading.

    A heading below totals and payments is that of a tax table.
    """
    seen = 0
    for index, row in enumerate(rows):
        seen += terminators.meaning(row) in terminators.ENDS and any(
            each.is_money for each in row.numbers
        )
        if seen >= _MOST_TOTALS_IN_HEADER:
            return 0
        if not headings.is_heading(row):
            continue
        if not _is_count(row) and _precedes_items(
            rows[index + 1 : index + 1 + _MOST_ROWS_TO_ITEM], minor
        ):
            return index + 1
    return 0


def _is_count(row: Row) -> bool:
    """Return whether a row is `Total items` or the like, whose words are headings elsewhere."""
    found = headings.read(row)
    has_price = any(heading.role is Role.UNIT_PRICE for heading in found)
    is_headed = "\t" in row.text and not row.numbers and found[0].role is Role.NAME
    is_short = len(found) < _COLUMNS and not has_price and not is_headed
    return terminators.meaning(row) in terminators.ENDS and is_short


def _precedes_items(rows: Sequence[Row], minor: int) -> bool:
    """Return whether an amount follows before any total."""
    for row in rows:
        has_amount = any(figure.is_money or minor == figure.decimals == 0 for figure in row.numbers)
        # A label alone may be the rest of a name: `BUFFET SELF` and `SERVICE KG` below.
        if terminators.ends_list(row, has_amount=has_amount):
            return False
        if has_amount:
            return True
    return False


def _between(rows: Sequence[PricedRow]) -> list[PricedRow]:
    """Return the rows up to the totals, without those above an earlier total or heading."""
    region: list[PricedRow] = []
    has_items = False
    continues_until = 0
    are_sums = [_is_sum(each) for each in rows]
    group_sums = _group_sums(rows)
    for index, (row, read) in enumerate(rows):
        is_end = terminators.ends_list(row, has_amount=read is not None) and not _is_detail(row)
        if is_end and index >= continues_until:
            ahead = are_sums[index : index + _MOST_ROWS_TO_TOTAL]
            total = ahead.index(True) if True in ahead else 0
            continues_until = index + _items_ahead(region, rows[index : index + total + 1])
        is_end = is_end and index >= continues_until and not (read and read.is_product)
        is_end = is_end and not _is_deducted(rows, index)
        if is_end and has_items:
            if index in group_sums:
                continue
            return region
        if is_end or (headings.is_heading(row) and not has_items):
            region = []
            continue
        region.append((row, read))
        has_items = has_items or read is not None
    return region if has_items else []


def _is_deducted(rows: Sequence[PricedRow], index: int) -> bool:
    """Return whether a row deducts from an item, and is no payment: `Club Card Price -1.25`.

    The next amount is that of another item.
    """
    row, read = rows[index]
    if read is None or read.total >= 0 or terminators.meaning(row) is not Meaning.PAYMENT:
        return False
    below = itertools.islice(rows, index + 1, index + 1 + _MOST_ROWS_TO_TOTAL)
    following = next((other for _, other in below if other), None)
    if following is None or terminators.meaning(following.row) is not None:
        return False
    return following.has_name and following.total > 0


def _group_sums(rows: Sequence[PricedRow]) -> frozenset[int]:
    """Return the sums of groups of items that more groups follow: `Subtotal kitchen`, then the bar.

    Each is the sum of the rows since the one before it, and a total below is that of all groups.
    """
    ends = [
        (index, read.total)
        for index, (row, read) in enumerate(rows)
        if read and not read.is_product and terminators.meaning(row) in terminators.ENDS
    ]
    sums = itertools.accumulate((read.total if read else 0 for _, read in rows), initial=Decimal(0))
    above = list(sums)
    groups: list[int] = []
    start, listed = 0, Decimal(0)
    for index, total in ends:
        if groups and total == listed and len(groups) > 1:
            return frozenset(groups[:-1])
        if above[index] - above[start] != total or total <= 0:
            # Rows above the first group are not items.
            groups, listed = [], Decimal(0)
        else:
            groups.append(index)
            listed += total
        start = index + 1
    return frozenset()


def _items_ahead(region: Sequence[PricedRow], rows: Sequence[PricedRow]) -> int:
    """Return how many rows before the last are items, although the first looks like a total.

    Items may follow a charge that is one of them, such as a deposit; and if all amounts up to the
    total add up to it, none of them is a payment.
    """
    *above, (_, total) = rows
    amounts = [read for _, read in above if read]
    if not amounts or terminators.meaning(amounts[-1].row) is Meaning.CHARGE:
        return 0
    seen = {terminators.meaning(row) for row, read in above if read}
    listed = sum(read.total for _, read in [*region, *above] if read)
    is_proven = total is not None and len(region) > 0 and listed == total.total
    is_charge = Meaning.PAYMENT not in seen and terminators.meaning(amounts[-1].row) is None
    return len(above) if is_proven or is_charge else 0


def _is_sum(priced_row: PricedRow) -> bool:
    """Return whether a row is surely not an item: a total or a tax with its amount."""
    row, read = priced_row
    return read is not None and not read.is_product and terminators.meaning(row) is Meaning.END


def _in_column(
    rows: list[PricedRow], *, at: Sequence[float] = (), slack: float = _COLUMN_SLACK
) -> list[PricedRow]:
    """Remove the prices that do not end at the same x as the others, or `at` given places."""
    ends = [_end(read) for _, read in rows if read]
    if not ends:
        return rows
    # An amount that is a product is surely in the column.
    ends = [_end(read) for _, read in rows if read and read.factors] or ends
    columns = at or [statistics.median(ends)]
    left = min(row.line.box.x0 for row, _ in rows)
    right = max(row.line.box.x1 for row, _ in rows)
    reach = slack * (right - left)
    return [
        (row, read if read and (_is_sure(read, at) or _is_at(read, columns, reach)) else None)
        for row, read in rows
    ]


def _is_at(read: Priced, columns: Sequence[float], reach: float) -> bool:
    return any(abs(_end(read) - column) <= reach for column in columns)


def _is_sure(read: Priced, at: Sequence[float]) -> bool:
    """Return whether an amount is a price wherever it ends."""
    is_grouped = len(read.total_figure.readings) > 1 and read.total >= _THOUSAND
    is_price = read.is_product or _is_discount(read)
    return is_price or (bool(at) and (read.total_figure.has_symbol or is_grouped))


def _is_discount(read: Priced) -> bool:
    """Return whether an amount is subtracted by its words or a rate: `10% OFF  -4.50`."""
    is_named = terminators.meaning(read.row) is Meaning.DISCOUNT
    return read.total < 0 and (is_named or any(each.is_percent for each in read.row.numbers))


def _end(read: Priced) -> float:
    return read.row.x_at(read.total_figure.end)


def _end_of_row(read: Priced) -> float:
    return read.row.line.box.x1
