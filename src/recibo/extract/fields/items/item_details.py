"""Adds to the line items what is printed next to them: code, unit, tax rate and discount."""

import functools
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract import resources
from recibo.extract.fields.items import (
    columns,
    details,
    item_name,
    priced_row,
    rated_discounts,
)
from recibo.extract.layout import headings
from recibo.extract.layout.headings import Heading, Role
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import lexicon, numbers, tables
from recibo.extract.text.folding import fold

_Found = Extracted[LineItem]

# A code has this many digits; a shorter one only in a column of codes.
_CODE = re.compile(
    r"(?<![\w.,/-])(?:[A-Z]{0,4}-?\d{4,14}[A-Z]?|\d{2,4}(?:-\d{2,7}){1,4})(?![\w.,/%-])"
)
_CODE_CELL = re.compile(r"[A-Z0-9][A-Z0-9./_-]{0,23}", re.IGNORECASE)
_INDEX = re.compile(r"^\W*(?:\d{1,3}\W*\s\W*(?=\S*\d{4})|0\d{2}\W*\s\W*(?=\d))")
_NUMBER = re.compile(r"\d{1,14}")
_LONG_CODE = re.compile(r"(?<![\w.,])\d{8,14}(?![\w.,%])")
# `[FURN_7777] Office Chair`.
_BRACKETED_CODE = re.compile(r"^\W*[\[*](?P<code>[A-Z0-9][A-Z0-9_./-]{2,20})[\]*]", re.IGNORECASE)
_PORTAL_CODE = re.compile(r"\(\s*C[oó]d[il1|]go\W*(?P<code>\w{1,14})\s*\)", re.IGNORECASE)
# `15%`, `T12,00%`: a rate after the name.
_RATE = re.compile(r"(?<![\d.,])(?:\d{0,2}[A-Z])?(?P<rate>\d{1,2}(?:[.,]\d{1,2})?)\s?%(?!\d)")
_RATE_OF_NAME = re.compile(r"(?<=\w)\s(?P<rate>\d{1,2}(?:[.,]\d{1,2})?)\s?%$")
_FEWEST_RATED = 2
# The same with the sign first: `%10`.
_SIGN_FIRST = re.compile(r"(?<![\w,.])%\s?(?P<rate>\d{1,2}(?:[.,]\d{1,2})?)(?![\d.,])")
# Amounts have two decimals.
_BARE_RATE = re.compile(r"\d{1,2}(?:[.,]\d)?")
_MOST_RATE = 35
# A legend of rates: `PTU A 23%`, `A = 7,00 %`, `19% B`.
_LEGEND = re.compile(
    r"(?<![^\W_])(?P<letter>[A-Z])\s?[=:)-]?\s?(?P<rate>\d{1,2}(?:[.,]\d{1,2})?)\s?%"
    r"|(?<![^\W_])(?P<letter3>[A-Z])\s?=\s?[A-Z]{2,6}\s?@?\s?(?P<rate3>\d{1,2}(?:[.,]\d{1,2})?)"
    r"|(?P<rate2>\d{1,2}(?:[.,]\d{1,2})?)\s?%\s?[=:(]?\s?(?P<letter2>[A-Z])(?![^\W_])"
)
_LETTER = re.compile(r"\d\s?(?P<letter>[A-Z])\W*$")
# The rate of the ICMS of a Brazilian invoice.
_ICMS_RATE = re.compile(r"AL[IÍ]Q\w*\W*(?:DO\s)?ICMS|%\s?ICMS|ICMS\s?%|^A\.?\s?ICMS", re.IGNORECASE)
# A discount is at most this many rows below its item.
_MOST_ROWS_BELOW = 2
_TOTAL = re.compile(r"\btotal", re.IGNORECASE)
_OF_ITEM = re.compile(r"\b(?:item|itens|ítem|ítems|items)\b", re.IGNORECASE)
_FEWEST_LETTERS = 3
_MOST_REDUCTIONS = 50
_LONGEST_UNIT, _SHORT_UNIT = 10, 8
# Larger numbers are codes.
_MOST_COUNTED = 99
_MOST_TABLES = 20
_HALVES = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """An item, the rows that it is in, and the rows between it and the next item."""

    item: _Found
    row: Row
    #: The rows with its name, its numbers or its unit.
    rows: tuple[Row, ...]
    below: tuple[Row, ...]
    #: The row above if it has only a quantity and a price.
    above: tuple[Row, ...] = ()
    #: Whether no item follows.
    is_last: bool = True


