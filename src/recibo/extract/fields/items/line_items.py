"""Finds the line items of a document."""

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import nfse
from recibo.extract.brazil.fiscal import Identified
from recibo.extract.fields.items import (
    arithmetic,
    classed_rows,
    details,
    fees_below,
    item_details,
    item_name,
    itemlist,
    joined,
    metered,
    priced_row,
    products,
    regions,
    shifted_rows,
    side_columns,
    side_tables,
    summed_rows,
    tables,
    terminators,
)
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.layout import rows
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem, TextPage
from recibo.extract.text import lexicon, numbers, ocr_confusions
from recibo.extract.text.numbers import CENTS

#: Names may be longer by a unit or code, but not by this factor.
_MORE = 1.3

_NUMBERED = re.compile(r"\W*(?:N[º°o]|No|Nr|#)\W{0,3}\d", re.IGNORECASE)

_Items = tuple[Extracted[LineItem], ...]
#: Rows at the same edge begin at most this many heights apart.
_EDGE = 0.5
#: The most sections, each of which ends with a sum.
_MOST_SECTIONS = 40
#: A single row equal to the total may be the total itself.
_FEWEST = 2
#: The least share of an item's price that is left by its discount.
_LEAST_LEFT = Decimal("0.4")
_INDEX = re.compile(r"(?P<index>[1-9][0-9]{0,2})\s+(?=[^\W\d_])")
# The most mentions of a sum below which charges are looked for, and the most rows of them.
_MOST_WHOLES, _MOST_CHARGES = 4, 40
_LIKELY = 0.8
#: Fewer amounts may add up by chance.
_FEWEST_SHIFTED = 3
_LIKELY_SHIFTED = 0.7


def find(
    text_pages: Sequence[TextPage], document: Identified | None, *, minor: int = CENTS
) -> tuple[Extracted[LineItem], ...]:
    """Return the line items of a document from top to bottom.

    Args:
        text_pages: Its pages.
        document: The fiscal document on these pages; None if it is not one.
        minor: The decimals of its currency.
    """
    # Fewer decimals than cents do not help to distinguish amounts from quantities.
    has_table = document is not None and document.has_product_table
    own = side_tables.without_taxes(text_pages)
    aligned = shifted_rows.aligned(own) if has_table else own
    pages = joined.separated(aligned, has_codes=has_table)
    end = document.end_of_items() if document else None
    complete = products.completed(pages, end) if end is not None else products.Completed(pages)
    lines = rows.of_pages(complete.text_pages, minor=max(minor, CENTS))
    if document is None:
        found = _listed(lines, None)
    else:
        found = document.without_sums(document.line_items() or _listed(lines, document))
    if has_table:
        found = _with_classed(found, classed_rows.read(lines))
    found = complete.as_printed(found)
    named = tuple(one for one in found if not (_is_title(one) or _is_sum(one)))
    bare = _without_index(_without_codes(named))
    return item_details.with_details(bare, lines, is_narrow=rows.are_narrow(lines))


def _is_title(item: Extracted[LineItem]) -> bool:
    """Return whether a row is the document's title with its number: `RECIBO  Nº 87  850,00`."""
    titles = lexicon.wordbook("receipt_title", "invoice_title").find(item.text)
    is_first = bool(titles) and titles[0].start == 0
    return is_first and _NUMBERED.match(item.text, titles[0].end) is not None


def _is_sum(item: Extracted[LineItem]) -> bool:
    """Return whether a row is a sum without tax, the tax, and both: `-193,00  -40,53  -233,53`."""
    net, tax, whole = item.value.qty, item.value.unit_price, item.value.total
    if net is None or tax is None or whole is None:
        return False
    return net + tax == whole != net * tax


def _with_classed(tabled: _Items, classed: _Items) -> _Items:
    """Return the items in rows with a class if they explain more, with those of other rows."""
    if _products(classed) <= _products(tabled):
        return tabled
    rows_of = {(item.page, item.box) for item in classed}
    items = [*classed, *(item for item in tabled if (item.page, item.box) not in rows_of)]
    return tuple(sorted(items, key=lambda item: (item.page, item.box.y0 if item.box else 0.0)))


def _without_codes(items: _Items) -> _Items:
    """Cut codes off the names of items if all names begin with different ones."""
    split = [item_name.code_before(item.value.name) for item in items]
    codes = {one[0] for one in split if one}
    if len(items) < _FEWEST or None in split or len(codes) < _FEWEST:
        return items
    return tuple(
        replace(item, value=replace(item.value, name=one[1])) if one else item
        for item, one in zip(items, split, strict=True)
    )


def _without_index(items: _Items) -> _Items:
    """Cut the numbers 1, 2, 3 off the names of items, of which OCR may have missed some.

    They are no quantities where most items have another one.
    """
    indexed = {
        place: match
        for place, item in enumerate(items, 1)
        if (match := _INDEX.match(item.value.name)) and int(match["index"]) == place
    }
    counted = [place for place in indexed if items[place - 1].value.qty is not None]
    if min(len(counted), len(indexed)) < _FEWEST or len(counted) * 2 < len(items):
        return items
    return tuple(
        replace(item, value=replace(item.value, name=item.value.name[indexed[place].end() :]))
        if place in indexed
        else item
        for place, item in enumerate(items, 1)
    )


