"""The rows that the bench of growth adds fit the tables."""

from sqlalchemy import func, select

from benchmarks import rows
from recibo.services.identity import demo
from recibo.services.identity.passwords import Passwords
from recibo.services.reading.receipts import shape
from recibo.store import tables
from recibo.store.db import Database


async def test_org_is_filled_up_to_a_size_with_receipts_that_can_be_shown(
    database: Database,
) -> None:
    await demo.seed(database, Passwords())
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
    assert shape(last).total == "3.09"