def with_details(
    items: Sequence[_Found], rows: Sequence[Row], *, is_narrow: bool
) -> tuple[_Found, ...]:
    """Return the items with what is printed next to them."""
    placed = [_place(item, rows) for item in items]
    starts = [place.rows[0] if place else None for place in placed]
    headed = _headed(rows, is_narrow=is_narrow) if items else []
    legend = _legend(rows)
    found = [
        item if place is None else _detailed(_until(place, starts[index + 1 :]), headed, legend)
        for index, (item, place) in enumerate(zip(items, placed, strict=True))
    ]
    return tuple(
        _with_named_discounts(
            rated_discounts.corrected([*_with_rates_of_names(_without_index(found))])
        )
    )


def _with_named_discounts(items: Sequence[_Found]) -> Iterator[_Found]:
    """Yield the items, each with the discount in a later row that names it or its code.

    1632921 DENSIFY      19.99
    1669990 TPD/1632921   4.00-
    """
    negative = [
        _Reduction(index, -item.value.total, item.value.name, {*re.split(r"\W+", item.value.name)})
        for index, item in enumerate(items)
        if item.value.total is not None and item.value.total < 0
    ][:_MOST_REDUCTIONS]
    for index, item in enumerate(items):
        value = item.value
        later = [one for one in negative if one.index > index and value.discount is None]
        found = next((one.amount for one in later if _reduces(one, value)), None)
        yield replace(item, value=replace(value, discount=found)) if found else item


@dataclass(frozen=True, slots=True)
class _Reduction:
    """A row with a negative amount, given as a positive one, and the words of its name."""

    index: int
    amount: Decimal
    name: str
    words: Collection[str]


def _reduces(later: _Reduction, item: LineItem) -> bool:
    """Return whether a negative row names an item that costs more."""
    if item.total is None or later.amount >= item.total:
        return False
    is_code = len(item.code or "") >= _FEWEST_LETTERS and item.code in later.words
    is_name = len(item.name) >= _LONGEST_UNIT and later.name.endswith(f" {item.name}")
    return is_code or is_name


def _with_rates_of_names(items: Sequence[_Found]) -> Iterator[_Found]:
    """Yield the items with rates at the end of their names, where most others have one outside.

    `CREMA MANI 75ML  22%  8,50`, `PARACETAMOLO 10%  5,90`
    """
    rated = sum(item.value.tax_rate is not None for item in items)
    are_rated = rated >= _FEWEST_RATED and rated * _HALVES >= len(items)
    for item in items:
        value = item.value
        end = _RATE_OF_NAME.search(value.name) if are_rated and value.tax_rate is None else None
        rate = Decimal(end["rate"].replace(",", ".")) if end else None
        if end and rate in _usual_rates():
            value = replace(value, name=value.name[: end.start()], tax_rate=rate)
        yield replace(item, value=value)


def _without_index(items: Sequence[_Found]) -> list[_Found]:
    """Remove codes that only count the items: 1, 2, 3."""
    counts = [code for item in items if (code := item.value.code or "") and _is_count(code)]
    if [int(code) for code in counts] != list(range(1, len(counts) + 1)):
        return list(items)
    return [
        replace(item, value=replace(item.value, code=None))
        if _is_count(item.value.code or "")
        else item
        for item in items
    ]


def _is_count(code: str) -> bool:
    return code.isdecimal() and int(code) <= _MOST_COUNTED


def _place(item: _Found, rows: Sequence[Row]) -> _Place | None:
    """Find the row of an item, and the rows above it with the beginning of its name."""
    box = item.box
    if box is None:
        return None
    own = [
        index
        for index, row in enumerate(rows)
        if row.line.page == item.page and box.y0 <= row.line.box.y_center <= box.y1
    ]
    if not own:
        return None
    middle = min(own, key=lambda index: abs(rows[index].line.box.y_center - box.y_center))
    first = next(
        (index for index in (middle, middle - 1, middle - 2) if _has_start(item, rows, index)),
        middle,
    )
    own_rows = tuple(rows[first : middle + 1])
    above = tuple(row for row in rows[max(first - 1, 0) : first] if details.read(row))
    return _Place(item, rows[middle], own_rows, tuple(rows[middle + 1 :]), above)


