"""What the amounts of a receipt add up to, and what may be between them."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import combinations

from recibo.extract.model import DocumentType
from recibo.lib import money
from recibo.schemas.receipts import Reading, Receipt

_ADDED = ("service_charge", "tip", "rounding")
# Amounts may differ by rounding, to 0.05 in some countries: so many minor units.
_ROUNDING_UNITS = 5
#: The types of Brazilian fiscal documents.
FISCAL = frozenset(
    {DocumentType.NFE, DocumentType.NFCE, DocumentType.NFSE, DocumentType.CUPOM_FISCAL}
)
# Their `tax` is one of the taxes: the approximate total, the ICMS or the ISS.
_OF_ONE_TAX = (DocumentType.NFE, DocumentType.NFSE)


def tolerance(currency: str | None) -> Decimal:
    """Return the largest difference between amounts that counts as rounding."""
    return _ROUNDING_UNITS * Decimal(1).scaleb(-money.minor_digits(currency or ""))


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


def taxes_differ(shape: Reading | Receipt) -> bool:
    """Return whether charged taxes do not add up to `tax`, on documents where it is their sum."""
    if shape.tax is None or shape.document_key is not None or shape.type in _OF_ONE_TAX:
        return False
    # With taxes for information, `tax` is the approximate total that is printed.
    if any(one.informational for one in shape.taxes):
        return False
    charged = _sum(one.amount for one in shape.taxes)
    return charged is not None and abs(charged - Decimal(shape.tax)) > tolerance(shape.currency)


def payments_differ(shape: Reading | Receipt) -> bool:
    """Return whether payments do not add up to the total, before or after what may be between them.

    The payments of a refund are positive, its total is negative. An invoice may be paid in part.
    """
    paid = _sum(one.amount for one in shape.payments)
    if paid is None or shape.total is None:
        return False
    gap = paid - abs(Decimal(shape.total))
    if gap < 0 and shape.type == DocumentType.INVOICE:
        return False
    return all(abs(abs(gap) - abs(step)) > tolerance(shape.currency) for step in steps(shape))


def _sum(amounts: Iterable[str | None]) -> Decimal | None:
    """Return what amounts add up to; None without any, or if one is unknown."""
    given = list(amounts)
    known = [Decimal(one) for one in given if one is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(given) else None
