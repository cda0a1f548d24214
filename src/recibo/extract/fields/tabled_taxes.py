"""Finds the lines of tax tables, one for each rate: net, tax and gross in columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from recibo.extract.candidates import TaxCandidate
from recibo.extract.fields import tax_table
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.fields.tax_candidates import NEAR, TaxContext, agree, rates_in
from recibo.extract.fields.tax_rows import TaxRow
from recibo.extract.model import Extracted, TaxLine, around

_MOST_TABLES = 24
_UNKNOWN = 0.5
# Without a printed rate, a tax is that of a rate of the country to the cent.
_ROUNDING = Decimal("0.01")

_Lines = tuple[TaxCandidate, ...]


def tabled_taxes(context: TaxContext) -> tuple[_Lines, ...]:
    """Return the possible tax tables with their lines, likelier ones first."""
    return tuple(islice(_each_once(context), _MOST_TABLES))


def _each_once(context: TaxContext) -> Iterator[_Lines]:
    seen: set[tuple[TaxLine, ...]] = set()
    for run in tax_table.tables(context.rows):
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
    return any(abs(net * rate / 100 - value.amount) <= _ROUNDING for rate in context.known)


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


@dataclass(frozen=True, slots=True)
class _Rate:
    """The rate of a row, None without one."""

    value: Decimal | None
    #: Whether it is printed elsewhere on the document.
    is_inferred: bool = False


def _lines_of(tax_row: TaxRow, context: TaxContext) -> Iterator[TaxCandidate]:
    """Yield the line of a row of a table, or two lines if the tax has two equal halves."""
    row = tax_row.row
    net = _net(tax_row, context)
    names = context.names_above(row)
    parts = _parts(tax_row, names)
    rate = _rate(tax_row, parts, context)
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


def _parts(tax_row: TaxRow, names: Sequence[str]) -> list[Decimal]:
    """Return the tax, or its two equal halves if they are in separate columns."""
    values = [amount.value for amount in tax_row.row.amounts]
    half = tax_row.tax / 2
    if tax_row.net is None or not half:
        return [tax_row.tax]
    if values.count(half) > 1:
        return [half, half]
    is_half = values.count(tax_row.tax) > 1 and len(set(names)) > 1
    return [tax_row.tax] * (1 + is_half)


def _rate(tax_row: TaxRow, parts: Sequence[Decimal], context: TaxContext) -> _Rate:
    printed = [amount for amount in tax_row.row.amounts if amount.is_percent]
    if len(parts) == 1 and tax_row.rate is not None:
        return _Rate(tax_row.rate)
    if len(parts) == 1 and len(printed) == 1:
        return _Rate(printed[0].value)
    base = tax_row.gross - tax_row.tax if tax_row.net is None else tax_row.net
    fitting = [rate for rate in context.printed if rate and agree(base, rate, parts[0])]
    return _Rate(fitting[0], is_inferred=True) if len(fitting) == 1 else _Rate(None)