def _has_start(item: _Found, rows: Sequence[Row], index: int) -> bool:
    return 0 <= index < len(rows) and _start(item, rows[index]) is not None


def _start(item: _Found, row: Row) -> int | None:
    """Return where the name of an item begins in a row."""
    words = item.value.name.split()
    for count in (3, 2, 1):
        part = " ".join(words[:count])
        if sum(map(str.isalnum, part)) >= _FEWEST_LETTERS and part in row.text.replace("\t", " "):
            return row.text.replace("\t", " ").index(part)
    return None


def _until(place: _Place, starts: Sequence[Row | None]) -> _Place:
    """Return a place with the rows below up to the next item."""
    following = next((start for start in starts if start is not None), None)
    below = itertools.takewhile(lambda row: row is not following, place.below)
    near = tuple(itertools.islice(below, _MOST_ROWS_BELOW))
    return replace(place, below=near, is_last=following is None)


def _headed(rows: Sequence[Row], *, is_narrow: bool) -> list[tuple[Row, list[Heading]]]:
    """Return the columns of each table with its first row."""
    found = itertools.islice(columns.tables(rows, is_narrow=is_narrow), _MOST_TABLES)
    return [(rows[start], headed) for start, headed in found if start < len(rows)]


def _detailed(
    place: _Place, headed: Sequence[tuple[Row, list[Heading]]], legend: Mapping[str, Decimal]
) -> _Found:
    cells = _cells(place.row, headed)
    name = place.item.value.name
    bare = _without_code(name, place.row, cells)
    item = replace(
        place.item.value,
        name=bare,
        code=_code(place, cells) if bare == name else cells[Role.CODE].strip(),
        unit=_unit(place, cells),
        tax_rate=_tax_rate(place, cells, legend),
        discount=_discount(place, cells),
    )
    return replace(place.item, value=item)


def _cells(row: Row, every: Sequence[tuple[Row, list[Heading]]]) -> dict[str, str]:
    """Return the texts of a row by role, and the rate of the ICMS, in the table above it."""
    above = [
        headed
        for first, headed in every
        if first.line.page < row.line.page
        or (first.line.page == row.line.page and first.line.box.y0 <= row.line.box.y_center)
    ]
    if not above:
        return {}
    headed = _with_last_code(above[-1])
    cells = {role.value: cell.text for role, cell in columns.place(row, headed).items()}
    cells |= _rates_and_discounts(row, headed)
    icms = [one for one in headed if _ICMS_RATE.search(one.text)]
    if icms:
        rates = [replace(one, role=Role.TAX if one is icms[0] else Role.OTHER) for one in headed]
        found = columns.place(row, rates).get(Role.TAX)
        cells["icms"] = found.text if found else ""
    return cells


def _rates_and_discounts(row: Row, headed: Sequence[Heading]) -> dict[str, str]:
    """Return the tax rate and the discount of a row, whose columns may be two of each."""
    by_column = columns.by_column(row, headed)
    taxes = [(one.text, text) for one, text in by_column if one.role is Role.TAX]
    rates = [rate for heading, text in taxes if (rate := _column_rate(heading, text)) is not None]
    found = {}
    if rates:
        # Two rates are the halves of one tax: CGST and SGST.
        is_halved = len(rates) == _HALVES and rates[0] == rates[1]
        found["rate"] = str(rates[0] * (_HALVES if is_halved else 1))
    discounts = [(one.text, text) for one, text in by_column if one.role is Role.DISCOUNT]
    if discounts:
        amounts = [text for heading, text in discounts if "%" not in heading]
        found[Role.DISCOUNT] = next(iter(amounts), "")
    return found


def _column_rate(heading: str, cell: str) -> Decimal | None:
    """Return the rate in a tax column: a percentage, or a usual rate without decimals."""
    marked = _rate_in(cell, needs_sign=True)
    if marked is not None:
        return marked
    rate = _rate_in(cell, needs_sign=False)
    is_rate = "%" in heading or _BARE_RATE.fullmatch(cell.strip()) is not None
    return rate if rate is not None and is_rate and (rate in _usual_rates() or not rate) else None


@functools.cache
def _usual_rates() -> frozenset[Decimal]:
    return frozenset(rate for rates in tables.tax_rates().values() for rate in rates)


