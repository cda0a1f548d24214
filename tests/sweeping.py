"""Runs sweeps of orphaned files."""

import datetime as dt
import io

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.services import orphans
from recibo.services.orphans import Swept
from recibo.store.blobs import Blobs
from recibo.store.db import Database

LATER = dt.timedelta(hours=2)
PORTION = dt.timedelta(minutes=2)


async def orphan(blobs: Blobs) -> ReceiptId:
    """Store a file without a receipt."""
    receipt_id = ReceiptId(ids.new("rcp"))
    await blobs.put(receipt_id, io.BytesIO(b"orphan"))
    return receipt_id


async def run_sweeps(
    database: Database,
    blobs: Blobs,
    *,
    later: dt.timedelta = LATER,
    portions: int = 3,
    rest: dt.timedelta = PORTION,
) -> list[Swept]:
    """Run this many batches of a sweep; three complete a small one."""
    with clock.moved(later):
        await orphans.sweep(database, blobs)
    done = []
    for number in range(portions):
        with clock.moved(later + LATER + number * rest):
            done.append(await orphans.sweep(database, blobs))
    return done


async def is_kept(blobs: Blobs, receipt_id: ReceiptId) -> bool:
    """Return whether the receipt has a stored file."""
    async with blobs.local_file(receipt_id) as path:
        return path is not None


async def trash(blobs: Blobs) -> list[ReceiptId]:
    """Return the ids of all files in the trash."""
    return [one.id async for one in blobs.list_trash()]
