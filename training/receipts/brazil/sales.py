"""Sales: products, discounts, sums and payments, exact to the cent."""

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

from recibo.extract.brazil import states
from training.receipts.brazil.sellers import Place, table
from training.receipts.truth import TruthItem

CENT = Decimal("0.01")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Sold:
    """An item of a sale."""

    code: str
    name: str
    unit: str
    qty: Decimal
    unit_price: Decimal
    ncm: str = "21069090"
    discount: Decimal = _NOTHING
    surcharge: Decimal = _NOTHING

    @property
    def gross(self) -> Decimal:
        """The quantity times the price, to the cent."""
        return cents(self.qty * self.unit_price)

    @property
    def net(self) -> Decimal:
        """The amount after discount and surcharge."""
        return self.gross - self.discount + self.surcharge


@dataclass(frozen=True, slots=True)
class Sale:
    """The items of a sale, and surcharges and discounts on the whole."""

    items: tuple[Sold, ...]
    discount: Decimal = _NOTHING
    surcharge: Decimal = _NOTHING
    #: The share of all taxes in the price, which law 12.741 requires on documents.
    tax_share: Decimal = Decimal("0.1345")

    @property
    def gross(self) -> Decimal:
        """The sum of the items before all discounts."""
        return sum((item.gross for item in self.items), _NOTHING)

    @property
    def item_discounts(self) -> Decimal:
        """The sum of the discounts on items."""
        return sum((item.discount for item in self.items), _NOTHING)

    @property
    def item_surcharges(self) -> Decimal:
        """The sum of the surcharges on items."""
        return sum((item.surcharge for item in self.items), _NOTHING)

    @property
    def net(self) -> Decimal:
        """The sum of the items after their own discounts."""
        return sum((item.net for item in self.items), _NOTHING)

    @property
    def total(self) -> Decimal:
        """What is to be paid."""
        return self.net - self.discount + self.surcharge

    @property
    def taxes(self) -> Decimal:
        """All taxes that the total holds, as law 12.741 has them estimated."""
        return cents(self.total * self.tax_share)

    def truths(self) -> tuple[TruthItem, ...]:
        """Return the items as they must be read: gross, with net totals as alternatives."""
        return tuple(
            TruthItem(item.name, spelled(item.qty), spelled(item.unit_price), f"{item.gross:.2f}")
            for item in self.items
        )

    def net_totals(self) -> tuple[str, ...]:
        """Return the items' totals after their own discounts."""
        return tuple(f"{item.net:.2f}" for item in self.items)


def cents(amount: Decimal) -> Decimal:
    """Round to the cent, halves up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def spelled(figure: Decimal) -> str:
    """Return a figure without zeros behind the last decimal."""
    return f"{figure.normalize():f}"


def brazilian(amount: Decimal, places: int = 2) -> str:
    """Return the amount as Brazil writes it: 1.234,56."""
    return f"{amount:,.{places}f}".translate(str.maketrans(",.", ".,"))


def sold(rng: random.Random, trade: str, count: int) -> tuple[Sold, ...]:
    """Return some products of a trade, none twice unless the trade has too few."""
    products = table("trades")[trade]["products"]
    picks = rng.sample(range(len(products)), min(count, len(products)))
    picks += [rng.randrange(len(products)) for _ in range(count - len(picks))]
    return tuple(_sold(rng, products[pick]) for pick in picks)


def _sold(rng: random.Random, product: Sequence[str]) -> Sold:
    name, unit, price, places, ncm = map(str, product)
    digits = int(places)
    if digits:
        most = 60_000 if unit in ("L", "LT", "M3") else 3_000
        qty = Decimal(rng.randrange(120, most)).scaleb(-3)
        if digits > len("000"):
            qty = Decimal(rng.randrange(10_000, 9_000_000)).scaleb(-digits)
    else:
        qty = Decimal(rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 6, 12, 25)))
    code = rng.choice((f"789{rng.randrange(10**9, 10**10)}", f"{rng.randrange(1, 99999):05d}"))
    changed = cents(Decimal(price) * Decimal(rng.randrange(80, 135)) / 100)
    exact = Decimal(price)
    is_plain = rng.random() < 0.5 and changed > 0
    return Sold(code, name, unit, qty, changed if is_plain else exact, ncm)


def with_discounts(rng: random.Random, items: Sequence[Sold]) -> tuple[Sold, ...]:
    """Return the items with a discount on one or two, now and then a surcharge."""
    changed = list(items)
    for place in rng.sample(range(len(changed)), min(len(changed), rng.choice((1, 1, 2)))):
        item = changed[place]
        taken = cents(item.gross * Decimal(rng.choice((5, 10, 12, 20))) / 100)
        is_surcharge = rng.random() < 0.15
        changed[place] = replace(
            item,
            discount=_NOTHING if is_surcharge else taken,
            surcharge=taken if is_surcharge else _NOTHING,
        )
    return tuple(changed)


def moment(rng: random.Random, first: int = 2019, last: int = 2026) -> dt.datetime:
    """Return a local time of sale; documents print no zone."""
    begin = dt.datetime.combine(dt.date(first, 1, 1), dt.time(6, 30))
    days = rng.randrange(0, 365 * (last - first + 1) - 40)
    return begin + dt.timedelta(days=days, seconds=rng.randrange(0, 15 * 3600))


def offset(where: Place, at: dt.datetime) -> str:
    """Return the offset that clocks showed there, as `-03:00`."""
    zone = ZoneInfo(states.every()[where.state].zone)
    return f"{at.replace(tzinfo=zone):%z}"[:3] + ":00"