def _with_last_code(headed: Sequence[Heading]) -> list[Heading]:
    """Make the last column of codes the only one: the first one of `Pos  Code` is a count."""
    total = next((one.x0 for one in headed if one.role is Role.TOTAL), None)
    if total is not None:
        # Codes right of the amounts are those of tax rates.
        headed = [
            replace(one, role=Role.OTHER) if one.role is Role.CODE and one.x0 > total else one
            for one in headed
        ]
    codes = [one for one in headed if headings.role_of(one.text) is Role.CODE]
    return [
        replace(one, role=Role.CODE if one is codes[-1] else Role.OTHER)
        if len(codes) > 1 and one in codes and one.role is not Role.NAME
        else one
        for one in headed
    ]


def _without_code(name: str, row: Row, cells: Mapping[str, str]) -> str:
    """Return a name without the cell of the column of codes right of it: `Daypack  RD28-MOS`."""
    code = cells.get(Role.CODE, "").strip()
    if not _CODE_CELL.fullmatch(code) or not name.endswith(f" {code}"):
        return name
    bare = name.removesuffix(code).rstrip(" -:;,|")
    is_cell = any(cell.strip() == code for cell in row.text.split("\t")[1:])
    return bare if is_cell and item_name.is_name(bare) else name


def _code(place: _Place, cells: Mapping[str, str]) -> str | None:
    cell = cells.get(Role.CODE, "").strip()
    if _CODE_CELL.fullmatch(cell) and any(map(str.isdigit, cell)):
        return cell
    row = place.rows[0]
    marked = (
        _PORTAL_CODE.search(" ".join(each.text for each in place.rows)),
        priced_row.CODE_AT_END.search(place.rows[-1].text),
        _BRACKETED_CODE.search(row.text),
    )
    if match := next(filter(None, marked), None):
        return match["code"]
    start = _start(place.item, row)
    before = row.text[: start or 0]
    if match := _INDEX.match(before):
        before = before[match.end() :]
        if _NUMBER.fullmatch(before.strip()):
            return before.strip()
    if found := _CODE.findall(before):
        return str(found[-1])
    name = place.item.value.name
    after = _LONG_CODE.search(row.text, (start or 0) + len(name)) if start is not None else None
    above = (detail.code for each in place.above if (detail := details.read(each)))
    return after[0] if after else next(above, None)


def _unit(place: _Place, cells: Mapping[str, str]) -> str | None:
    cell = cells.get(Role.UNIT, "").strip(" .|")
    # A long unit that is not known may be a part of the name on an image.
    is_short = cell.isalpha() and cell.isupper() and len(cell) <= _SHORT_UNIT
    is_known = fold(cell) in _folded_units()
    is_unit = is_known or is_short or place.row.is_exact
    is_word = cell[:1].isalpha() and cell.isalnum() and len(cell) <= _LONGEST_UNIT
    qty = place.item.value.qty
    if is_word and is_unit and _holds(cells.get(Role.QTY, ""), qty):
        return cell
    rows = (place.row, *place.rows[:-1], *place.below[:1], *place.above)
    for row in rows if qty is not None else ():
        start, end = _name_span(place.item, row)
        # The contents of a pack may equal the quantity: `1KG`.
        for figure in reversed(tuple(numbers.every(row.text, minor=row.minor))):
            after = _unit_after().match(row.text, figure.end)
            if qty in figure.readings and after and not start <= figure.start < end:
                return after["unit"]
            piece = _piece_after().match(row.text, figure.end)
            if qty in figure.readings and piece and piece.end() == start:
                return piece["unit"]
    return cell if is_known else None


def _holds(cell: str, qty: Decimal | None) -> bool:
    """Return whether a column has the quantity; rows of tills may not be below their headings."""
    return qty is None or any(qty in figure.readings for figure in numbers.every(cell))


def _name_span(item: _Found, row: Row) -> tuple[int, int]:
    """Return where the name of an item is in a row; nowhere if it is not."""
    start = _start(item, row)
    return (0, 0) if start is None else (start, start + len(item.value.name))


@functools.cache
def _unit_after() -> re.Pattern[str]:
    """A unit after a quantity, before a multiplication sign, a price or the next column."""
    longest_first = sorted(_units(), key=len, reverse=True)
    known = "|".join(map(re.escape, longest_first))
    return re.compile(
        rf"[ \t]?(?P<unit>(?i:{known})|[A-Z]{{2,3}}(?=\s?[xX×*]\s?\d))\.?(?![^\W_])"
        r"(?=\s*(?:[xX×*@(]|NET\b|a\s\d|à|\d|[$€£]|R\$|[A-Z]{1,2}\d|T\d|$))"
    )


