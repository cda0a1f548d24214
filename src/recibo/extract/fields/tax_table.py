"""Reads tax tables, which split the total into net and tax, whatever their headings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from recibo.extract.candidates import TaxBreakdown
from recibo.extract.fields.tax_rows import Columns, TaxRow, tax_rows
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, around

# A heading with a tax is at most this many rows above the table's last row.
_HEADING_ROWS = 6
# The rows of two rates are adjacent, or one other row is between them.
_MOST_APART = 2
# The most rates of a document; a table with more rows lists items.
_MOST_RATES = 8
_TOLERANCE = Decimal("0.01")
_CONFIDENCE, _UNSETTLED = 0.9, 0.7

_Run = Sequence[TaxRow]


def tax_breakdowns(rows: Sequence[Row], totals: Sequence[Decimal]) -> tuple[TaxBreakdown, ...]:
    """Return the tax breakdowns, of one rate or several, that add up to one of `totals`."""
    found = [run for run in _runs(rows) if _is_tax_table(run, rows) and _adds_up(run, totals)]
    return tuple(_tax_breakdown(run) for run in sorted(found, key=_rank))


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
        if _mentions_tax(row, rows):
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
    return any(abs(_gross(run) - total) <= _TOLERANCE for total in totals)


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
