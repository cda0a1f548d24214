"""Reads tax tables, which split the total into net and tax, whatever their headings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, pairwise, permutations

from recibo.extract.candidates import TaxBreakdown, TaxCandidate
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.fields.tax_candidates import NEAR, TaxContext, agree, rates_in
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, TaxLine, around
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Number

# A heading with a tax is at most this many rows above the table's last row.
_HEADING_ROWS = 6
# The rows of two rates are adjacent, or one other row is between them.
_MOST_APART = 2
# The most rates of a document; a table with more rows lists items.
_MOST_RATES = 8
# Amounts are rounded to the cent.
_CENT = Decimal("0.01")
_CONFIDENCE, _UNSETTLED = 0.9, 0.7

# The largest tax as a share of the net price, and the smallest as a share of the gross price: a
# smaller number may be a quantity.
_MOST_RATE, _LEAST_RATE = Decimal("0.5"), Decimal("0.009")
# A till taxes and rounds each item separately, so the rate of their sum is slightly off.
_OFF_BY_CENTS, _OFF_BY_SHARE = Decimal("0.02"), Decimal("0.005")
_WHOLE = Decimal(100)
_HIGHEST_RATE = Decimal(35)
# The most numbers in a row of a tax table.
_MOST_FIGURES = 7

#: The positions of net, tax and gross among the numbers of a row, from the right.
Columns = tuple[int | None, int, int | None]
_MOST_TABLES = 24
_UNKNOWN = 0.5

_Lines = tuple[TaxCandidate, ...]


@dataclass(frozen=True, slots=True)
class _Rate:
    """The rate of a row, None without one."""

    value: Decimal | None
    #: Whether it is printed elsewhere on the document.
    is_inferred: bool = False


@dataclass(frozen=True, slots=True)
class TaxRow:
    """The amounts of one rate, or of all rates."""

    row: Row
    tax: Decimal
    gross: Decimal
    #: None if only the gross amount is printed.
    net: Decimal | None
    figures: tuple[Number, ...]
    columns: Columns
    #: The printed rate, in percent, that agrees with the amounts of the row.
    rate: Decimal | None
    #: Whether the amounts agree, by their rate or by their sum.
    is_proven: bool


_Run = Sequence[TaxRow]


def tax_breakdowns(rows: Sequence[Row], totals: Sequence[Decimal]) -> tuple[TaxBreakdown, ...]:
    """Return the tax breakdowns, of one rate or several, that add up to one of `totals`."""
    found = [run for run in _runs(rows) if _is_tax_table(run, rows) and _adds_up(run, totals)]
    whole = [run for run in found if not any(_is_part(run, other) for other in found)]
    return tuple(_tax_breakdown(run) for run in sorted(whole, key=_rank))


def _is_part(run: _Run, other: _Run) -> bool:
    """Return whether a run is some of the rates of a table that adds up as a whole."""
    is_table = run[0].columns == other[0].columns and all(one.is_proven for one in other)
    return is_table and {one.row.index for one in run} < {one.row.index for one in other}


def tables(rows: Sequence[Row]) -> tuple[Sequence[TaxRow], ...]:
    """Return the rows that may be whole tax tables, likelier ones first."""
    found = [run for run in _runs(rows) if _is_tax_table(run, rows)]
    return tuple(sorted(found, key=lambda run: (*_rank(run), -len(run))))


def longest_table_tax(rows: Sequence[Row]) -> tuple[Extracted[Decimal], ...]:
    """Return the tax of the longest table whose rates agree with its amounts."""
    tables = [run for run in _runs(rows) if _is_taxed(run) and _is_list_of_rates(run)]
    if not tables:
        return ()
    longest = max(tables, key=len)
    return (_found(longest, _tax(longest), _UNSETTLED),)


def _runs(rows: Sequence[Row]) -> Iterator[_Run]:
    """Yield the rows that may be one table: numbers in the same columns, one below the other."""
    for column in _by_columns(rows).values():
        ends = [
            index
            for index, (above, below) in enumerate(pairwise(column), start=1)
            if below.row.index - above.row.index > _MOST_APART
        ]
        for start, end in pairwise([0, *ends, len(column)]):
            yield from _parts(column[start:end])


def _by_columns(rows: Sequence[Row]) -> dict[Columns, list[TaxRow]]:
    columns: dict[Columns, list[TaxRow]] = defaultdict(list)
    for row in rows:
        if _mentions_tax(row, rows) and not lexicon.wordbook("conditional").find(row.text):
            for tax_row in tax_rows(row, is_headed=_is_headed(row, rows)):
                columns[tax_row.columns].append(tax_row)
    return columns


def _parts(column: _Run) -> Iterator[_Run]:
    """Yield all rows of a table, or some adjacent ones: another row may be their sum."""
    for length in range(1, min(len(column), _MOST_RATES) + 1):
        for start in range(len(column) - length + 1):
            yield column[start : start + length]


def _is_tax_table(run: _Run, rows: Sequence[Row]) -> bool:
    """Return whether there is enough evidence that a run of rows shows sums and taxes."""
    if not _is_taxed(run):
        return False
    if all(tax_row.is_proven for tax_row in run):
        return True
    if any(tax_row.net is None and tax_row.tax < tax_row.gross * _LEAST_RATE for tax_row in run):
        return False
    # No tax is so high; the columns are of items.
    if any(_WHOLE * one.tax > _HIGHEST_RATE * (one.gross - one.tax) for one in run):
        return False
    return _is_headed(run[0].row, rows) if len(run) > 1 else run[0].net is not None


def _is_headed(row: Row, rows: Sequence[Row]) -> bool:
    """Return whether there are headings of a tax and its taxable amount above the row."""
    return any(
        len(above.labels) > 1
        and any(label.kind == "tax" for label in above.labels)
        and not any(amount.is_money for amount in above.amounts)
        for above in rows[max(0, row.index - _HEADING_ROWS) : row.index]
    )


def _is_list_of_rates(run: _Run) -> bool:
    """Return whether each row has a different rate that agrees with its tax."""
    rates = {tax_row.rate for tax_row in run}
    if None in rates or len(rates) < len(run):
        return False
    # In a single row below headings, a rate without a percent sign may be a quantity.
    return len(run) > 1 or any(amount.is_percent for amount in run[0].row.amounts)


def _rank(run: _Run) -> tuple[bool, bool]:
    """Return a sort key of a run, lower is better."""
    return any(tax_row.net is None for tax_row in run), not all(each.is_proven for each in run)


def _is_taxed(run: _Run) -> bool:
    return any(tax_row.tax for tax_row in run)


def _adds_up(run: _Run, totals: Sequence[Decimal]) -> bool:
    return any(abs(_gross(run) - total) <= _CENT for total in totals)


def _mentions_tax(row: Row, rows: Sequence[Row]) -> bool:
    if any(amount.is_percent for amount in row.amounts):
        return True
    near = rows[max(0, row.index - _HEADING_ROWS) : row.index + 1]
    return any(label.kind == "tax" for other in near for label in other.labels)


def _tax_breakdown(run: _Run) -> TaxBreakdown:
    nets = [tax_row.net for tax_row in run if tax_row.net is not None]
    net = sum(nets, Decimal(0)) if len(nets) == len(run) else None
    return TaxBreakdown(
        gross=_gross(run),
        net=None if net is None else _found(run, net, _CONFIDENCE),
        tax=_found(run, _tax(run), _CONFIDENCE),
    )


def _gross(run: _Run) -> Decimal:
    return sum((tax_row.gross for tax_row in run), Decimal(0))


def _tax(run: _Run) -> Decimal:
    return sum((tax_row.tax for tax_row in run), Decimal(0))


def _found(run: _Run, value: Decimal, confidence: float) -> Extracted[Decimal]:
    page = run[0].row.line.page
    boxes = [
        tax_row.row.box(figure.start, figure.end)
        for tax_row in run
        for figure in tax_row.figures
        if tax_row.row.line.page == page
    ]
    text = "\n".join(tax_row.row.text for tax_row in run)
    return Extracted(value, confidence, text, page, around(boxes))


def tax_rows(row: Row, *, is_headed: bool) -> Iterator[TaxRow]:
    """Yield the possible amounts of a tax in a row, with columns in any order.

    Below the headings of a tax table a rate needs no percent sign.
    """
    if len(row.amounts) > _MOST_FIGURES:
        return
    money = [amount for amount in row.amounts if row.is_money(amount) and amount.value >= 0]
    for base, tax in permutations(money, 2):
        if tax.value <= base.value * _MOST_RATE and base.value:
            rates = _rates(row, is_headed=is_headed)
            yield from _of_two(row, base, tax, rates)
            yield from _of_three(row, base, tax, rates)


def _of_two(row: Row, base: Number, tax: Number, rates: Sequence[Number]) -> Iterator[TaxRow]:
    """Yield two amounts with the larger one as net, and as gross."""
    net, levied = base.value, tax.value
    on_net = _rate(rates, net, levied, (base, tax))
    yield _tax_row(row, (base, tax, None), net=net, rate=on_net)
    if levied <= (net - levied) * _MOST_RATE:
        within = _rate(rates, net - levied, levied, (base, tax))
        yield _tax_row(row, (None, tax, base), net=None, rate=within)


def _of_three(row: Row, net: Number, tax: Number, rates: Sequence[Number]) -> Iterator[TaxRow]:
    """Yield amounts with a third one as the sum of two, or of the net and two halves of a tax."""
    money = [amount for amount in row.amounts if row.is_money(amount)]
    is_halved = sum(amount.value == tax.value for amount in money) > 1
    for gross in money:
        levied = gross.value - net.value
        is_sum = abs(levied - tax.value) <= _CENT or (is_halved and levied == 2 * tax.value)
        if is_sum and gross not in (net, tax):
            rate = _rate(rates, net.value, levied, (net, tax, gross))
            yield _tax_row(row, (net, tax, gross), net=net.value, rate=rate)


def _tax_row(
    row: Row,
    parts: tuple[Number | None, Number, Number | None],
    *,
    net: Decimal | None,
    rate: Decimal | None,
) -> TaxRow:
    _, tax, gross = parts
    levied = tax.value if gross is None or net is None else gross.value - net
    return TaxRow(
        row=row,
        tax=levied,
        gross=gross.value if gross else (net or Decimal(0)) + tax.value,
        net=net,
        figures=tuple(part for part in parts if part),
        columns=(
            _column_of(row, parts[0]),
            _column_of(row, tax) or 0,
            _column_of(row, gross),
        ),
        rate=rate,
        is_proven=rate is not None or None not in parts,
    )


def _column_of(row: Row, amount: Number | None) -> int | None:
    return None if amount is None else len(row.amounts) - row.amounts.index(amount)


def _rates(row: Row, *, is_headed: bool) -> list[Number]:
    marked = [amount for amount in row.amounts if amount.is_percent]
    bare = [amount for amount in row.amounts if is_headed and not amount.has_symbol]
    return [rate for rate in marked or bare if 0 <= rate.value <= _HIGHEST_RATE]


def _rate(
    rates: Sequence[Number], net: Decimal, tax: Decimal, others: Sequence[Number]
) -> Decimal | None:
    """Return the rate that agrees with the tax, a number other than the amounts."""
    near = (
        rate.value
        for rate in rates
        if rate not in others
        and abs(net * rate.value / _WHOLE - tax) <= max(_OFF_BY_CENTS, tax * _OFF_BY_SHARE)
    )
    return next(near, None)


def tabled_taxes(context: TaxContext) -> tuple[_Lines, ...]:
    """Return the possible tax tables with their lines, likelier ones first."""
    return tuple(islice(_each_once(context), _MOST_TABLES))


def _each_once(context: TaxContext) -> Iterator[_Lines]:
    seen: set[tuple[TaxLine, ...]] = set()
    for run in tables(context.rows):
        if not _is_money(run, context):
            continue
        lines = tuple(line for row in run for line in _lines_of(row, context))
        for some in (lines, (*lines, *_zeros_near(run, lines, context))):
            values = tuple(line.found.value for line in some)
            if values not in seen and all(_is_plausible(line, context) for line in some):
                seen.add(values)
                yield some


def _is_money(run: Sequence[TaxRow], context: TaxContext) -> bool:
    return all(context.is_money(row.row, figure) for row in run for figure in row.figures)


def _is_plausible(line: TaxCandidate, context: TaxContext) -> bool:
    """Return whether the rate or the sum of a line proves it, or a rate of the country does."""
    value = line.found.value
    if not value.amount or value.rate is not None or not context.known:
        return True
    if line.features.get("full"):
        return True
    net = (line.gross or Decimal(0)) - value.amount if value.base is None else value.base
    return any(abs(net * rate / 100 - value.amount) <= _CENT for rate in context.known)


def _zeros_near(
    run: Sequence[TaxRow], lines: _Lines, context: TaxContext
) -> Iterator[TaxCandidate]:
    """Yield the rates of a table whose amounts are all zero."""
    own = {tax_row.row.index for tax_row in run}
    has_base = any(line.found.value.base is not None for line in lines)
    for row in context.rows[max(0, min(own) - NEAR) : max(own) + NEAR + 1]:
        rates, money = rates_in(row), context.money(row)
        if row.index in own or len(rates) != 1 or not money:
            continue
        if not any(amount.value for amount in money):
            base = Decimal(0) if has_base and len(money) > 1 else None
            line = TaxLine(context.name_above(row), rates[0].value, base, Decimal(0))
            yield context.labelled(Entry(money[-1], Role.TAX, row), line, Decimal(0), table_zero=1)


def _lines_of(tax_row: TaxRow, context: TaxContext) -> Iterator[TaxCandidate]:
    """Yield the line of a row of a table, or two lines if the tax has two equal halves."""
    row = tax_row.row
    net = _net(tax_row, context)
    names = context.names_above(row)
    parts = _parts_of_rate(tax_row, names)
    rate = _rate_of_row(tax_row, parts, context)
    is_full = net is not None and len(tax_row.figures) > len((net, tax_row.tax))
    box = around([row.box(figure.start, figure.end) for figure in tax_row.figures])
    for number, amount in enumerate(parts):
        name = names[min(number, len(names) - 1)] if names else None
        line = TaxLine(name, rate.value, net, amount)
        features = context.features(line, tax_row.gross) | {
            "table": 1,
            "proven": tax_row.is_proven,
            "inferred": rate.is_inferred,
            "full": is_full,
        }
        found = Extracted(line, _UNKNOWN, row.text, row.line.page, box)
        yield TaxCandidate(found, tax_row.gross, None, features)


def _net(tax_row: TaxRow, context: TaxContext) -> Decimal | None:
    """Return the net amount; None if the column with it contains gross amounts."""
    net, tax = tax_row.net, tax_row.tax
    if net is None or not tax or len(tax_row.figures) > len((net, tax)):
        return net
    printed = {amount.value for amount in tax_row.row.amounts if amount.is_percent}
    rates = printed or context.known
    is_net = any(agree(net, rate, tax) for rate in rates)
    is_gross = any(agree(net - tax, rate, tax) for rate in rates)
    return None if is_gross and not is_net else net


def _parts_of_rate(tax_row: TaxRow, names: Sequence[str]) -> list[Decimal]:
    """Return the tax, or its two equal halves if they are in separate columns."""
    values = [amount.value for amount in tax_row.row.amounts]
    half = tax_row.tax / 2
    if tax_row.net is None or not half:
        return [tax_row.tax]
    if values.count(half) > 1:
        return [half, half]
    is_half = values.count(tax_row.tax) > 1 and len(set(names)) > 1
    return [tax_row.tax] * (1 + is_half)


def _rate_of_row(tax_row: TaxRow, parts: Sequence[Decimal], context: TaxContext) -> _Rate:
    printed = [amount for amount in tax_row.row.amounts if amount.is_percent]
    if len(parts) == 1 and tax_row.rate is not None:
        return _Rate(tax_row.rate)
    if len(parts) == 1 and len(printed) == 1:
        return _Rate(printed[0].value)
    base = tax_row.gross - tax_row.tax if tax_row.net is None else tax_row.net
    fitting = [rate for rate in context.printed if rate and agree(base, rate, parts[0])]
    return _Rate(fitting[0], is_inferred=True) if len(fitting) == 1 else _Rate(None)
