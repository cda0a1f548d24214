"""Checks amounts against the printed totals: finds sums, repeated discounts and misread amounts.

Words hardly matter here, only whether the remaining amounts add up to a printed total.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, priced_row, terminators
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon

#: A sum of fewer may be a chance: two cheap items and one that costs as much as both.
_FEWEST = 3
#: With a word for total two are enough.
_FEWEST_NAMED = 2


def outliers(reads: Sequence[Priced], rows: Sequence[Row]) -> frozenset[int]:
    """Return the indices of rows that are not items, according to the totals in `rows`."""
    totals = terminators.totals(rows)
    found = set(_running_sums(reads))
    left = [index for index in range(len(reads)) if index not in found]
    if left and _is_sum(left, reads, totals, rows):
        found.add(left.pop())
    found |= _sum_and_charges(left, reads, rows)
    left = [index for index in left if index not in found]
    found |= _group_sums(left, reads, totals)
    left = [index for index in left if index not in found]
    found |= _discount_of_all(left, reads, rows)
    left = [index for index in left if index not in found]
    return frozenset(found | _repeated_discounts(left, reads, totals))


def _running_sums(reads: Sequence[Priced]) -> list[int]:
    """Return the running totals: labelled as a total, and equal to the sum of all above."""
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
    left: Sequence[int],
    reads: Sequence[Priced],
    totals: frozenset[Decimal],
    rows: Sequence[Row],
) -> bool:
    """Return whether the last row is the sum of the others, whatever its label.

    The second of two equal amounts is not an item if both together exceed every total.
    """
    *others, last = (reads[index] for index in left)
    above = sum((read.total for read in others), Decimal(0))
    if not others or last.total != above or last.factors or above + last.total in totals:
        return False
    printed = _printed_totals(rows)
    if not any(map(str.isalnum, last.words)) and last.total in printed:
        return True
    return len(left) >= _FEWEST or above + last.total > max(printed, default=above * 2)


def _sum_and_charges(
    left: Sequence[int], reads: Sequence[Priced], rows: Sequence[Row]
) -> frozenset[int]:
    """Return the sum of all rows above it, whatever its label, and the charges on it.

    `Food & Drink  156.00`, `Optional Service 12.5%  19.50`, and the total 175.50.
    """
    printed = _printed_totals(rows)
    above = Decimal(0)
    for count, index in enumerate(left):
        read, after = reads[index], left[count + 1 :]
        is_sum = count >= _FEWEST and after and read.total == above and not read.factors
        if is_sum and above + _sum(after, reads) in printed:
            charges = [reads[other] for other in after]
            if all(_is_charge(charge, above) for charge in charges):
                return frozenset([index, *after])
        above += read.total
    return frozenset()


def _is_charge(read: Priced, whole: Decimal) -> bool:
    """Return whether a row is a service charge or the like: by its words, or a rate of a sum."""
    words = lexicon.wordbook("service_charge", "tip", "charge", "rounding")
    return bool(words.find(read.words)) or _is_share(read, whole)


def _is_share(read: Priced, whole: Decimal) -> bool:
    """Return whether an amount is a percentage of a sum that is in its row."""
    amount = abs(read.total)
    smallest = Decimal(1).scaleb(min(0, int(amount.as_tuple().exponent)))
    rates = (abs(figure.value) for figure in read.row.numbers if figure.is_percent)
    return any(abs(whole * rate / 100 - amount) <= smallest for rate in rates)


def _group_sums(
    left: Sequence[int], reads: Sequence[Priced], totals: frozenset[Decimal]
) -> frozenset[int]:
    """Return the sums of groups after the items, `FOOD` and `DRINK`, which add up to the total."""
    above, below = _sum(left, reads), Decimal(0)
    for count in range(1, len(left) // 2 + 1):
        last = reads[left[-count]]
        if last.factors:
            break
        above, below = above - last.total, below + last.total
        if count >= _FEWEST_NAMED and above == below and above in totals:
            return frozenset(left[-count:])
    return frozenset()


def _discount_of_all(
    left: Sequence[int], reads: Sequence[Priced], rows: Sequence[Row]
) -> frozenset[int]:
    """Return the discount on the whole document: its rate applies to the sum of all above.

    A discount that the printed subtotal includes is an item.
    """
    *others, last = left or [-1]
    if not others or reads[last].total >= 0:
        return frozenset()
    above = _sum(others, reads)
    subtotals = terminators.totals([row for row in rows if terminators.is_subtotal(row)])
    is_of_all = _is_share(reads[last], above) and above + reads[last].total not in subtotals
    return frozenset([last] if is_of_all else [])


def _repeated_discounts(
    left: Sequence[int], reads: Sequence[Priced], totals: frozenset[Decimal]
) -> frozenset[int]:
    """Return the discounts that the prices above them already include.

    On Brazilian documents, discounts of items count only if no other sum is printed.
    """
    discounts = {index for index in left if reads[index].total < 0}
    on_item = {
        index for index in discounts if terminators.meaning(reads[index].row) is Meaning.ON_ITEM
    }
    net = _sum(left, reads)
    if on_item and (net not in totals or net - _sum(on_item, reads) in totals):
        return frozenset(on_item)
    is_repeated = net not in totals and net - _sum(discounts, reads) in totals
    return frozenset(discounts) if is_repeated else frozenset()


def _sum(indices: Iterable[int], reads: Sequence[Priced]) -> Decimal:
    return sum((reads[index].total for index in indices), Decimal(0))


def repaired(reads: Sequence[Priced], rows: Sequence[Row]) -> tuple[int, Priced] | None:
    """Return the only row that must be misread according to a total, with its amount corrected.

    The right amount is another number of the row, or a product of two: `1  25.00  26.00`.
    """
    totals = _printed_totals(rows)
    whole = sum((read.total for read in reads), Decimal(0))
    if not totals or whole in terminators.totals(rows):
        return None
    values = {
        (index, corrected)
        for index, read in enumerate(reads)
        if read.factors is None
        for corrected in _other_totals(read)
        if whole - read.total + corrected in totals
    }
    if len(values) != 1:
        return None
    index, corrected = values.pop()
    return index, priced_row.with_total(reads[index], corrected)


def _other_totals(read: Priced) -> Iterator[Decimal]:
    """Yield the other totals of a row that its numbers allow."""
    before = [figure for figure in read.row.numbers if figure.end <= read.total_figure.start]
    near = before[-arithmetic.MOST_FIGURES :]
    for figure in near:
        if figure.is_money and not figure.is_bracketed and figure.value != read.total:
            yield from (figure.value * each.value for each in near if each.is_count)
            yield figure.value


def _printed_totals(rows: Sequence[Row]) -> frozenset[Decimal]:
    return terminators.totals([row for row in rows if terminators.is_total(row)])