def _listed(lines: Sequence[Row], document: Identified | None) -> _Items:
    is_narrow = rows.are_narrow(lines)
    # With a quantity of one the amount is twice in its row, which proves nothing.
    amounts = Counter(
        value
        for row in lines
        for value in {figure.value for figure in row.numbers if figure.is_money}
    )
    tabled = tables.read(lines, is_narrow=is_narrow)
    is_note = document is not None and document.is_service_note
    # Several services of one note may have neither quantities nor prices.
    may_lack = is_note and len(tabled) >= _FEWEST
    is_consistent = _is_summed(tabled, amounts) and all(
        arithmetic.is_product(item.value)
        or (may_lack and (_is_amount_alone(item.value) or _is_reduced(item.value)))
        for item in tabled
    )
    if is_consistent and not is_narrow:
        return tabled
    if document and is_note:
        service = nfse.service(document.document)
        return _services(service, lines) if service else ()
    listed = _on_narrow_page(lines, amounts) if is_narrow else _on_wide_page(lines)
    if charges := _charges_of_single((*tabled, *listed), lines):
        return charges
    if len(tabled) <= 1 and len(listed) <= 1 and (sold := metered.read(lines)):
        return sold if not _products((*tabled, *listed)) else tabled or listed
    items = _more_consistent(tabled, listed, amounts, is_narrow=is_narrow)
    items = items or tuple(map(_item, side_columns.find(lines, amounts)))
    return (*items, *map(_item, fees_below.find(lines, _sum(items))))


def _services(service: Extracted[LineItem], lines: Sequence[Row]) -> _Items:
    """Return the services that a description lists if their sum is its amount, else one service."""
    box = service.box
    described = [
        row
        for row in lines
        if box and row.line.page == service.page and box.y0 < row.line.box.y_center < box.y1
    ]
    priced = [each for row in described if (each := priced_row.read(row)) and each.has_name]
    listed = tuple(map(_item, priced))
    return listed if len(listed) >= _FEWEST and _sum(listed) == service.value.total else (service,)


def _on_narrow_page(lines: Sequence[Row], amounts: Counter[Decimal]) -> _Items:
    """Return the items of a narrow receipt; realigned if a sum proves that amounts are shifted."""
    listed = itemlist.read(lines)
    return listed if _is_summed(listed, amounts) else realigned(lines) or listed


def _on_wide_page(lines: Sequence[Row]) -> _Items:
    """Return rows with amounts on a wide page if they add up to a total.

    Such rows may be anything; only their sum shows that they are items.
    """
    charged = terminators.without_summaries(lines)
    by_section = sectioned(charged) or tuple(map(_item, summed_rows.find(charged)))
    listed = itemlist.read(lines)
    if _sum(listed) not in terminators.totals(lines) or len(by_section) > len(listed):
        return by_section
    return max((listed, by_section), key=_products)


def _more_consistent(
    tabled: _Items, listed: _Items, amounts: Counter[Decimal], *, is_narrow: bool
) -> _Items:
    """Return the items whose numbers agree better; those of the table if both are equal.

    On a narrow receipt names may extend beyond their column, so there the items with longer names
    are preferred.
    """
    if not tabled or not listed:
        return tabled or listed
    return max(
        (tabled, listed),
        key=lambda items: (
            not _have_columns_in_names(items),
            _is_summed(items, amounts),
            sum(_may_be_explained(item.value) for item in items),
            _products(items),
            is_narrow and _letters(items) > _MORE * _letters(tabled),
        ),
    )


def _have_columns_in_names(items: _Items) -> bool:
    """Return whether most names contain several amounts: they are more columns."""
    named = sum(len(numbers.money(item.value.name or "")) > 1 for item in items)
    return named * 2 > len(items)


def _letters(items: _Items) -> int:
    return sum(sum(map(str.isalpha, item.value.name or "")) for item in items)


def _is_summed(items: _Items, amounts: Counter[Decimal]) -> bool:
    """Return whether the sum of the items' totals is printed, apart from a single item itself."""
    return bool(items) and amounts[_sum(items)] > (len(items) == 1)


def _is_amount_alone(item: LineItem) -> bool:
    return item.qty is None and item.unit_price is None


def _is_reduced(item: LineItem) -> bool:
    """Return whether the amount of an item may be that after a discount."""
    if item.qty is None or item.unit_price is None or item.total is None:
        return False
    whole = item.qty * item.unit_price
    return whole > item.total >= whole * _LEAST_LEFT


def _products(items: _Items) -> int:
    return sum(arithmetic.is_product(item.value) for item in items)


def _sum(items: _Items) -> Decimal:
    return sum((item.value.total or Decimal(0) for item in items), Decimal(0))