@functools.cache
def _piece_after() -> re.Pattern[str]:
    """A unit between a quantity and a name: `2 stk Brunost`."""
    return re.compile(rf"\s*(?P<unit>{lexicon.pieces()})\.?\s+", re.IGNORECASE)


@functools.cache
def _units() -> frozenset[str]:
    return frozenset(resources.table("item_units.toml")["units"])


@functools.cache
def _folded_units() -> frozenset[str]:
    return frozenset(map(fold, _units()))


def _tax_rate(
    place: _Place, cells: Mapping[str, str], legend: Mapping[str, Decimal]
) -> Decimal | None:
    for cell in (cells.get("icms"), cells.get(Role.TAX)):
        rate = _rate_in(cell or "", needs_sign="icms" not in cells)
        if rate is not None:
            return rate
    if "rate" in cells:
        return Decimal(cells["rate"])
    last = place.row
    rates = [match for match in _RATE.finditer(last.text) if not _is_discounted(last.text, match)]
    start = _start(place.item, last)
    end = (start or 0) + len(place.item.value.name) if start is not None else 0
    for match in (*rates, *_SIGN_FIRST.finditer(last.text)):
        if match.start() >= end:
            return _rate(match["rate"])
    letter = _LETTER.search(last.text)
    return legend.get(letter["letter"]) if letter else None


def _is_discounted(text: str, match: re.Match[str]) -> bool:
    """Return whether a percentage is a discount: `-10%`."""
    before = text[: match.start()].rstrip()
    return before.endswith("-") or bool(lexicon.wordbook("discount").find(before[-20:]))


def _rate_in(cell: str, *, needs_sign: bool) -> Decimal | None:
    pattern = r"^\W*(?P<rate>\d{1,2}(?:[.,]\d{1,4})?)\s?" + ("%" if needs_sign else "%?") + r"\W*$"
    match = re.search(pattern, cell)
    return _rate(match["rate"]) if match else None


def _rate(text: str) -> Decimal | None:
    rate = Decimal(text.replace(",", "."))
    return rate if rate <= _MOST_RATE else None


def _legend(rows: Sequence[Row]) -> dict[str, Decimal]:
    """Return the tax rate of each letter that a row explains."""
    found: dict[str, set[Decimal]] = {}
    for row in rows:
        for match in _LEGEND.finditer(row.text):
            letter = match["letter"] or match["letter2"] or match["letter3"]
            rate = _rate(match["rate"] or match["rate2"] or match["rate3"])
            if rate is not None:
                found.setdefault(letter, set()).add(rate)
    return {letter: next(iter(rates)) for letter, rates in found.items() if len(rates) == 1}


def _discount(place: _Place, cells: Mapping[str, str]) -> Decimal | None:
    cell = cells.get(Role.DISCOUNT, "")
    if "%" not in cell:
        printed = next((one for one in numbers.every(cell) if one.has_minor), None)
        if printed is not None and printed.value:
            return abs(printed.value)
    for row in place.below:
        amounts = [one.value for one in row.numbers if one.is_money and one.value]
        # `opust -4,50 z ceny 19,99`
        reduced = [*(value for value in amounts if value < 0), *amounts[-1:]]
        is_own = not place.is_last or _leads_to(amounts, place.item.value.total)
        if reduced and _is_discount_row(row, is_last=not is_own):
            return abs(reduced[0])
    return None


def _leads_to(amounts: Sequence[Decimal], total: Decimal | None) -> bool:
    """Return whether two amounts are a price and its discount, which make the total of an item."""
    return len(amounts) == _HALVES and sum(amounts) == total


def _is_discount_row(row: Row, *, is_last: bool) -> bool:
    """Return whether a row is the discount of the item above; below the last it may be of all."""
    label = row.text[: row.numbers[0].start] if row.numbers else row.text
    if _TOTAL.search(label) or (is_last and not _OF_ITEM.search(label)):
        return False
    is_on_item = lexicon.row_kind(label) == "on_item"
    return is_on_item or bool(lexicon.wordbook("discount").find(label))
