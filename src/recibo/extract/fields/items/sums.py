"""What the printed totals tell of the amounts above them: sums, discounts told twice, misreadings.

No word decides here, only whether what is left makes a printed total.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.item_rows import Row
from recibo.extract.text import lexicon

#: A sum of fewer may be chance: two cheap items and one as dear as both.
_FEWEST = 3
#: With a word for total among its letters two are enough.
_FEWEST_NAMED = 2


def strangers(reads: Sequence[Priced], rows: Sequence[Row]) -> frozenset[int]:
    """Return the indices of those that are no goods, as the totals printed in `rows` tell."""
    totals = terminators.totals(rows)
    found = set(_running(reads))
    left = [index for index in range(len(reads)) if index not in found]
    if left and _is_sum(left, reads, totals, rows):
        found.add(left.pop())
    found |= _of_groups(left, reads, totals)
    left = [index for index in left if index not in found]
    found |= _off_the_sum(left, reads, rows)
    left = [index for index in left if index not in found]
    return frozenset(found | _told_again(left, reads, totals))


def _running(reads: Sequence[Priced]) -> list[int]:
    """Return the sums within the list: named a total, and as large as all above."""
    found: list[int] = []
    above = Decimal(0)
    for index, read in enumerate(reads):
        is_named = bool(lexicon.phrasebook("total", "subtotal").find(read.words))
        count = index - len(found)
        if count >= _FEWEST_NAMED and is_named and not read.factors and read.total == above:
            found.append(index)
        else:
            above += read.total
    return found


def _is_sum(
    left: Sequence[int], reads: Sequence[Priced], totals: frozenset[Decimal], rows: Sequence[Row]
) -> bool:
    """Tell whether the last row is the sum of the others, under whatever name.

    Of two equal amounts the second is none of the goods if both come to more than any total.
    """
    *others, last = (reads[index] for index in left)
    above = sum((read.total for read in others), Decimal(0))
    if not others or last.total != above or last.factors or above + last.total in totals:
        return False
    printed = _of_total_rows(rows)
    if not any(map(str.isalnum, last.words)) and last.total in printed:
        return True
    return len(left) >= _FEWEST or above + last.total > max(printed, default=above * 2)


def _of_groups(
    left: Sequence[int], reads: Sequence[Priced], totals: frozenset[Decimal]
) -> frozenset[int]:
    """Return the sums of groups behind the goods, `FOOD` and `DRINK`: they make the total again."""
    above, below = _sum(left, reads), Decimal(0)
    for count in range(1, len(left) // 2 + 1):
        last = reads[left[-count]]
        if last.factors:
            break
        above, below = above - last.total, below + last.total
        if count >= _FEWEST_NAMED and above == below and above in totals:
            return frozenset(left[-count:])
    return frozenset()


def _off_the_sum(
    left: Sequence[int], reads: Sequence[Priced], rows: Sequence[Row]
) -> frozenset[int]:
    """Return the discount on the paper as a whole: its rate of all that stands above it.

    One that the printed subtotal holds is listed with the goods.
    """
    *others, last = left or [-1]
    if not others or reads[last].total >= 0:
        return frozenset()
    above = _sum(others, reads)
    rates = [abs(figure.value) for figure in reads[last].row.figures if figure.is_percent]
    taken = -reads[last].total
    smallest = Decimal(1).scaleb(min(0, int(taken.as_tuple().exponent)))
    is_of_all = any(abs(above * rate / 100 - taken) <= smallest for rate in rates)
    subtotals = terminators.totals([row for row in rows if terminators.is_subtotal(row)])
    return frozenset([last] if is_of_all and above - taken not in subtotals else [])


def _told_again(
    left: Sequence[int], reads: Sequence[Priced], totals: frozenset[Decimal]
) -> frozenset[int]:
    """Return the discounts that the prices above them are already without.

    Those that a Brazilian paper has on its items count only if their sum alone is printed.
    """
    off = {index for index in left if reads[index].total < 0}
    on_item = {index for index in off if terminators.meaning(reads[index].row) is Meaning.ON_ITEM}
    net = _sum(left, reads)
    if on_item and (net not in totals or net - _sum(on_item, reads) in totals):
        return frozenset(on_item)
    is_again = net not in totals and net - _sum(off, reads) in totals
    return frozenset(off) if is_again else frozenset()


def _sum(indices: Iterable[int], reads: Sequence[Priced]) -> Decimal:
    return sum((reads[index].total for index in indices), Decimal(0))


def mended(reads: Sequence[Priced], rows: Sequence[Row]) -> tuple[int, Priced] | None:
    """Return the one row that a printed total shows to be misread, with its amount put right.

    Its amount is then another figure of the row, or the product of two: `1  25.00  26.00`.
    """
    totals = _of_total_rows(rows)
    whole = sum((read.total for read in reads), Decimal(0))
    if not totals or whole in terminators.totals(rows):
        return None
    values = {
        (index, right)
        for index, read in enumerate(reads)
        if read.factors is None
        for right in _otherwise(read)
        if whole - read.total + right in totals
    }
    if len(values) != 1:
        return None
    index, right = values.pop()
    return index, priced_row.with_total(reads[index], right)


def _otherwise(read: Priced) -> Iterator[Decimal]:
    """Return what the total of a row would be if its other figures made it."""
    before = [figure for figure in read.row.figures if figure.end <= read.total_figure.start]
    near = before[-arithmetic.MOST_FIGURES :]
    for figure in near:
        if figure.is_money and not figure.is_bracketed and figure.value != read.total:
            yield from (figure.value * each.value for each in near if each.is_count)
            yield figure.value


def _of_total_rows(rows: Sequence[Row]) -> frozenset[Decimal]:
    return terminators.totals([row for row in rows if terminators.is_total(row)])
