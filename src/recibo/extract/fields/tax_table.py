"""Reads the table that splits the total into net and tax, whatever its columns are called."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from recibo.extract.fields.tax_rows import Columns, Portion, portions
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, Split, around

# A heading that names a tax is at most so many rows above the table's last row.
_HEADING_ROWS = 6
# The rows of two rates are adjacent, or one other row is between them.
_MOST_APART = 2
# No document has more rates; a table with more rows lists items.
_MOST_RATES = 8
_TOLERANCE = Decimal("0.01")
_CONFIDENCE, _UNSETTLED = 0.9, 0.7

_Run = Sequence[Portion]


def splits(rows: Sequence[Row], totals: Sequence[Decimal]) -> tuple[Split, ...]:
    """Return the parts of tax tables, of one rate or several, that add up to one of `totals`."""
    found = [run for run in _runs(rows) if _is_tax_table(run, rows) and _adds_up(run, totals)]
    return tuple(_split(run) for run in sorted(found, key=_doubts))


def unsettled(rows: Sequence[Row]) -> tuple[Extracted[Decimal], ...]:
    """Return the tax of the longest table whose rates are right, whatever they are levied on."""
    tables = [run for run in _runs(rows) if _is_taxed(run) and _is_list_of_rates(run)]
    if not tables:
        return ()
    longest = max(tables, key=len)
    return (_found(longest, _tax(longest), _UNSETTLED),)


def _runs(rows: Sequence[Row]) -> Iterator[_Run]:
    """Yield the rows that may be one table: figures in the same columns, one below the other."""
    for column in _by_columns(rows).values():
        ends = [
            index
            for index, (above, below) in enumerate(pairwise(column), start=1)
            if below.row.index - above.row.index > _MOST_APART
        ]
        for start, end in pairwise([0, *ends, len(column)]):
            yield from _parts(column[start:end])


def _by_columns(rows: Sequence[Row]) -> dict[Columns, list[Portion]]:
    columns: dict[Columns, list[Portion]] = defaultdict(list)
    for row in rows:
        if _speaks_of_tax(row, rows):
            for portion in portions(row, is_headed=_is_headed(row, rows)):
                columns[portion.columns].append(portion)
    return columns


def _parts(column: _Run) -> Iterator[_Run]:
    """Yield all rows of a table, or some that follow each other: the others may be their sum."""
    for length in range(1, min(len(column), _MOST_RATES) + 1):
        for start in range(len(column) - length + 1):
            yield column[start : start + length]


def _is_tax_table(run: _Run, rows: Sequence[Row]) -> bool:
    """Return whether there is enough evidence that a run of rows shows sums and taxes."""
    if not _is_taxed(run):
        return False
    if all(portion.is_proven for portion in run):
        return True
    return _is_headed(run[0].row, rows) if len(run) > 1 else run[0].net is not None


def _is_headed(row: Row, rows: Sequence[Row]) -> bool:
    """Return whether headings above the row name a tax and the sum it is levied on."""
    return any(
        len(above.labels) > 1
        and any(label.kind == "tax" for label in above.labels)
        and not any(amount.is_money for amount in above.amounts)
        for above in rows[max(0, row.index - _HEADING_ROWS) : row.index]
    )


def _is_list_of_rates(run: _Run) -> bool:
    """Return whether each row shows a different rate that gives its tax."""
    rates = {portion.rate for portion in run}
    if None in rates or len(rates) < len(run):
        return False
    # Alone under its headings, a rate without a percent sign may be a quantity.
    return len(run) > 1 or any(amount.is_percent for amount in run[0].row.amounts)


def _doubts(run: _Run) -> tuple[bool, bool]:
    """Return what speaks against a run, so that the best one sorts first."""
    return any(portion.net is None for portion in run), not all(each.is_proven for each in run)


def _is_taxed(run: _Run) -> bool:
    return any(portion.tax for portion in run)


def _adds_up(run: _Run, totals: Sequence[Decimal]) -> bool:
    return any(abs(_gross(run) - total) <= _TOLERANCE for total in totals)


def _speaks_of_tax(row: Row, rows: Sequence[Row]) -> bool:
    if any(amount.is_percent for amount in row.amounts):
        return True
    near = rows[max(0, row.index - _HEADING_ROWS) : row.index + 1]
    return any(label.kind == "tax" for other in near for label in other.labels)


def _split(run: _Run) -> Split:
    nets = [portion.net for portion in run if portion.net is not None]
    net = sum(nets, Decimal(0)) if len(nets) == len(run) else None
    return Split(
        gross=_gross(run),
        net=None if net is None else _found(run, net, _CONFIDENCE),
        tax=_found(run, _tax(run), _CONFIDENCE),
    )


def _gross(run: _Run) -> Decimal:
    return sum((portion.gross for portion in run), Decimal(0))


def _tax(run: _Run) -> Decimal:
    return sum((portion.tax for portion in run), Decimal(0))


def _found(run: _Run, value: Decimal, confidence: float) -> Extracted[Decimal]:
    page = run[0].row.line.page
    boxes = [
        portion.row.box(figure.start, figure.end)
        for portion in run
        for figure in portion.figures
        if portion.row.line.page == page
    ]
    text = "\n".join(portion.row.text for portion in run)
    return Extracted(value, confidence, text, page, around(boxes))
