"""Readings and sweeps over a bucket, which may be away for a while."""

import datetime as dt
from pathlib import Path

import pytest

from recibo.errors import Overloaded
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services import installation
from recibo.services.reading import readings
from recibo.store import storage, tables
from recibo.store.db import Database
from tests import core, sweeping
from tests.core import Core
from tests.tcp_proxy import TcpProxy

HOUR = dt.timedelta(hours=1)


@pytest.fixture
def parts(database: Database, tmp_path: Path, bucket_url: str, s3_proxy: TcpProxy) -> Core:
    """What takes uploads in and works them off, put together over a bucket."""
    assert s3_proxy.port
    spool = tmp_path / "spool"
    spool.mkdir()
    blobs = storage.open_storage(bucket_url, folder=tmp_path, spool=spool)
    return core.build(database, tmp_path, blobs=blobs)


async def is_kept(parts: Core, receipt_id: ReceiptId) -> bool:
    """Return whether the file exists."""
    async with parts.blobs.local_file(receipt_id) as path:
        return path is not None


async def test_reading_waits_for_the_bucket_and_uses_up_no_attempt(
    parts: Core, actor: Actor, s3_proxy: TcpProxy
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    s3_proxy.cut()
    parts.carrier.added.clear()
    for number in range(4):
        with clock.moved(number * readings.LEASE):
            await parts.tasks.read(receipt_id)
    waiting, added = await parts.row(receipt_id), list(parts.carrier.added)
    s3_proxy.restore()
    with clock.moved(4 * readings.LEASE):
        await parts.periodic_tasks.run_once()
        await parts.tasks.read(receipt_id)

    assert ("pending", 0, None) == (waiting.status, waiting.attempt, waiting.claimed_at)
    # Not enqueued again at once: the next task could not read it either.
    assert ([], [receipt_id]) == (added, parts.carrier.added)
    assert "completed" == (await parts.row(receipt_id)).status
    assert not any((parts.folder / "spool").iterdir())


async def test_upload_that_cannot_be_kept_leaves_no_row(
    parts: Core, actor: Actor, s3_proxy: TcpProxy
) -> None:
    s3_proxy.cut()
    with pytest.raises(Overloaded):
        await parts.submit(actor)
    held = await parts.held()
    s3_proxy.restore()
    again = await parts.submit(actor)

    assert [] == held
    assert not again.is_replay


async def test_file_that_could_not_be_purged_is_swept(
    parts: Core, actor: Actor, s3_proxy: TcpProxy
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    async with parts.database.write() as session:
        (await session.get_one(tables.Receipt, receipt_id)).deleted_at = clock.now()
    s3_proxy.cut()
    with clock.moved(dt.timedelta(days=31)):
        await parts.periodic_tasks.purge()
    s3_proxy.restore()
    left = await is_kept(parts, receipt_id)
    await installation.adopt(parts.database, parts.blobs)
    await sweeping.run_sweeps(parts.database, parts.blobs, later=dt.timedelta(days=31))

    assert (True, False) == (left, await is_kept(parts, receipt_id))
