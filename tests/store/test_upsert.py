"""Adding to rows that may not exist yet."""

import asyncio
from decimal import Decimal

from sqlalchemy import select

from recibo.store import upsert
from recibo.store.db import Database
from recibo.store.tables import MerchantTotal
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
