"""Receipts of shops and bills of restaurants, on strips."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from training.receipts import baskets, chains, frames, item_rows, moments, sellers, sums
from training.receipts.baskets import NOTHING, Bought
from training.receipts.chains import Chain
from training.receipts.countries import Country, countries
from training.receipts.faces import Case
from training.receipts.frames import About, AnyRow
from training.receipts.item_rows import Desk, Listed
from training.receipts.moments import Moment
from training.receipts.strips import RULE, Row, Strip, set_rows
from training.receipts.sums import Extras, Payment, Stated
from training.receipts.truth import Document, Truth, TruthItem

# Longer amounts leave no room for columns on a strip.
_LONGEST_FIGURE = 8
_ROOM_FOR_COLUMNS = 42


def till(rng: random.Random, language: str, case: Case) -> Document:
    """Return the receipt of a shop."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "grocery")
    if rng.random() < 0.25:
        basket = baskets.with_discounts(rng, country, basket)
    return _strip(rng, desk(rng, country, case, basket), basket, "till")


def restaurant(rng: random.Random, language: str, case: Case) -> Document:
    """Return the bill of a restaurant."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "restaurant", most=9)
    return _strip(rng, desk(rng, country, case, basket), basket, "restaurant")


def paid_in_two(rng: random.Random, language: str, case: Case) -> Document:
    """Return the receipt of a shop with several discounts and two payments."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "grocery")
    for _ in range(rng.randint(0, 2)):
        basket = baskets.with_discounts(rng, country, basket)
    return _strip(rng, desk(rng, country, case, basket), basket, "till", "two")


def tip_on_slip(rng: random.Random, language: str, case: Case) -> Document:
    """Return the bill of a restaurant whose slip adds a tip."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "restaurant", most=9)
    return _strip(rng, desk(rng, country, case, basket), basket, "restaurant", "slip")


def chain(rng: random.Random, language: str, case: Case) -> Document:
    """Return the receipt of a shop whose head has more than its name and address."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "grocery")
    made = desk(rng, country, case, basket)
    kind = rng.choice(("till", "restaurant"))
    seller = chains.invent(rng, country, sellers.invent(rng, country, kind))
    return _strip(rng, made, basket, kind, chain_store=seller)


def desk(rng: random.Random, country: Country, case: Case, basket: Sequence[Bought]) -> Desk:
    """Return a till with its printer."""
    faces = case.fixed if rng.random() < 0.7 else case.proportional
    strip = Strip(
        columns=rng.choice((34, 38, 40, 42, 42, 48)),
        size=rng.choice((8, 9, 10)),
        pitch=rng.choice((1.15, 1.3, 1.5)),
        face=rng.choice(faces),
    )
    rates = sorted({bought.rate for bought in basket})
    is_lettered = country.is_tax_included and len(country.rates["till"]) > 1
    letters = tuple(zip(rates, rng.choice(("ABC", "123", "BAC")), strict=False))
    first = country.signs[0]
    is_signed = first in {"$", "£", "€"} and not country.is_sign_after
    return Desk(
        country,
        strip,
        sign=first if is_signed and rng.random() < 0.25 else "",
        letters=letters if is_lettered and rng.random() < 0.5 else (),
        times=rng.choice((" x ", " X ", " @ ", " * ")),
        is_wrapping=rng.random() < 0.6,
    )


@dataclass(frozen=True, slots=True)
class Body:
    """The rows of the items and sums, and their truth."""

    rows: tuple[AnyRow, ...]
    items: tuple[TruthItem, ...]
    stated: Stated
    layout: str
    total: Decimal


@dataclass(frozen=True, slots=True)
class Head:
    """What the head and the rows around the items say, with further right values."""

    name: str
    tax_id: str | None
    when: Moment
    number: str | None
    alternatives: dict[str, tuple[str | None, ...]]


def _strip(
    rng: random.Random,
    counter: Desk,
    basket: Sequence[Bought],
    kind: str,
    payment: Payment = "one",
    *,
    chain_store: Chain | None = None,
) -> Document:
    country = counter.country
    seller = chain_store.seller if chain_store else sellers.invent(rng, country, kind)
    way = _way(rng, counter, basket)
    listing = Listing(way, _things(rng, counter, way, basket))
    made = body(
        rng, counter, basket, _paid(rng, extras(rng, counter, basket, kind), payment), listing
    )
    when = moments.moment(rng, country, has_time=rng.random() < 0.9)
    number = frames.number(rng)
    about = frames.about(rng, counter, About(when, number, kind))
    is_about_first = rng.random() < 0.65
    has_slip = rng.random() < 0.15 and payment == "one"
    slip = frames.card_slip(rng, counter, made.total) if has_slip else []
    rows = (
        *(chain_store.head(rng, counter) if chain_store else frames.head(rng, counter, seller)),
        *(about if is_about_first else ()),
        *made.rows,
        *(() if is_about_first else about),
        *slip,
        *frames.foot(rng, counter, len(made.items)),
        *(chain_store.foot(rng) if chain_store else ()),
    )
    alternatives = (chain_store or seller).alternatives
    head = Head(seller.name, seller.plain_tax_id, when, number, dict(alternatives))
    return document(counter, kind, rows, made, head, has_slip=has_slip)


