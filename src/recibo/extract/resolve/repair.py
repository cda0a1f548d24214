"""Sets right a total with one misread figure, or gives the missing one, where sums agree on it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.model import Extracted

# One sum may hold the misread figure itself; two that agree do not.
_ENOUGH_WAYS = 2
# Only what is likely the total is set right; any other figure may be one off by chance.
_LIKELY = 0.5


def mended(
    totals: Sequence[Extracted[Decimal]], ways: Sequence[Collection[Decimal]]
) -> tuple[Extracted[Decimal], ...]:
    """Return the totals, the likely ones as two ways to reckon them agree.

    Args:
        totals: As they were read.
        ways: What each independent way to reckon the total gives.
    """
    agreed = _agreed(ways)
    # A sum that is printed needs no mending, whatever else resembles it.
    if agreed & {total.value for total in totals}:
        return tuple(totals)
    return tuple(_mended(total, agreed) for total in totals)


def reckoned(
    totals: Sequence[Extracted[Decimal]],
    ways: Sequence[Collection[Decimal]],
    change: Sequence[Extracted[Decimal]],
) -> tuple[Extracted[Decimal], ...]:
    """Return the total of a paper that prints none: two ways agree on it, the change is one.

    Args:
        totals: As they were read and mended.
        ways: What each independent way to reckon the total gives, cash and change the first.
        change: What was given back, which is shown as evidence.
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


def _mended(total: Extracted[Decimal], agreed: Collection[Decimal]) -> Extracted[Decimal]:
    near = [value for value in agreed if _is_one_figure_off(total.value, value)]
    is_sure = len(near) == 1 and total.confidence > _LIKELY
    return replace(total, value=near[0]) if is_sure else total


def _is_one_figure_off(read: Decimal, reckoned: Decimal) -> bool:
    """Tell whether one figure is wrong, lost or too many."""
    one, other = _figures(read), _figures(reckoned)
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    longer, shorter = max(one, other, key=len), min(one, other, key=len)
    return len(longer) == len(shorter) + 1 and any(
        longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer))
    )


def _figures(value: Decimal) -> str:
    return str(value).replace(".", "")
