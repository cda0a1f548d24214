"""The rows above and below the items of a receipt: seller, date, number, thanks."""

import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.item_rows import Desk
from training.receipts.moments import Moment
from training.receipts.sellers import Seller
from training.receipts.strips import RULE, CodeRow, Row, RuleRow

AnyRow = Row | RuleRow | CodeRow


@dataclass(frozen=True, slots=True)
class About:
    """The kind, number and date of a document."""

    when: Moment
    number: str
    kind: str


def head(rng: random.Random, desk: Desk, seller: Seller) -> list[AnyRow]:
    """Return the seller's rows."""
    strip = desk.strip
    is_centered = rng.random() < 0.85
    is_big = rng.random() < 0.4 and strip.columns_of(seller.name) * 1.5 < strip.columns
    names = strip.wrapped(seller.name, strip.columns * 0.8)
    rows: list[AnyRow] = [
        Row(
            name,
            is_centered=is_centered,
            is_bold=rng.random() < 0.8,
            height=1.5 if is_big else 1,
            stretch=1.5 if is_big else 1,
        )
        for name in names
    ]
    labels = desk.country.labels
    lines = [seller.street, seller.city]
    if rng.random() < 0.6:
        lines.append(f"{rng.choice(labels['phone'])}: {seller.phone}")
    if seller.tax_id:
        label, number = seller.tax_id
        lines.append(f"{label}{rng.choice((': ', ' '))}{number}")
    return [
        *rows,
        *(Row(strip.cut(line, strip.columns), is_centered=is_centered) for line in lines),
    ]


def number(rng: random.Random) -> str:
    """Return a document number."""
    return rng.choice(
        (
            f"{rng.randint(1000, 99999)}",
            f"{rng.randint(1, 9999):06d}",
            f"A-{rng.randint(1, 99999):06d}",
            f"{rng.randint(1, 99):04d}-{rng.randint(1, 9999):04d}",
        )
    )


def about(rng: random.Random, desk: Desk, facts: About) -> list[AnyRow]:
    """Return date, time, number and cashier in one of the usual arrangements."""
    labels, when = desk.country.labels, facts.when
    named = f"{rng.choice(labels['number'])}{rng.choice((': ', ' '))}{facts.number}"
    date = f"{rng.choice(labels['date'])}: {when.date}"
    time = f"{rng.choice(labels['time'])}: {when.time}" if when.time else ""
    both = f"{when.date} {when.time}".rstrip()
    arrangements: tuple[list[AnyRow], ...] = (
        [Row(named), Row(date), *([Row(time)] if time else [])],
        [Row(named), Row(date, time)],
        [Row(both), Row(named)],
        [Row(when.date, when.time), Row(named)],
        [Row(named), Row(f"{rng.choice(labels['date'])}: {both}")],
    )
    rows = [*rng.choice(arrangements)]
    if rng.random() < 0.6:
        rows.append(Row(f"{rng.choice(labels['cashier'])}: {rng.choice(desk.country.people)}"))
    if facts.kind == "restaurant":
        table = f"{rng.choice(labels['table'])} {rng.randint(1, 40)}"
        covers = f"{rng.choice(labels['covers'])}: {rng.randint(1, 8)}"
        rows.insert(rng.randrange(len(rows) + 1), Row(table, rng.choice((covers, ""))))
    elif rng.random() < 0.5:
        place = f"{rng.choice(labels['till'])} {rng.randint(1, 12)}"
        rows.insert(rng.randrange(len(rows) + 1), Row(place))
    return rows


def card_slip(rng: random.Random, desk: Desk, total: Decimal) -> list[AnyRow]:
    """Return the rows of a card terminal, which repeat the total."""
    labels, country = desk.country.labels, desk.country
    return [
        RULE,
        Row(rng.choice(labels["merchant_copy"]), is_centered=True),
        Row(f"Terminal-ID: {rng.randint(10000000, 99999999)}"),
        Row(rng.choice(("VISA", "Mastercard", "Maestro", "VISA DEBIT"))),
        Row(f"************{rng.randint(1000, 9999)}"),
        Row(country.currency, desk.figure(total)),
        Row(f"{rng.choice(labels['approved'])} {rng.randint(100000, 999999)}"),
    ]


def foot(rng: random.Random, desk: Desk, things: int) -> list[AnyRow]:
    """Return the number of items, thanks and a barcode, or some of them."""
    strip = desk.strip
    rows: list[AnyRow] = []
    if rng.random() < 0.4:
        rows.append(Row(f"{rng.choice(desk.country.labels['count'])}: {things}"))
    rows.append(Row())
    thanks = strip.cut(rng.choice(desk.country.thanks), strip.columns)
    rows.append(Row(thanks, is_centered=True))
    if rng.random() < 0.2:
        digits = "".join(str(rng.randint(0, 9)) for _ in range(14))
        rows.append(CodeRow("Code128", digits, width=0.7, height=0.15))
    return rows
