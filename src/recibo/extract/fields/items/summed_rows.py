"""Finds charges on a wide page by their sum: the amount below them, whatever its label."""

from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.fields.items import priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon

# Fewer amounts may add up by chance; more are not tried.
_FEWEST, _MOST = 2, 60
# Charges begin at one edge; their sum at another one, or with the label of a total. In heights.
_EDGE = 0.5
_DISCOUNTS = (Meaning.DISCOUNT, Meaning.ON_ITEM)
_MOST_ROWS = 400
# The taxes of each rate may be between them and their sum.
_MOST_BELOW = 5


def find(rows: Sequence[Row]) -> list[Priced]:
    """Return the most charges at one edge that add up to the amount below them, else none."""
    read = [each for row in rows[:_MOST_ROWS] if (each := priced_row.read(row))]
    sums = [_sums(each) for each in read]
    runs = (
        _above(read[:end], read[end], frozenset().union(*sums[end + 1 : end + _MOST_BELOW]))
        for end in range(_FEWEST, len(read))
    )
    return max(runs, key=len, default=[])


def _above(read: Sequence[Priced], whole: Priced, sums: frozenset[Decimal]) -> list[Priced]:
    """Return the charges directly above a sum of them, from top to bottom.

    Args:
        read: The rows with amounts above the sum.
        whole: The next row, which may be the sum.
        sums: The totals in the rows below it.
    """
    best: list[Priced] = []
    run: list[Priced] = []
    total = Decimal(0)
    for each in reversed(read[-_MOST:]):
        if not run and _is_adjustment(each):
            total += each.total
            continue
        if not _is_charge(each) or (run and not _is_in_column(each, run[0])):
            break
        run.insert(0, each)
        total += each.total
        is_whole = total == whole.total and _is_apart(whole, run[0])
        if len(run) >= _FEWEST and (is_whole or total in sums):
            best = list(run)
    return best


def _is_charge(read: Priced) -> bool:
    meaning = terminators.meaning(read.row)
    return read.has_name and meaning not in (Meaning.END, Meaning.PAYMENT)


def _is_adjustment(read: Priced) -> bool:
    """Return whether a row below the charges is a discount or a rounding of their sum."""
    is_discount = terminators.meaning(read.row) in _DISCOUNTS and read.total < 0
    return is_discount or bool(lexicon.phrasebook("rounding").find(read.words))


def _is_apart(whole: Priced, charge: Priced) -> bool:
    is_total = terminators.meaning(whole.row) in terminators.ENDS
    is_net = bool(lexicon.phrasebook("taxable", "excluding").find(whole.words))
    return is_total or is_net or not _is_at_edge(whole, charge)


def _sums(read: Priced) -> frozenset[Decimal]:
    """Return the amounts of a row of totals, which may be below the taxes of each rate."""
    if not terminators.is_total(read.row):
        return frozenset()
    return frozenset(figure.value for figure in read.row.numbers if figure.is_money)


def _is_in_column(one: Priced, other: Priced) -> bool:
    """Return whether two rows begin or end at one edge."""
    ends = (each.row.x_at(each.total_figure.end) for each in (one, other))
    is_page = one.row.line.page == other.row.line.page
    first, second = ends
    return _is_at_edge(one, other) or (is_page and abs(first - second) < _EDGE * other.row.height)


def _is_at_edge(one: Priced, other: Priced) -> bool:
    left, right = one.row.line.box, other.row.line.box
    is_near = abs(left.x0 - right.x0) < _EDGE * other.row.height
    return one.row.line.page == other.row.line.page and is_near
