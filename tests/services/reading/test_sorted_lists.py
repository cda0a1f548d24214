"""Lists of receipts sorted by a value: every receipt once, those without the value last."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pytest
from sqlalchemy import insert

from recibo.errors import ValidationFailed
from recibo.schemas.actor import Actor
from recibo.services.pagination import PageRequest
from recibo.services.reading import sorted_lists
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.sorted_lists import Order, Sort
from recibo.store import tables
from recibo.store.db import Database
from tests import make

# Values with ties and gaps, one for each receipt, by the column.
VALUES: dict[str, Sequence[object]] = {
    "issued_on": [dt.date(2026, 3, 14), None, dt.date(2025, 1, 1), dt.date(2026, 3, 14), None,
                  dt.date(2026, 12, 31), dt.date(2025, 1, 1)],
    "merchant_key": ["padaria", "acme", None, "acme", "zeta", "padaria", "acme"],
    "confidence": [0.9, 0.25, 0.9, None, 1.0, 0.1, None],
    "total": [Decimal("10.00"), Decimal("9.5"), Decimal(-3), None, Decimal("10.00"),
              Decimal("123456789.12"), None],
    "currency": ["BRL", "BRL", "BRL", "BRL", "BRL", "BRL", "EUR"],
    "type": ["nfce", "nfce", "receipt", "nfce", "nfce", "receipt", "nfce"],
}  # fmt: skip
COLUMNS = {
    Sort.ISSUED: "issued_on",
    Sort.MERCHANT: "merchant_key",
    Sort.CONFIDENCE: "confidence",
    Sort.TOTAL: "total",
}
FILTERS = {
    "none": Filters(),
    "currency": Filters(currency="BRL"),
    "type": Filters(currency="BRL", type="nfce"),
    "dates": Filters(currency="BRL", after=dt.date(2025, 6, 1)),
    "totals": Filters(currency="BRL", min_total=Decimal(9)),
    "merchant": Filters(currency="BRL", merchant="Acme"),
    "words": Filters(currency="BRL", q="cash"),
}


@pytest.fixture(params=["few", "many"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort what the filters find, or walk along the index of the order."""
    if request.param == "many":
        monkeypatch.setattr("recibo.services.reading.sorted_lists._FEW", 0)
        monkeypatch.setattr("recibo.services.reading.sorted_lists._COMMON", 1)


async def fill(database: Database, actor: Actor) -> list[str]:
    """Add the receipts, and some of another org; return their ids."""
    count = len(VALUES["total"])
    rows = [make.receipt(actor) for _ in range(count)]
    other = await make.actor(database)
    async with database.write() as session:
        for at, row in enumerate(rows):
            for column, values in VALUES.items():
                setattr(row, column, values[at])
        foreign = make.receipt(other)
        foreign.currency, foreign.total = "BRL", Decimal(10)
        session.add_all([*rows, foreign])
    async with database.write() as session:
        words = [
            {"receipt_id": row.id, "words": f"{actor.org_id.replace('org_', '_', 1)} {word}"}
            for row, word in zip(rows, ["cash", "cash", "card", "cashier", "cash", "x", "y"],
                                 strict=True)
        ]  # fmt: skip
        await session.execute(insert(tables.ReceiptWords), words)
    return [row.id for row in rows]


async def walk(
    database: Database, actor: Actor, filters: Filters, order: Order, *, limit: int
) -> list[str]:
    """Return the ids of all pages."""
    found, cursor = list[str](), ""
    while True:
        wanted = PageRequest(limit, cursor or None, "key")
        async with database.read() as session:
            page = await sorted_lists.page(session, actor, filters, order, wanted=wanted)
        found += [one.id for one in page.data]
        if page.next_cursor is None:
            return found
        assert len(page.data) == limit
        cursor = page.next_cursor


