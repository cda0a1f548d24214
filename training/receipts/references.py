"""The rows with date and numbers on crowded receipts: several numbers, several on a row, no label.

A receipt has its number, and those of the store, the till, the operator, the card and
the customer. Many are printed side by side, some without a label, and some receipts have none.
"""

import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts import frames
from training.receipts.countries import Country
from training.receipts.frames import About, AnyRow
from training.receipts.item_rows import Desk
from training.receipts.moments import Moment
from training.receipts.strips import RULE, Row

# How often a receipt has no number, one without a label, one that shares its row.
_NONE, _BARE, _SHARED = 0.13, 0.09, 0.25
# How often numbers of other things are printed, and bare ones below the items.
_OTHERS, _AT_THE_END = 0.2, 0.7


@dataclass(frozen=True, slots=True)
class References:
    """The rows above and below the items, and the number of the receipt."""

    above: tuple[AnyRow, ...]
    below: tuple[AnyRow, ...]
    number: str | None
    #: Further right values; None if it may be missing.
    others: tuple[str | None, ...] = ()


def references(rng: random.Random, desk: Desk, when: Moment, kind: str) -> References:
    """Return the rows with date and numbers."""
    chance = rng.random()
    if chance < _NONE:
        found = References(tuple(_dated(rng, desk, when)), (), None)
    elif chance < _NONE + _BARE:
        found = _bare(rng, when)
    elif chance < _NONE + _BARE + _SHARED:
        found = _shared(rng, desk, when, kind)
    else:
        number = frames.number(rng)
        rows = tuple(frames.about(rng, desk, About(when, number, kind)))
        above = rng.random() < 0.65
        found = References(rows if above else (), () if above else rows, number)
    return _with_others(rng, desk, found) if rng.random() < _OTHERS else found


def slip(rng: random.Random, desk: Desk, total: Decimal) -> list[AnyRow]:
    """Return the rows of a card terminal with all its numbers."""
    labels, country = desk.country.labels, desk.country
    rows = [
        Row(f"MID: {_digits(rng, 10)}", f"TID: {_digits(rng, 8)}"),
        Row(rng.choice(("VISA", "Mastercard", "VISA DEBIT", "Maestro")), f"****{_digits(rng, 4)}"),
        Row(f"AID: A000000{_digits(rng, 7)}"),
        Row(f"{rng.choice(country.asides['trace'])} {_digits(rng, 6)}", f"BATCH {_digits(rng, 3)}"),
        Row(f"{rng.choice(labels['approved'])} {_digits(rng, 6)}"),
        Row(f"REF {_digits(rng, 12)}"),
    ]
    shown = rng.sample(rows, rng.randint(3, len(rows)))
    amount = Row(rng.choice((country.currency, labels["total"][0])), desk.figure(total))
    shown.insert(rng.randrange(len(shown) + 1), amount)
    return [RULE, Row(rng.choice(labels["merchant_copy"]), is_centered=True), *shown]


def _dated(rng: random.Random, desk: Desk, when: Moment) -> list[AnyRow]:
    """Return the date, and perhaps who served."""
    labels = desk.country.labels
    both = f"{when.date} {when.time}".rstrip()
    rows: list[AnyRow] = [
        rng.choice((Row(both), Row(both, is_centered=True), Row(when.date, when.time)))
    ]
    if rng.random() < 0.5:
        rows.append(Row(f"{rng.choice(labels['cashier'])}: {rng.choice(desk.country.people)}"))
    return rows


def _bare(rng: random.Random, when: Moment) -> References:
    """Return date and numbers on a row or two, without labels."""
    number, store, till = _digits(rng, rng.choice((4, 5, 6, 6))), _digits(rng, 4), _digits(rng, 3)
    date, time = when.date, when.time
    number = rng.choice((number, number, f"{number}/{till[:2]}"))
    pattern, others = rng.choice(
        (
            (f"{store} {number} {date} {time}", (store,)),
            (f"{date} {time} {number} {till} {store}", (till, store)),
            (f"C{store} #{number} {time} {date}", ()),
            (f"#{number} {date} {time}", ()),
            (f"{date} {time} {number}", ()),
            (f"{till} {number} {date} {time}", (till,)),
        )
    )
    row = Row(" ".join(pattern.split()), is_centered=rng.random() < 0.4)
    # Whether it is the receipt's, and which of several, can only be guessed.
    right = (None, *others)
    if rng.random() < _AT_THE_END:
        return References((), (row,), number, right)
    return References((row,), (), number, right)


def _shared(rng: random.Random, desk: Desk, when: Moment, kind: str) -> References:
    """Return a number on a row with something else."""
    country, number = desk.country, frames.number(rng)
    label = rng.choice((*country.asides["numbers"], *country.labels["number"]))
    named = f"{label}{'' if label.endswith('#') else ' '}{number}"
    both = f"{when.date} {when.time}".rstrip()
    operator = f"{rng.choice(country.asides['operator'])} {_digits(rng, rng.choice((2, 3, 4)))}"
    till = f"{rng.choice(country.labels['till'])} {rng.randint(1, 12)}"
    table = f"{rng.choice(country.labels['table'])} {rng.randint(1, 40)}"
    place = table if kind == "restaurant" else till
    arrangements: tuple[tuple[Row, ...], ...] = (
        (Row(both, till), Row(named, operator)),
        (Row(f"{named} {operator}"), Row(both)),
        (Row(f"{place} {named}"), Row(both, operator)),
        (Row(named, both), Row(place, operator)),
        (Row(f"{operator} {place}"), Row(f"{both} {named}")),
        (Row(f"{named} {place}"), Row(f"{country.labels['date'][0]} {both}")),
    )
    rows = rng.choice(arrangements)
    return References(rows, (), number) if rng.random() < 0.65 else References((), rows, number)


def _with_others(rng: random.Random, desk: Desk, found: References) -> References:
    """Return the rows with numbers of the store, the customer and the transaction among them."""
    asides = desk.country.asides
    trace = _digits(rng, rng.choice((5, 6, 8)))
    rows = [
        Row(f"{rng.choice(asides['store'])} {_digits(rng, rng.choice((3, 4)))}"),
        Row(f"{rng.choice(asides['customer'])} {_digits(rng, rng.choice((6, 9)))}"),
        Row(f"{rng.choice(asides['trace'])} {trace}"),
    ]
    chosen = rng.sample(rows, rng.choice((1, 1, 2, 3)))
    others = found.others
    if rows[2] in chosen:
        # The transaction is the receipt, too, and its number the only one if there is no other.
        others = (*others, trace)
    above, below = list(found.above), list(found.below)
    for row in chosen:
        place = above if above and (not below or rng.random() < 0.5) else below
        place.insert(rng.randrange(len(place) + 1), row)
    return References(tuple(above), tuple(below), found.number, others)


def _digits(rng: random.Random, count: int) -> str:
    """Return a number of this many digits."""
    return f"{rng.randrange(1, 10**count):0{count}d}"


def points(rng: random.Random, country: Country, total: Decimal) -> list[AnyRow]:
    """Return rows below the sums that have amounts, but not of this purchase."""
    saved = country.figure(country.rounded(total * rng.randint(3, 25) / 100))
    line = rng.choice(country.asides["foot"])
    label = line.partition(" {")[0]
    has_amount = line == country.asides["foot"][0]
    value = saved if has_amount else str(rng.randint(2, 900))
    row = Row(label, value) if rng.random() < 0.5 else Row(line.format(value), is_centered=True)
    return [row, Row(rng.choice(country.asides["survey"]), is_centered=True)]