def _may_be_explained(item: LineItem) -> bool:
    """Return whether quantity times unit price is the total, or more: tables include discounts.

    Or it is the price of one of several days.
    """
    if item.qty is None or item.unit_price is None or item.total is None:
        return False
    whole = item.qty * item.unit_price
    is_of_days = whole > 0 and item.total % whole == 0
    return arithmetic.is_product(item) or is_of_days or 0 < item.total < whole


def sectioned(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the charges at one edge that add up to a total."""
    read_rows = [each for row in rows if (each := priced_row.read(row))]
    ends = [terminators.meaning(each.row) in terminators.ENDS for each in read_rows]
    totals = terminators.totals(rows)
    starts = [0, *(index + 1 for index, is_end in enumerate(ends) if is_end)]
    for start in starts[:_MOST_SECTIONS]:
        charges = [
            each
            for each, is_end in zip(read_rows[start:], ends[start:], strict=True)
            if not is_end and each.has_name
        ]
        for edge in _edges(charges):
            if len(edge) >= _FEWEST and sum(each.total for each in edge) in totals:
                return tuple(map(_item, edge))
    return ()


def _charges_of_single(items: _Items, lines: Sequence[Row]) -> _Items:
    """Return the charges of which the only item, without quantity and price, is the sum."""
    wholes = {item.value.total for item in items}
    if len(wholes) != 1 or _products(items):
        return ()
    whole = next(iter(wholes))
    return _itemized(lines, whole) if whole else ()


def _itemized(lines: Sequence[Row], whole: Decimal) -> _Items:
    """Return the charges that add up to an amount above them, with the taxes below them.

    A bill may have its sum among the balances of the account, and the charges on a later page.
    """
    read_rows = [each for row in lines if (each := priced_row.read(row))]
    places = [index for index, each in enumerate(read_rows) if each.total == whole]
    for place in places[:_MOST_WHOLES]:
        listed: list[Priced] = []
        total = Decimal(0)
        for each in read_rows[place + 1 : place + 1 + _MOST_CHARGES]:
            is_end = terminators.meaning(each.row) in terminators.ENDS
            if is_end and not (listed and lexicon.wordbook("tax").find(each.words)):
                listed, total = [], Decimal(0)
            elif is_end or each.has_name:
                listed += [] if is_end else [each]
                total += each.total
            if len(listed) >= _FEWEST and total == whole:
                return tuple(map(_item, listed))
    return ()


def _edges(charges: Sequence[Priced]) -> Iterator[list[Priced]]:
    """Yield the charges at each left edge, the leftmost edge first."""
    placed = sorted(enumerate(charges), key=lambda each: each[1].row.line.box.x0)
    lefts = [charge.row.line.box.x0 for _, charge in placed]
    start = 0
    while start < len(placed):
        end = bisect.bisect(lefts, lefts[start] + _EDGE * placed[start][1].row.height)
        yield [charge for _, charge in sorted(placed[start:end], key=lambda each: each[0])]
        start = end


def _item(charge: Priced) -> Extracted[LineItem]:
    name = item_name.cleaned(item_name.strip_code(charge.words).replace("\t", " "))
    factors = charge.factors
    item = LineItem(
        name,
        factors.qty if factors else None,
        factors.unit_price if factors else None,
        charge.total,
    )
    return charge.row.cell.found(item, confidence=_LIKELY)


def realigned(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the items, names and amounts paired in order; none if no sum proves it."""
    found = regions.find(rows)
    priced_rows = [row for row, price in found if price]
    if not priced_rows:
        return ()
    following = rows[next(index for index, row in enumerate(rows) if row is priced_rows[0]) :]
    names = _names_below(following)
    amounts = [each for row in following if (each := priced_row.read(row))]
    count = len(names)
    if not _FEWEST_SHIFTED <= count < len(amounts) or all(
        each.has_name for each in amounts[:count]
    ):
        return ()
    if sum(each.total for each in amounts[:count]) != amounts[count].total:
        return ()
    counted = [row for row in names if item_name.leading_qty(row.text)]
    is_counted = len(counted) * 2 >= count
    items = tuple(
        _shifted_item(row, amount, counted=is_counted)
        for row, amount in zip(names, amounts[:count], strict=True)
    )
    return items if all(item.value.name for item in items) else ()


def _names_below(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with names, up to the first total."""
    named: list[Row] = []
    for row in rows:
        if terminators.meaning(row) in terminators.ENDS:
            return named
        is_named = item_name.is_name(item_name.of_row(row, len(row.text), None))
        if is_named and details.read(row) is None:
            named.append(row)
    return named


def _shifted_item(row: Row, amount: Priced, *, counted: bool) -> Extracted[LineItem]:
    before = priced_row.read(row)
    words = before.words if before else row.text
    leading = item_name.leading_qty(words) if counted else None
    qty, words = leading or (None, item_name.strip_code(words))
    name = item_name.cleaned(words.replace("\t", " "))
    name = name if row.is_exact else ocr_confusions.repaired(name)
    return row.cell.found(LineItem(name, qty, None, amount.total), confidence=_LIKELY_SHIFTED)
