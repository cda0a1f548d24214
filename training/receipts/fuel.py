"""Receipts of filling stations: one item, a volume at a price of three decimals."""

import random
from decimal import Decimal

from training.receipts import frames, moments, sellers, sums, tills
from training.receipts.baskets import Bought
from training.receipts.countries import countries
from training.receipts.faces import Case
from training.receipts.frames import About
from training.receipts.item_rows import Desk
from training.receipts.strips import RULE, Row, set_rows
from training.receipts.sums import Extras
from training.receipts.truth import Document, Truth, TruthItem


def fuel(rng: random.Random, language: str, case: Case) -> Document:
    """Return the receipt of a filling station."""
    country = countries()[language]
    product = rng.choice(country.products["fuel"])
    qty = Decimal(rng.randint(1200, 6500)) / 100
    total = country.rounded(qty * product.price)
    bought = Bought(product.name, qty, product.price, total, country.rates["fuel"][0])
    counter = tills.desk(rng, country, case, (bought,))
    extras = Extras(has_subtotal=False, has_tax_table=rng.random() < 0.3 and total < 10_000)
    summed, stated = sums.rows(rng, counter, sums.reckon(counter, (bought,), extras), extras)
    seller = sellers.invent(rng, country, "fuel")
    when = moments.moment(rng, country)
    number = frames.number(rng)
    layout = rng.choice(tuple(_LAYOUTS))
    rows = (
        *frames.head(rng, counter, seller),
        *frames.about(rng, counter, About(when, number, "fuel")),
        RULE,
        *_LAYOUTS[layout](rng, counter, bought),
        RULE,
        *summed,
        *frames.foot(rng, counter, 1),
    )
    truth = Truth(
        type="receipt",
        merchant_name=seller.name,
        merchant_tax_id=seller.plain_tax_id,
        issued_at=when.wire,
        total=stated.total,
        subtotal=stated.subtotal,
        tax=stated.tax,
        currency=country.currency,
        document_number=number,
        document_key=None,
        line_items=(TruthItem(product.name, str(qty), str(product.price), str(total)),),
    )
    return Document(
        kind="fuel",
        layout=layout,
        language=language,
        print=set_rows(rows, counter.strip),
        truth=truth,
        precision=when.precision,
        timezone=when.offset,
        alternatives={**stated.alternatives, **seller.alternatives},
    )


def _figures(counter: Desk, bought: Bought) -> tuple[str, str]:
    """Return the volume and the price with all their digits."""
    digits = -int(bought.price.as_tuple().exponent)
    country = counter.country
    return country.figure(bought.qty, 2), country.figure(bought.price, digits)


def _in_labels(rng: random.Random, counter: Desk, bought: Bought) -> tuple[Row, ...]:
    """`Pump 3`, the name, volume, price and amount, each in a row with its label."""
    labels, unit = counter.country.labels, counter.country.volume
    volume, price = _figures(counter, bought)
    return (
        Row(f"{rng.choice(labels['pump'])} {rng.randint(1, 12)}"),
        Row(bought.name, counter.figure(bought.total)),
        Row(rng.choice(labels["volume"]), f"{volume} {unit}"),
        Row(rng.choice(labels["price_per"]).format(unit), price),
    )


def _below(rng: random.Random, counter: Desk, bought: Bought) -> tuple[Row, ...]:
    """The name with the amount, `32,10 L x 1,719` below it."""
    volume, price = _figures(counter, bought)
    unit = counter.country.volume
    per = rng.choice((f"/{unit}", ""))
    return (
        Row(f"*{rng.randint(1, 12)} {bought.name}", counter.figure(bought.total)),
        Row(f"  {volume} {unit}{counter.times}{price}{per}"),
    )


_LAYOUTS = {"labels": _in_labels, "below": _below}
