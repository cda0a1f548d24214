"""Quantity times unit price is the row's total: which figures of a row are which."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.fields.item_lines.figures import Figure

_CENT = Decimal("0.01")
#: Makers cut unit prices to two decimals, which shifts the product by half a cent a unit …
_CUT = Decimal("0.005")
#: … but no tolerance goes beyond this share of the total, or anything would fit large quantities.
_WIDEST = Decimal("0.01")
_MOST = Decimal(100_000)
#: Longer whole numbers are codes.
_CODE_DIGITS = 6
_PERCENT = Decimal(100)


#: Quantity, unit price, total.
Product = tuple[Decimal, Decimal, Decimal]


@dataclass(frozen=True, slots=True)
class Factors:
    """A quantity and a unit price that make a total."""

    qty: Decimal
    unit_price: Decimal
    qty_figure: Figure
    price_figure: Figure


def agrees(qty: Decimal, unit_price: Decimal, total: Decimal) -> bool:
    """Tell whether a product is a total, as far as printed figures can tell."""
    off = abs(qty * unit_price - total)
    if qty == 1:
        return off < _CUT
    return off <= _CENT or (qty > 1 and off <= min(_CENT + _CUT * qty, _WIDEST * abs(total)))


def missing_qty(unit_price: Decimal, total: Decimal) -> Decimal | None:
    """Return the whole number of units that a total holds, for a quantity that was not read."""
    if unit_price <= 0 or total <= 0:
        return None
    qty = (total / unit_price).to_integral_value()
    return qty if 1 <= qty < _MOST and agrees(qty, unit_price, total) else None


def triple(figures: Sequence[Figure]) -> Product | None:
    """Return a quantity, a price and their product that follow one another in a row.

    A product by one is a mere repetition, which columns of taxes are full of.
    """
    usable = [figure for figure in figures if _is_factor(figure)]
    for three in zip(usable, usable[1:], usable[2:], strict=False):
        for product in itertools.product(*(figure.readings for figure in three)):
            is_telling = product[0] not in (0, 1) and product[1] > 0
            if three[2].is_money and is_telling and agrees(*product):
                return product
    return None


def factors(candidates: Sequence[Figure], total: Decimal) -> Factors | None:
    """Return the quantity and unit price among the figures left of a total; None if none fit.

    The price nearest to the total goes first: codes and contents (`500G`) stand further left.
    """
    usable = [each for each in candidates if _is_factor(each)]
    plain = (
        found
        for price in sorted(usable, key=lambda each: (not each.is_money, -each.start))
        for found in _with_price(price, usable, (total,))
    )
    found = next(plain, None)
    if found is not None or len(usable) < 3:
        return found
    return _discounted(usable, candidates, total)


def _discounted(
    usable: Sequence[Figure], candidates: Sequence[Figure], total: Decimal
) -> Factors | None:
    """Return factors whose product is the total before a discount that the row prints."""
    for discount in reversed(candidates):
        if discount.value <= 0 or discount.value >= _MOST:
            continue
        whole = (total + discount.value,)
        if discount.value < _PERCENT:
            whole += (total / (1 - discount.value / _PERCENT),)
        others = [each for each in usable if each is not discount]
        for price in reversed(others):
            found = next(_with_price(price, others, whole), None)
            if found is not None and found.price_figure.is_money:
                return found
    return None


def _with_price(
    price: Figure, usable: Iterable[Figure], totals: Iterable[Decimal]
) -> Iterator[Factors]:
    quantities = sorted(
        (each for each in usable if each is not price),
        key=lambda each: _unlikeliness(each, price),
    )
    for total in totals:
        for quantity in quantities:
            for qty in quantity.readings[::-1]:
                for unit_price in price.readings:
                    is_pair = _may_count(quantity, price)
                    if is_pair and 0 < qty < _MOST and agrees(qty, unit_price, total):
                        yield Factors(qty, unit_price, quantity, price)


def _may_count(quantity: Figure, price: Figure) -> bool:
    """Tell whether the first figure may be the number of units at the price of the second."""
    if quantity.has_mark and not price.has_mark:
        return False
    is_whole = quantity.decimals == 0 and len(quantity.readings) == 1
    return quantity.start < price.start or is_whole


def _unlikeliness(figure: Figure, price: Figure) -> tuple[bool, bool, int]:
    """Order quantities: without cents, without a currency's mark, near the price go first."""
    return figure.is_money, figure.has_mark, abs(price.start - figure.start)


def _is_factor(figure: Figure) -> bool:
    is_code = figure.decimals == 0 and figure.end - figure.start > _CODE_DIGITS
    return not (figure.is_percent or figure.is_bracketed or is_code)
