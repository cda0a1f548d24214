"""The rows that the bench of growth adds fit the tables and one another."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from benchmarks import growth, rows
from recibo.schemas.ids import OrgId
from recibo.schemas.states import ReceiptStatus
from recibo.services.identity import demo_org
from recibo.services.identity.passwords import Passwords
from recibo.services.pagination import PageRequest
from recibo.services.reading import rollups, sorted_lists
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.receipts import shape
from recibo.services.reading.sorted_lists import Order, Sort
from recibo.store import tables
from recibo.store.db import Database

TOTALS = (tables.CategoryTotal, tables.MerchantTotal, tables.MerchantMonth, tables.SpendMonth)


@pytest.mark.parametrize("originals", [310, 200])
async def test_org_is_filled_up_to_a_size_with_receipts_that_can_be_shown(
    database: Database, database_url: str, originals: int
) -> None:
    await fill(database, database_url, originals)
    async with database.read() as session:
        count = (await session.execute(select(func.count(tables.Receipt.id)))).scalar_one()
        tags = (
            await session.execute(select(func.count(tables.ReceiptTag.receipt_id)))
        ).scalar_one()
        last = await session.get(tables.Receipt, rows.receipt_id(309))

    assert (count, tags) == (310, -(-originals // 150))
    assert last
    assert last.total == Decimal("469.71")
    assert shape(last).line_items


@pytest.mark.parametrize("originals", [310, 200])
async def test_totals_are_those_that_the_service_keeps(
    database: Database, database_url: str, originals: int
) -> None:
    await fill(database, database_url, originals)
    made = await totals_of(database)
    completed = await total_again(database)

    assert made == await totals_of(database)
    assert 310 - -(-originals // 150) == len(completed)
    assert Counter([row.created_at.date() for row in completed]) == await days_of(database)


async def test_copies_are_found_by_their_words(database: Database, database_url: str) -> None:
    await fill(database, database_url, 200)
    member = await growth.owner(database)
    async with database.read() as session:
        wanted = PageRequest(5, None, "key")
        order = Order(Sort.UPLOADED, is_descending=True)
        found = await sorted_lists.page(
            session, member, Filters(q="number305 cash"), order, wanted=wanted
        )

    assert [rows.receipt_id(305)] == [one.id for one in found.data]


async def fill(database: Database, url: str, originals: int) -> None:
    """Make the demo org, and fill it in two steps."""
    await demo_org.seed(database, Passwords())
    await rows.fill(url, 190, originals=originals)
    await rows.fill(url, 310, originals=originals)


async def totals_of(database: Database) -> list[tuple[Any, ...]]:
    """Return all totals, in one order."""
    async with database.read() as session:
        return sorted(
            [
                tuple(row)
                for table in TOTALS
                for row in await session.execute(select(*table.__table__.columns))
            ],
            key=str,
        )


async def total_again(database: Database) -> list[tables.Receipt]:
    """Have the service total the completed receipts one by one, and return them."""
    query = select(tables.Receipt).where(tables.Receipt.status == ReceiptStatus.COMPLETED)
    async with database.write() as session:
        for table in TOTALS:
            await session.execute(delete(table))
        completed = list((await session.execute(query)).scalars())
        for row in completed:
            await rollups.change(
                session, OrgId(row.org_id), before=None, after=rollups.entry_of(row)
            )
    return completed


async def days_of(database: Database) -> Counter[Any]:
    """Return what is kept of each day."""
    async with database.read() as session:
        days = (await session.execute(select(tables.UsageDay))).scalars()
        return Counter({row.day: row.count for row in days})
