"""Where on a roll the goods stand: under their heading, above the totals, amounts in a column."""

import itertools
import statistics
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import details, item_name, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.layout.item_rows import Row
from recibo.extract.text import lexicon

#: A row, and its price if it has one in the column of the totals.
PricedRow = tuple[Row, Priced | None]

#: Totals end in one column, give or take this share of the rows' extent.
_COLUMN_SLACK = 0.12
#: Figures that nothing else tells to be prices must end closer to it.
_CLOSE = 0.05
#: So many headings are no count or sum.
_COLUMNS = 3
#: The first goods stand within this many rows of their heading.
_FEW = 6
#: No list of goods is so long that its total stands further below a charge.
_FAR = 200
#: A header may tell one total, of the whole or of the day.
_CHANCE = 2
#: What may be numbered, the paper first.
_NUMBERS = ("number", "order_number", "weak_number", "other_number")
#: Sums of more amounts are not tried.
_MOST_PROVEN = 150
#: Prices of currencies without decimals have thousands.
_THOUSAND = 1000


def goods(rows: Sequence[Row]) -> list[PricedRow]:
    """Return the rows that list goods, each with its price."""
    minor = _minor(rows)
    first = _start(rows, minor)
    read = [
        (row, None if _is_no_price(row) else priced_row.read(row, minor=minor))
        for row in rows[first:]
    ]
    region = _between(read)
    if _adds_up(region, rows):
        return region
    if minor:
        region = _in_column(region)
        return region if any(read for _, read in region) else _proven(read, rows)
    region = _between(_below_one_another(read))
    return region if _adds_up(region, rows) else _in_column(region)


def _is_no_price(row: Row) -> bool:
    return _is_detail(row) or _is_number(row)


def _is_number(row: Row) -> bool:
    """Tell whether a row bears a number of the paper, which looks like a price without decimals.

    Beside the day and the hour stands that of a table or a till.
    """
    if not row.figures or any(figure.is_money for figure in row.figures):
        return False
    if item_name.has_hour(row.text):
        return True
    label = row.text[: row.figures[0].start]
    found = lexicon.phrasebook(*_NUMBERS).find(label)
    named = sum(_letters(label[phrase.start : phrase.end]) for phrase in found)
    return bool(found) and 2 * named > _letters(label)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_detail(row: Row) -> bool:
    """Tell whether a row only says how a total came about: it neither is goods nor ends them."""
    return details.read(row) is not None or details.read_labelled(row) is not None


def _below_one_another(rows: list[PricedRow]) -> list[PricedRow]:
    """Take the price from rows whose figure does not end where that of the total does.

    Without decimals every figure may be a price: a table's, a year, a number. What has a currency's
    mark is one in any place.
    """
    totals = [read for row, read in rows if read and terminators.is_total(row)]
    # The mark behind a total may stand in the column of the goods' last figures.
    ends = [statistics.median(map(end, totals)) for end in (_end, _end_of_row)] if totals else []
    return _in_column(rows, at=ends, slack=_CLOSE) if ends else rows


def _adds_up(region: Sequence[PricedRow], rows: Sequence[Row]) -> bool:
    """Tell whether the sum of several amounts is printed as a total: then all of them are goods.

    Plain printers set no column: each amount stands right behind its name.
    """
    amounts = [read.total for _, read in region if read]
    return len(amounts) > 1 and sum(amounts) in terminators.totals(rows)


def _proven(rows: Sequence[PricedRow], all_rows: Sequence[Row]) -> list[PricedRow]:
    """Return the longest run of named amounts that makes a printed total; none if no run does.

    A slip of a card may stand between the goods and their total.
    """
    totals = terminators.totals([row for row in all_rows if terminators.is_total(row)])
    priced = [(index, read) for index, (_, read) in enumerate(rows) if read][:_MOST_PROVEN]
    sums = list(itertools.accumulate((read.total for _, read in priced), initial=Decimal(0)))
    strangers = list(itertools.accumulate((not _is_goods(each) for _, each in priced), initial=0))
    for count in range(len(priced), 1, -1):
        for start in range(len(priced) - count + 1):
            end = start + count
            if sums[end] - sums[start] in totals and strangers[end] == strangers[start]:
                first = priced[start - 1][0] + 1 if start else 0
                return list(rows[first : priced[end - 1][0] + 1])
    return []


def _is_goods(read: Priced) -> bool:
    return read.has_name and terminators.meaning(read.row) not in terminators.ENDS


