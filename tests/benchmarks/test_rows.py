"""The rows that the bench of growth adds fit the tables and one another."""

from collections import Counter
from typing import Any

from sqlalchemy import delete, func, select

from benchmarks import rows
from recibo.schemas.ids import OrgId
from recibo.schemas.states import ReceiptStatus
from recibo.services.identity import demo_org
from recibo.services.identity.passwords import Passwords
from recibo.services.reading import rollups
from recibo.services.reading.receipts import shape
from recibo.store import tables
from recibo.store.db import Database

TOTALS = (tables.CategoryTotal, tables.MerchantTotal)


async def test_org_is_filled_up_to_a_size_with_receipts_that_can_be_shown(
    database: Database,
) -> None:
    await demo_org.seed(database, Passwords())
    await rows.fill(database, 200)
    await rows.fill(database, 310)
    async with database.read() as session:
        count = (await session.execute(select(func.count(tables.Receipt.id)))).scalar_one()
        tags = (
            await session.execute(select(func.count(tables.ReceiptTag.receipt_id)))
        ).scalar_one()
        last = await session.get(tables.Receipt, rows.receipt_id(309))

    assert (count, tags) == (310, 3)
    assert last
    assert shape(last).total == "469.71"


async def test_totals_are_those_that_the_service_keeps(database: Database) -> None:
    await demo_org.seed(database, Passwords())
    await rows.fill(database, 200)
    await rows.fill(database, 310)
    made = await totals_of(database)
    completed = await total_again(database)

    assert made == await totals_of(database)
    assert 310 - 3 == len(completed)
    assert Counter([row.created_at.date() for row in completed]) == await days_of(database)


async def totals_of(database: Database) -> list[tuple[Any, ...]]:
    """Return all totals, in one order."""
    async with database.read() as session:
        return sorted(
            [
                tuple(row)
                for table in TOTALS
                for row in await session.execute(select(*table.__table__.columns))
            ]
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
