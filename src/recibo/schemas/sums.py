"""What may be between the amounts of a receipt."""

from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import combinations

from recibo.schemas.receipts import Reading, Receipt

_ADDED = ("service_charge", "tip", "rounding")


def steps(shape: Reading | Receipt) -> AbstractSet[Decimal]:
    """Return what discount, charges, tip and rounding add up to, each counted or not.

    Items and subtotals are printed before or after any of them.
    """
    given = [getattr(shape, name) for name in _ADDED]
    amounts = [Decimal(one) for one in given if one is not None]
    if shape.discount is not None:
        amounts.append(-Decimal(shape.discount))
    return {
        sum(chosen, Decimal(0))
        for count in range(len(amounts) + 1)
        for chosen in combinations(amounts, count)
    }