def _minor(rows: Sequence[Row]) -> int:
    """Return how many decimals money has here: none where amounts are whole by habit."""
    figures = [figure for row in rows for figure in row.figures]
    cents = sum(figure.has_minor and not figure.has_unit for figure in figures)
    marked = sum(figure.has_mark and figure.decimals == 0 for figure in figures)
    # `12.000` and `1,500`: grouped, so neither a code nor a year.
    grouped = sum(len(figure.readings) > 1 and figure.value >= _THOUSAND for figure in figures)
    if not cents and any(terminators.is_total(row) and row.figures for row in rows):
        return 0
    return 2 if cents >= max(marked, 1) or cents >= grouped else 0


def _start(rows: Sequence[Row], minor: int) -> int:
    """Return the row after the heading of the goods; with none, the first one.

    What follows totals and payments heads a summary of the taxes.
    """
    met = 0
    for index, row in enumerate(rows):
        met += terminators.meaning(row) in terminators.ENDS and any(
            each.is_money for each in row.figures
        )
        if met >= _CHANCE:
            return 0
        if not headings.is_heading(row):
            continue
        if not _is_count(row) and _precedes_goods(rows[index + 1 : index + 1 + _FEW], minor):
            return index + 1
    return 0


def _is_count(row: Row) -> bool:
    """Tell whether a row is `Total items` and the like, whose words head columns elsewhere."""
    found = headings.read(row)
    has_price = any(heading.role is Role.UNIT_PRICE for heading in found)
    is_headed = "\t" in row.text and not row.figures and found[0].role is Role.NAME
    is_short = len(found) < _COLUMNS and not has_price and not is_headed
    return terminators.meaning(row) in terminators.ENDS and is_short


def _precedes_goods(rows: Sequence[Row], minor: int) -> bool:
    """Tell whether an amount follows before any total."""
    for row in rows:
        has_amount = any(figure.is_money or minor == figure.decimals == 0 for figure in row.figures)
        # A word of it alone may be the rest of a name: `BUFFET SELF` and `SERVICE KG` below.
        if terminators.ends_list(row, has_amount=has_amount):
            return False
        if has_amount:
            return True
    return False


def _between(rows: Sequence[PricedRow]) -> list[PricedRow]:
    """Return the rows up to the totals, without those that a total or a heading parts off above."""
    region: list[PricedRow] = []
    has_goods = False
    open_until = 0
    are_sums = [_is_sum(each) for each in rows]
    for index, (row, read) in enumerate(rows):
        is_end = terminators.ends_list(row, has_amount=read is not None) and not _is_detail(row)
        if is_end and index >= open_until:
            ahead = are_sums[index : index + _FAR]
            total = ahead.index(True) if True in ahead else 0
            open_until = index + _goods_ahead(region, rows[index : index + total + 1])
        is_end = is_end and index >= open_until and not (read and read.is_product)
        if is_end and has_goods:
            return region
        if is_end or (headings.is_heading(row) and not has_goods):
            region = []
            continue
        region.append((row, read))
        has_goods = has_goods or read is not None
    return region if has_goods else []


def _goods_ahead(region: Sequence[PricedRow], rows: Sequence[PricedRow]) -> int:
    """Return how many rows above the last are goods all the same, though the first names none.

    Goods follow a charge that is one of them, as a deposit is; and where all amounts up to the
    total make it, none of them is a payment.
    """
    *above, (_, total) = rows
    amounts = [read for _, read in above if read]
    if not amounts or terminators.meaning(amounts[-1].row) is Meaning.CHARGE:
        return 0
    met = {terminators.meaning(row) for row, read in above if read}
    listed = sum(read.total for _, read in [*region, *above] if read)
    is_proven = total is not None and len(region) > 0 and listed == total.total
    is_charge = Meaning.PAYMENT not in met and terminators.meaning(amounts[-1].row) is None
    return len(above) if is_proven or is_charge else 0


def _is_sum(priced_row: PricedRow) -> bool:
    """Tell whether a row is surely no goods: a total or a tax with its amount."""
    row, read = priced_row
    return read is not None and not read.is_product and terminators.meaning(row) is Meaning.END


def _in_column(
    rows: list[PricedRow], *, at: Sequence[float] = (), slack: float = _COLUMN_SLACK
) -> list[PricedRow]:
    """Take the price from rows whose amount does not end where the others end, or `at` a place."""
    ends = [_end(read) for _, read in rows if read]
    if not ends:
        return rows
    # Where quantity and price make an amount, it surely stands in the column.
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
    """Tell whether a row is priced wherever its amount ends."""
    return read.is_product or (bool(at) and read.total_figure.has_mark)


def _end(read: Priced) -> float:
    return read.row.x_at(read.total_figure.end)


def _end_of_row(read: Priced) -> float:
    return read.row.line.box.x1
