"""Finds quantity and unit price in a row: their product is its total."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.model import LineItem
from recibo.extract.text.numbers import Number

_CENT = Decimal("0.01")
#: Unit prices may be rounded to two decimals, which changes the product by half a cent per unit …
_ROUNDING = Decimal("0.005")
#: … but the tolerance is at most this share of the total, or anything would fit large quantities.
_WIDEST = Decimal("0.01")
_MOST = Decimal(100_000)
_PERCENT = Decimal(100)
# The highest tax as a share of the net amount.
_MOST_TAX = Decimal("0.35")
#: From this amount on, a total without decimals may be rounded to units.
_HUNDRED, _HALF = Decimal(100), Decimal("0.5")
#: In a currency without decimals no price is lower.
_LEAST_PRICE = 10
#: Few articles are bought more often.
_MOST_COUNTED = 20
#: The numbers in a row with a quantity, a price and a discount; longer rows have tax columns.
_DISCOUNTED = range(3, 7)

#: The most numbers left of the total in a row of an item.
MOST_FIGURES = 12

#: Quantity, unit price, total.
Product = tuple[Decimal, Decimal, Decimal]


@dataclass(frozen=True, slots=True)
class Factors:
    """A quantity and a unit price whose product is a total."""

    qty: Decimal
    unit_price: Decimal
    qty_figure: Number
    price_figure: Number


def agrees(qty: Decimal, unit_price: Decimal, total: Decimal) -> bool:
    """Return whether a product is a total, within the rounding of printed numbers."""
    if total < 0:
        # A returned item has a minus sign, but mostly not its price or its quantity.
        return agrees(abs(qty), abs(unit_price), -total)
    if not 0 < qty < _MOST:
        return False
    off = abs(qty * unit_price - total)
    if qty == 1:
        return off <= _ROUNDING
    return off <= _CENT or (qty > 1 and off <= min(_CENT + _ROUNDING * qty, _WIDEST * abs(total)))


def is_product(item: LineItem) -> bool:
    """Return whether an item's quantity times its unit price is its total."""
    return (
        item.qty is not None
        and item.unit_price is not None
        and item.total is not None
        and agrees(item.qty, item.unit_price, item.total)
    )


def are_prices_first(items: Sequence[LineItem]) -> bool:
    """Return whether unit prices of a receipt were taken for quantities, and the other way round.

    All would cost few whole units, some just one, and there would be many of each.
    """
    pairs = [(one.qty, one.unit_price) for one in items]
    known = [(qty, price) for qty, price in pairs if qty is not None and price is not None]
    return (
        len(known) > 1
        and all(0 < price <= _MOST_COUNTED and price <= qty for qty, price in known)
        and not any(price % 1 for _, price in known)
        and all(_has_cents(qty) and _has_cents(price) for qty, price in known)
        and any(price == 1 and qty >= _LEAST_PRICE for qty, price in known)
    )


def _has_cents(value: Decimal) -> bool:
    return value.as_tuple().exponent == _CENT.as_tuple().exponent


def reconciled(qty: Number | None, price: Number | None, total: Number | None) -> Product | None:
    """Return the possible values whose product is the total; a dot may group or be decimal."""
    if qty is None or price is None or total is None:
        return None
    factors_of = qty.readings, price.readings
    if total.value > 0:
        factors_of = _unsigned(qty), _unsigned(price)
    options = itertools.product(*factors_of, total.readings)
    return next((each for each in options if agrees(*each)), None)


def less_discount(
    qty: Number | None, price: Number | None, total: Number | None, discount: Number | None
) -> Product | None:
    """Return the possible values whose product less a percentage discount is the total."""
    if qty is None or price is None or total is None or discount is None:
        return None
    if not 0 < discount.value < _PERCENT:
        return None
    share = 1 - discount.value / _PERCENT
    options = itertools.product(qty.readings, price.readings, total.readings)
    return next((each for each in options if agrees(each[0], each[1] * share, each[2])), None)


def is_rounded(qty: Decimal, unit_price: Decimal, total: Decimal) -> bool:
    """Return whether a product is a total after rounding, to units if it has no decimals."""
    if total < 0:
        return is_rounded(abs(qty), abs(unit_price), -total)
    is_whole = total.as_tuple().exponent == 0 and total >= _HUNDRED
    return 0 < qty < _MOST and abs(qty * unit_price - total) <= (_HALF if is_whole else _CENT)


def missing_qty(unit_price: Decimal, total: Decimal) -> Decimal | None:
    """Return the quantity that a total and a unit price imply; None if it is not whole."""
    if unit_price <= 0 or total <= 0:
        return None
    qty = (total / unit_price).to_integral_value()
    return qty if agrees(qty, unit_price, total) else None


def triple(figures: Sequence[Number]) -> Product | None:
    """Return a quantity, a price and their product that are adjacent in a row.

    A quantity of one does not count: tax columns often repeat an amount.
    """
    usable = [figure for figure in figures if _is_factor(figure)]
    for one, two, three in zip(usable, usable[1:], usable[2:], strict=False):
        if not three.is_money:
            continue
        for product in itertools.product(one.readings, two.readings, three.readings):
            if product[0] != 1 and product[1] > 0 and agrees(*product):
                return product
    return None


