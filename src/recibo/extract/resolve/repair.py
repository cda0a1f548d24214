"""Repairs a misread total, or infers a missing one, from sums that agree."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.model import Extracted

# A single sum may contain the misread digit itself; two that agree do not.
_ENOUGH_WAYS = 2
# Only a likely total is repaired; other amounts may be one digit off by chance.
_LIKELY = 0.5


def repaired(
    totals: Sequence[Extracted[Decimal]], ways: Sequence[Collection[Decimal]]
) -> tuple[Extracted[Decimal], ...]:
    """Return the totals; likely ones with one misread digit get the value that two ways agree on.

    Args:
        totals: The totals as read.
        ways: The totals computed in each independent way.
    """
    agreed = _agreed(ways)
    # A sum that is printed needs no repair, whatever else resembles it.
    if agreed & {total.value for total in totals}:
        return tuple(totals)
    return tuple(_repaired(total, agreed) for total in totals)


def inferred(
    totals: Sequence[Extracted[Decimal]],
    ways: Sequence[Collection[Decimal]],
    change: Sequence[Extracted[Decimal]],
) -> tuple[Extracted[Decimal], ...]:
    """Return the total of a document without a printed one: the change and another way agree.

    Args:
        totals: The totals as read and repaired.
        ways: The totals computed in each independent way, from cash and change first.
        change: The change, whose place is the evidence.
    """
    agreed = _agreed(ways)
    if len(agreed) != 1 or agreed & {total.value for total in totals}:
        return ()
    return tuple(
        replace(back, value=value, confidence=_LIKELY)
        for back in change[:1]
        for value in agreed & set(ways[0])
    )


def _agreed(ways: Sequence[Collection[Decimal]]) -> set[Decimal]:
    counted = Counter(value for way in ways for value in set(way) if value > 0)
    return {value for value, count in counted.items() if count >= _ENOUGH_WAYS}


def _repaired(total: Extracted[Decimal], agreed: Collection[Decimal]) -> Extracted[Decimal]:
    near = [value for value in agreed if _is_one_digit_off(total.value, value)]
    is_sure = len(near) == 1 and total.confidence > _LIKELY
    return replace(total, value=near[0]) if is_sure else total


def _is_one_digit_off(read: Decimal, expected: Decimal) -> bool:
    """Return whether one digit is wrong, missing or extra."""
    one, other = _figures(read), _figures(expected)
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    longer, shorter = max(one, other, key=len), min(one, other, key=len)
    return len(longer) == len(shorter) + 1 and any(
        longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer))
    )


def _figures(value: Decimal) -> str:
    return str(value).replace(".", "")
