"""Adding to rows, and adding rows, that may exist or not."""

import asyncio
import datetime as dt
from decimal import Decimal

from sqlalchemy import select

from recibo.store import upsert
from recibo.store.db import Database
from recibo.store.tables import Installation, MerchantTotal
from tests import make


async def add(database: Database, org_id: str, receipts: int, spent: str) -> None:
    """Add to the totals of one merchant."""
    key = {"org_id": org_id, "merchant_hash": "0"}
    amounts = {"receipts": receipts, "total_spent": Decimal(spent)}
    async with database.write() as session:
        await upsert.add(session, MerchantTotal, key, amounts, merchant="A Shop")


async def totals(database: Database) -> list[tuple[str, int, Decimal]]:
    """Return all totals."""
    async with database.read() as session:
        rows = (await session.execute(select(MerchantTotal))).scalars()
        return [(row.merchant, row.receipts, row.total_spent) for row in rows]


async def test_first_addition_inserts_the_row_and_later_ones_change_it(database: Database) -> None:
    org_id = await make.org(database)

    await add(database, org_id, 1, "1.50")
    assert [("A Shop", 1, Decimal("1.50"))] == await totals(database)
    await add(database, org_id, 2, "0.25")
    await add(database, org_id, -1, "-1.00")
    assert [("A Shop", 2, Decimal("0.75"))] == await totals(database)


async def test_first_additions_at_once_are_all_counted(database: Database) -> None:
    org_id = await make.org(database)

    await asyncio.gather(*(add(database, org_id, 1, "0.10") for _ in range(8)))

    assert [("A Shop", 8, Decimal("0.80"))] == await totals(database)


async def test_missing_row_is_inserted_and_one_that_is_there_stays(database: Database) -> None:
    created_at = dt.datetime(2026, 3, 14, 10, 30, tzinfo=dt.UTC)
    for own_id in ("ins_first", "ins_second"):
        async with database.write() as session:
            await upsert.add_missing(session, Installation, row=1, id=own_id, created_at=created_at)

    async with database.read() as session:
        rows = (await session.execute(select(Installation))).scalars()
        assert [("ins_first", created_at)] == [(row.id, row.created_at) for row in rows]