def taxed(figures: Sequence[Number], total: Decimal) -> Product | None:
    """Return a quantity and a price of a row whose product plus a tax right of them is the total.

    The quantity is left of the price, as in most tables.
    """
    money = [each for each in figures if each.is_money and 0 < each.value <= total]
    counts = [each for each in figures if _is_factor(each) and not each.has_symbol]
    for price, tax in itertools.combinations(money, 2):
        net = total - tax.value
        if tax.value > net * _MOST_TAX:
            continue
        for qty in (each for each in counts if each.start < price.start and each.value >= 1):
            if agrees(qty.readings[-1], price.value, net):
                return qty.readings[-1], price.value, total
    return None


def factors(candidates: Sequence[Number], total: Decimal) -> Factors | None:
    """Return the quantity and unit price among the numbers left of a total; None if none fit.

    The price nearest to the total is tried first: codes and contents (`500G`) are further left.
    """
    usable = [each for each in candidates if _is_factor(each)][-MOST_FIGURES:]
    if not total and not any(each.is_money and not each.value for each in usable):
        # For a total of zero only a price of zero is evidence.
        return None
    if found := _less_signed(usable, total):
        return found
    found = next(_pairs(usable, total), None)
    if found is not None or len(usable) not in _DISCOUNTED:
        return found
    return _discounted(usable, candidates, total)


def _less_signed(usable: Sequence[Number], total: Decimal) -> Factors | None:
    """Return factors whose product, less an amount with a minus sign in the row, is the total."""
    for discount in (each for each in usable if each.is_money and each.value < 0 < total):
        others = [each for each in usable if each is not discount and each.value > 0]
        found = next(_pairs(others, total - discount.value), None)
        if found is not None and found.price_figure.is_money:
            return found
    return None


def _discounted(
    usable: Sequence[Number], candidates: Sequence[Number], total: Decimal
) -> Factors | None:
    """Return factors whose product is the total before a discount printed in the row."""
    for discount in reversed(candidates):
        others = [each for each in usable if each is not discount]
        for whole in _before_discount(total, discount.value):
            found = next(_pairs(others, whole), None)
            if found is not None and found.price_figure.is_money:
                return found
    return None


def _before_discount(total: Decimal, discount: Decimal) -> Iterator[Decimal]:
    """Yield the total before a discount, taken as an amount and as a percentage."""
    if 0 < discount < _MOST:
        yield total + discount
    if 0 < discount < _PERCENT:
        yield total / (1 - discount / _PERCENT)


def _pairs(usable: Sequence[Number], total: Decimal) -> Iterator[Factors]:
    """Yield the pairs of numbers whose product is a total, the likeliest first."""
    found = list(_products(usable, total))
    yield from (each for each in found if not _is_reversed(each))
    yield from (each for each in found if _is_reversed(each))


def _is_reversed(found: Factors) -> bool:
    """Return whether hundreds at a price of a few units are rather a few at a price of hundreds.

    A whole number of less than ten is no price: `550 x 3`.
    """
    are_whole = not (found.qty % 1 or found.price_figure.is_money or found.qty_figure.has_unit)
    return are_whole and found.unit_price < _LEAST_PRICE and found.qty >= _HUNDRED


def _products(usable: Sequence[Number], total: Decimal) -> Iterator[Factors]:
    for price in sorted(usable, key=lambda each: (not each.is_money, -each.start)):
        counting = [each for each in usable if each is not price and _may_count(each, price)]
        for quantity in sorted(counting, key=lambda each: _unlikeliness(each, price)):
            options = itertools.product(_unsigned(quantity)[::-1], _unsigned(price))
            for qty, unit_price in options:
                # The product of two whole numbers is exact.
                is_whole = qty % 1 == 0 and unit_price % 1 == 0 and not price.is_money
                may_be_rounded = not is_whole or qty * unit_price == total
                product = qty, unit_price, total
                if may_be_rounded and (agrees(*product) or is_rounded(*product)):
                    yield _signed(Factors(qty, unit_price, quantity, price), total)


def _signed(found: Factors, total: Decimal) -> Factors:
    """Return factors with the sign that one of them has if the total is negative: `-2 x 7,25`."""
    if total < 0 <= found.price_figure.value and found.qty_figure.value < 0:
        return replace(found, qty=-found.qty)
    if total < 0 <= found.qty_figure.value and found.price_figure.value < 0:
        return replace(found, unit_price=-found.unit_price)
    return found


def _unsigned(figure: Number) -> tuple[Decimal, ...]:
    """Return the values of a factor; a dash before it is a separator, `1,00-UN -5,18`."""
    return tuple(map(abs, figure.readings))


def _may_count(quantity: Number, price: Number) -> bool:
    """Return whether the first number may be the quantity at the price of the second."""
    if quantity.is_rate or (quantity.has_symbol and not price.has_symbol):
        return False
    if quantity.has_unit != price.has_unit and (quantity.has_unit or quantity.is_money):
        return quantity.has_unit
    is_whole = quantity.decimals == 0 and len(quantity.readings) == 1
    return quantity.start < price.start or is_whole


def _unlikeliness(figure: Number, price: Number) -> tuple[bool, bool, int]:
    """Rank quantities, lower is likelier: no cents or contents, no symbol, near the price."""
    return figure.is_money or figure.is_content, figure.has_symbol, abs(price.start - figure.start)


def _is_factor(figure: Number) -> bool:
    return not (figure.is_percent or figure.is_bracketed or figure.is_code)
