"""Purchases and their sums, in exact amounts."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from training.receipts.countries import Country

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bought:
    """A quantity of one product at one price."""

    name: str
    qty: Decimal
    price: Decimal
    total: Decimal
    #: The tax rate, percent.
    rate: Decimal
    #: `kg` for weighed products, else empty.
    unit: str = ""
    #: The discount printed below it.
    discount: Decimal = NOTHING

    @property
    def paid(self) -> Decimal:
        """The total less the discount."""
        return self.total - self.discount


@dataclass(frozen=True, slots=True)
class Group:
    """The amounts at one tax rate: net, tax and gross."""

    rate: Decimal
    net: Decimal
    tax: Decimal

    @property
    def gross(self) -> Decimal:
        """The sum of net and tax."""
        return self.net + self.tax


def fill(rng: random.Random, country: Country, kind: str, *, most: int = 12) -> tuple[Bought, ...]:
    """Return the products of one purchase at this kind of shop."""
    products = rng.sample(
        country.products[kind], min(rng.randint(1, most), len(country.products[kind]))
    )
    rates = country.rates["till" if kind == "grocery" else kind]
    basket = [_bought(rng, country, product.name, product.price, rates) for product in products]
    if kind == "grocery" and rng.random() < 0.4:
        product = rng.choice(country.products["weighed"])
        qty = Decimal(rng.randint(150, 2400)) / 1000
        total = country.rounded(qty * product.price)
        basket.append(Bought(product.name, qty, product.price, total, rates[0], "kg"))
    rng.shuffle(basket)
    return tuple(basket)


def _bought(
    rng: random.Random, country: Country, name: str, price: Decimal, rates: Sequence[Decimal]
) -> Bought:
    # A price near the usual one, so that receipts differ; rounded to the smallest coin.
    near = country.rounded(price * Decimal(rng.randint(85, 130)) / 100)
    qty = Decimal(rng.choices((1, 2, 3, 4, 6, 10), (60, 20, 8, 5, 4, 3))[0])
    return Bought(name, qty, near, country.rounded(near * qty), rng.choice(rates))


def with_discounts(
    rng: random.Random, country: Country, basket: Sequence[Bought]
) -> tuple[Bought, ...]:
    """Add a discount to one of them."""
    place = rng.randrange(len(basket))
    off = country.rounded(basket[place].total * rng.choice((10, 15, 20, 25, 50)) / 100)
    return tuple(
        replace(bought, discount=off) if number == place else bought
        for number, bought in enumerate(basket)
    )


def groups(
    country: Country, basket: Sequence[Bought], *, is_included: bool, off: Decimal = NOTHING
) -> tuple[Group, ...]:
    """Return the tax by rates; `off` is deducted before, and requires a single rate."""
    by_rate: dict[Decimal, Decimal] = {}
    for bought in basket:
        by_rate[bought.rate] = by_rate.get(bought.rate, NOTHING) + bought.paid
    return tuple(
        _group(country, rate, amount - off, is_included=is_included)
        for rate, amount in sorted(by_rate.items())
    )


def tax_on(country: Country, bought: Bought) -> Decimal:
    """Return the tax on the net price of a product; of two equal halves in some countries."""
    parts = len(country.halves) or 1
    return country.rounded(bought.total * bought.rate / 100 / parts) * parts


def groups_of_items(country: Country, basket: Sequence[Bought]) -> tuple[Group, ...]:
    """Return the tax by rates as the sum of the tax of each product."""
    rates = sorted({bought.rate for bought in basket})
    own = {rate: [bought for bought in basket if bought.rate == rate] for rate in rates}
    return tuple(
        Group(
            rate,
            sum((bought.total for bought in own[rate]), NOTHING),
            sum((tax_on(country, bought) for bought in own[rate]), NOTHING),
        )
        for rate in rates
    )


def _group(country: Country, rate: Decimal, amount: Decimal, *, is_included: bool) -> Group:
    share = rate / (100 + rate) if is_included else rate / 100
    tax = country.rounded(amount * share)
    return Group(rate, amount - tax if is_included else amount, tax)