def expected(ids: list[str], name: str, sort: Sort, *, is_descending: bool) -> list[str]:
    """Return the ids in the order of a list."""
    kept = [at for at in range(len(ids)) if _matches(name, at)]
    if sort is Sort.UPLOADED:
        return [ids[at] for at in sorted(kept, reverse=is_descending)]
    values = VALUES[COLUMNS[sort]]
    having = [at for at in kept if values[at] is not None]
    having.sort(key=lambda at: (values[at], ids[at]), reverse=is_descending)
    return [ids[at] for at in (*having, *(at for at in reversed(kept) if values[at] is None))]


def _matches(name: str, at: int) -> bool:
    issued, total = VALUES["issued_on"][at], VALUES["total"][at]
    return (name == "none" or VALUES["currency"][at] == "BRL") and {
        "type": VALUES["type"][at] == "nfce",
        "dates": isinstance(issued, dt.date) and issued >= dt.date(2025, 6, 1),
        "totals": isinstance(total, Decimal) and total >= 9,
        "merchant": VALUES["merchant_key"][at] == "acme",
        "words": at in (0, 1, 3, 4),
    }.get(name, True)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("sort", Sort)
async def test_pages_hold_every_receipt_once_and_in_order(
    database: Database, actor: Actor, sort: Sort, *, is_descending: bool
) -> None:
    ids = await fill(database, actor)
    order = Order(sort, is_descending)
    for name, filters in FILTERS.items():
        if sort is Sort.TOTAL and name == "none":
            continue
        wanted = expected(ids, name, sort, is_descending=is_descending)
        for limit in (1, 2, 50):
            found = await walk(database, actor, filters, order, limit=limit)
            assert wanted == found, (name, limit)


async def test_totals_of_several_currencies_are_not_compared(
    database: Database, actor: Actor
) -> None:
    order = Order(Sort.TOTAL, is_descending=True)
    with pytest.raises(ValidationFailed, match="needs a currency"):
        await walk(database, actor, Filters(), order, limit=5)


async def test_cursor_is_bound_to_its_order(database: Database, actor: Actor) -> None:
    await fill(database, actor)
    orders = [Order(sort, is_descending) for sort in Sort for is_descending in (True, False)]
    filters = Filters(currency="BRL")
    for order in orders:
        async with database.read() as session:
            page = await sorted_lists.page(
                session, actor, filters, order, wanted=PageRequest(2, None, "key")
            )
        wanted = PageRequest(2, page.next_cursor, "key")
        for other in orders:
            if other == order:
                continue
            with pytest.raises(ValidationFailed, match="cursor"):
                async with database.read() as session:
                    await sorted_lists.page(session, actor, filters, other, wanted=wanted)


async def test_search_without_words_finds_nothing(database: Database, actor: Actor) -> None:
    await fill(database, actor)

    assert [] == await walk(
        database, actor, Filters(q="-"), Order(Sort.MERCHANT, is_descending=False), limit=5
    )


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("is_descending", [False, True])
@pytest.mark.parametrize("sort", Sort)
async def test_neighbors_are_those_of_the_list(
    database: Database, actor: Actor, sort: Sort, *, is_descending: bool
) -> None:
    ids = await fill(database, actor)
    order = Order(sort, is_descending)
    for name, filters in FILTERS.items():
        if sort is Sort.TOTAL and name == "none":
            continue
        listed = expected(ids, name, sort, is_descending=is_descending)
        around = [None, *listed, None]
        async with database.read() as session:
            found = [
                await sorted_lists.neighbors(session, actor, filters, order, one) for one in listed
            ]
            first = await sorted_lists.first(session, actor, filters, order)
        assert listed[0] == first, name
        assert [(one.previous, one.next) for one in found] == list(
            zip(around[:-2], around[2:], strict=True)
        ), name


async def test_neighbors_of_a_receipt_that_has_left_the_list(
    database: Database, actor: Actor
) -> None:
    ids = await fill(database, actor)
    order = Order(Sort.TOTAL, is_descending=True)
    filters = Filters(currency="BRL", type="nfce")
    async with database.read() as session:
        found = await sorted_lists.neighbors(session, actor, filters, order, ids[2])

    # Its total is the lowest; one of the type has none.
    assert (ids[1], ids[3]) == (found.previous, found.next)
