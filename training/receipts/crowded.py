"""Receipts as crowded as real ones: chains' heads, several numbers, items in more layouts."""

import random
from collections.abc import Sequence

from training.receipts import (
    baskets,
    chains,
    crowded_rows,
    frames,
    item_rows,
    moments,
    references,
    sellers,
    tills,
)
from training.receipts.baskets import Bought
from training.receipts.countries import countries
from training.receipts.faces import Case
from training.receipts.frames import AnyRow
from training.receipts.item_rows import Desk
from training.receipts.strips import Row
from training.receipts.tills import Head, Listing
from training.receipts.truth import Document

# How often a receipt has the head of a chain, something printed above it, short names, the slip
# of a card terminal, rows of points or savings.
_CHAIN, _ABOVE, _SHORT, _SLIP, _POINTS = 0.85, 0.25, 0.4, 0.3, 0.3
# How often columns have no headings, and items no lines above and below them.
_BARE_COLUMNS, _UNRULED = 0.55, 0.7


def shop(rng: random.Random, language: str, case: Case) -> Document:
    """Return the crowded receipt of a shop."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "grocery")
    if rng.random() < 0.3:
        basket = baskets.with_discounts(rng, country, basket)
    if rng.random() < _SHORT:
        basket = crowded_rows.abbreviated(rng, basket)
    return _strip(rng, tills.desk(rng, country, case, basket), basket, "till")


def bill(rng: random.Random, language: str, case: Case) -> Document:
    """Return the crowded bill of a restaurant."""
    country = countries()[language]
    basket = baskets.fill(rng, country, "restaurant", most=9)
    counter = tills.desk(rng, country, case, basket)
    if rng.random() < 0.6:
        basket = crowded_rows.with_extras(rng, counter, basket)
    return _strip(rng, counter, basket, "restaurant")


def _strip(rng: random.Random, counter: Desk, basket: Sequence[Bought], kind: str) -> Document:
    country = counter.country
    seller = sellers.invent(rng, country, kind)
    chain = chains.invent(rng, country, seller) if rng.random() < _CHAIN else None
    way = _way(rng, counter, basket)
    things = crowded_rows.listed(rng, counter, way, basket, crowded_rows.crowd(rng, kind))
    listing = Listing(
        way,
        things,
        has_heading=rng.random() >= _BARE_COLUMNS,
        has_rules=rng.random() >= _UNRULED,
    )
    made = tills.body(rng, counter, basket, tills.extras(rng, counter, basket, kind), listing)
    when = moments.moment(rng, country, has_time=rng.random() < 0.9)
    about = references.references(rng, counter, when, kind)
    has_slip = rng.random() < _SLIP
    rows: tuple[AnyRow, ...] = (
        *_above(rng, counter),
        *(chain.head(rng, counter) if chain else frames.head(rng, counter, seller)),
        *about.above,
        *made.rows,
        *(references.slip(rng, counter, made.total) if has_slip else ()),
        *(references.points(rng, country, made.total) if rng.random() < _POINTS else ()),
        *about.below,
        *frames.foot(rng, counter, len(made.items)),
        *(chain.foot(rng) if chain else ()),
    )
    known = chain.seller if chain else seller
    alternatives = dict((chain or seller).alternatives)
    if about.others:
        alternatives["document_number"] = about.others
    head = Head(known.name, known.plain_tax_id, when, about.number, alternatives)
    return tills.document(counter, f"crowded {kind}", rows, made, head, has_slip=has_slip)


def _above(rng: random.Random, counter: Desk) -> list[AnyRow]:
    """Return what some tills print above the name."""
    if rng.random() >= _ABOVE:
        return []
    return [Row(rng.choice(counter.country.asides["above"]), is_centered=rng.random() < 0.7)]


def _way(rng: random.Random, counter: Desk, basket: Sequence[Bought]) -> str:
    has_room = tills.has_room_for_columns(counter, basket)
    ways = [way for way in crowded_rows.WAYS if has_room or way not in item_rows.IN_COLUMNS]
    return rng.choice(ways)