def document(
    counter: Desk, kind: str, rows: Sequence[AnyRow], made: Body, head: Head, *, has_slip: bool
) -> Document:
    """Return the strip with its truth."""
    truth = Truth(
        type="receipt",
        merchant_name=head.name,
        merchant_tax_id=head.tax_id,
        issued_at=head.when.wire,
        total=made.stated.total,
        subtotal=made.stated.subtotal,
        tax=made.stated.tax,
        currency=counter.country.currency,
        document_number=head.number,
        document_key=None,
        line_items=made.items,
    )
    return Document(
        kind=kind,
        layout=made.layout,
        language=counter.country.tag,
        print=set_rows(rows, counter.strip),
        truth=truth,
        precision=head.when.precision,
        timezone=head.when.offset,
        alternatives={**made.stated.alternatives, **head.alternatives},
        # A slip has its own digits, and contradicts cash.
        bookkeeping=None if has_slip else made.stated.bookkeeping,
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """The items as printed."""

    layout: str
    things: tuple[Listed, ...]
    has_heading: bool = True
    #: Whether lines separate the items from the head and from the sums.
    has_rules: bool = True


def body(
    rng: random.Random, counter: Desk, basket: Sequence[Bought], extra: Extras, listing: Listing
) -> Body:
    """Return the items and their sums."""
    amounts = sums.reckon(counter, basket, extra)
    summed, stated = sums.rows(rng, counter, amounts, extra)
    things = listing.things
    heading = item_rows.heading(counter, listing.layout, rng) if listing.has_heading else ()
    rule = RULE if listing.has_rules else Row()
    rows = (
        rule,
        *heading,
        *(row for thing in things for row in thing.rows),
        *((RULE,) if listing.has_rules else ()),
        *summed,
        rule,
    )
    items = tuple(thing.truth for thing in things if thing.truth)
    layout = f"{listing.layout}, {counter.strip.columns} columns of {counter.strip.face.name}"
    return Body(rows, items, stated, layout, amounts.total)


def _paid(rng: random.Random, extra: Extras, payment: Payment) -> Extras:
    """Return the extras with another way of paying; a slip has a tip."""
    if payment == "slip":
        tip = Decimal(rng.choice((10, 15, 18, 20)))
        return replace(extra, payment=payment, tip=tip, is_cash=False)
    return replace(extra, payment=payment)


def _way(rng: random.Random, counter: Desk, basket: Sequence[Bought]) -> str:
    has_room = has_room_for_columns(counter, basket)
    ways = [way for way in item_rows.WAYS if has_room or way not in item_rows.IN_COLUMNS]
    return rng.choice(ways)


def has_room_for_columns(counter: Desk, basket: Sequence[Bought]) -> bool:
    """Return whether the strip is wide enough for names and three numbers side by side."""
    return _has_short_figures(counter, basket) and counter.strip.columns >= _ROOM_FOR_COLUMNS


def _has_short_figures(counter: Desk, basket: Sequence[Bought]) -> bool:
    total = sum((bought.total for bought in basket), NOTHING)
    return len(counter.figure(total)) <= _LONGEST_FIGURE


def _things(
    rng: random.Random, counter: Desk, way: str, basket: Sequence[Bought]
) -> tuple[Listed, ...]:
    """Return the items, each discount as a separate item below its product."""
    found: list[Listed] = []
    for bought in basket:
        found += item_rows.listed(counter, way, (bought,))
        if bought.discount:
            name = rng.choice(counter.country.labels["discount"])
            row = Row(f"  {name}", counter.figure(-bought.discount))
            found.append(Listed((row,), TruthItem(name, None, None, str(-bought.discount))))
    return tuple(found)


def extras(rng: random.Random, counter: Desk, basket: Sequence[Bought], kind: str) -> Extras:
    """Return the charges, the discounts and the way of paying of a receipt."""
    country = counter.country
    is_one_rate = len({bought.rate for bought in basket}) == 1
    is_bill = kind == "restaurant"
    is_served = is_bill and is_one_rate and not country.is_tax_included
    return Extras(
        discount=Decimal(rng.choice((5, 10))) if is_one_rate and rng.random() < 0.1 else NOTHING,
        service=Decimal(10) if is_served and rng.random() < 0.3 else NOTHING,
        tip=Decimal(rng.choice((10, 15, 18)))
        if is_bill and country.has_tips and rng.random() < 0.25
        else NOTHING,
        is_cash=rng.random() < 0.5,
        has_subtotal=not country.is_tax_included or rng.random() < 0.5,
        has_tax_table=rng.random() < 0.5 and _has_short_figures(counter, basket),
    )
