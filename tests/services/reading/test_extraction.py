"""Uploads: what a crash at each point leaves behind."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session as SyncSession

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure
from recibo.errors import Overloaded
from recibo.extract.document.formats import Kind
from recibo.schemas.actor import Actor
from recibo.services.reading import idempotency
from recibo.services.reading.extraction import Capacity, Submitted
from recibo.store import tables
from recibo.store.pubsub import InProcess
from recibo.store.worker_registry import InMemory, WorkerStats
from tests import make
from tests.core import Core

NO_SPACE = OSError(28, "No space left on device")


async def rows(parts: Core) -> list[tables.Receipt]:
    """Return all receipts."""
    async with parts.database.read() as session:
        return list((await session.execute(select(tables.Receipt))).scalars())


async def test_upload_is_on_disk_and_in_the_database_before_it_is_enqueued(
    parts: Core, actor: Actor
) -> None:
    submitted = await parts.submit(actor)

    row = await parts.row(submitted.receipt_id)
    assert ("pending", "standard", 0) == (row.status, row.pending_accuracy, row.attempt)
    assert [row.id] == [path.name for path in parts.files()] == parts.carrier.added
    assert [(1, 0, 0)] == await parts.held()


async def test_file_that_cannot_be_stored_leaves_nothing(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise NO_SPACE

    monkeypatch.setattr("recibo.store.blobs.Folder.put", fail)

    with pytest.raises(OSError, match="No space"):
        await parts.submit(actor)

    assert ([], [], []) == (await rows(parts), await parts.held(), parts.carrier.added)


async def test_failed_commit_leaves_an_orphaned_file_and_no_pending_reading(
    parts: Core, actor: Actor
) -> None:
    def fail(_: SyncSession) -> None:
        raise OperationalError("COMMIT", None, NO_SPACE)

    event.listen(SyncSession, "before_commit", fail)
    try:
        with pytest.raises(OperationalError):
            await parts.submit(actor)
    finally:
        event.remove(SyncSession, "before_commit", fail)

    assert ([], [], []) == (await rows(parts), await parts.held(), parts.carrier.added)
    assert 1 == len(parts.files())
    again = await parts.submit(actor)
    assert not again.is_replay


async def test_periodic_task_enqueues_what_the_upload_could_not(parts: Core, actor: Actor) -> None:
    parts.carrier.error = ConnectionError("the queue is gone")
    with pytest.raises(ConnectionError):
        await parts.submit(actor)
    parts.carrier.error = None

    replay = await parts.submit(actor)
    await parts.periodic_tasks.enqueue_pending_readings()
    await parts.tasks.read(replay.receipt_id)

    assert replay.is_replay
    assert [replay.receipt_id] == parts.carrier.added
    assert [(1, 1, 1)] == await parts.held()


async def test_upload_to_a_long_queue_is_refused_and_leaves_nothing(
    parts: Core, actor: Actor
) -> None:
    registry = InMemory()
    await registry.report("one", WorkerStats(2, 2))
    busy = replace(parts.extraction, pubsub=InProcess(), capacity=Capacity(registry, 3))
    waiting = [await parts.submit(actor, str(number)) for number in range(5)]
    path = parts.folder / "one more"
    path.write_bytes(make.jpeg("one more"))

    with pytest.raises(Overloaded) as refused:
        async with busy.submitted(actor, make.upload(path)):
            pass

    assert 2 == refused.value.retry_after
    assert len(waiting) == len(await rows(parts)) == len(parts.files())
    async with busy.submitted(actor, make.upload(parts.folder / "upload-0")) as known:
        assert Submitted(waiting[0].receipt_id, is_replay=True) == known


async def test_wait_ends_when_the_reading_is_complete(parts: Core, actor: Actor) -> None:
    submitted = await parts.submit(actor)
    waiter = asyncio.create_task(parts.extraction.outcome(actor, submitted, wait_seconds=20))
    await parts.tasks.read(submitted.receipt_id)

    assert "completed" == (await waiter).status


async def test_wait_of_zero_seconds_returns_the_pending_receipt(parts: Core, actor: Actor) -> None:
    submitted = await parts.submit(actor)

    receipt = await parts.extraction.outcome(actor, submitted, wait_seconds=0)

    assert "pending" == receipt.status


async def test_idempotency_key_is_not_bound_to_a_failed_receipt(parts: Core, actor: Actor) -> None:
    submitted = await parts.submit(actor)
    fingerprint = make.upload(parts.folder / "upload-receipt").fingerprint
    keyed = replace(fingerprint, idempotency_key="k")
    async with parts.database.write() as session:
        row = await session.get_one(tables.Receipt, submitted.receipt_id)
        row.status = "failed"

    async with parts.database.write() as session:
        assert not await idempotency.bind_key(session, actor, keyed, submitted.receipt_id)
    found = await idempotency.find(parts.database, actor, keyed)
    assert found == idempotency.Known(submitted.receipt_id, is_key_bound=False)


async def test_file_whose_type_only_a_decoder_knows_is_inspected_once(
    parts: Core, actor: Actor
) -> None:
    inspected = list[Path]()

    class CountingReader(FakeReader):
        async def inspect(self, path: Path) -> Kind | Failure:
            inspected.append(path)
            return await super().inspect(path)

    path = parts.folder / "untyped"
    path.write_bytes(make.jpeg("untyped"))
    extraction = replace(parts.extraction, reader=CountingReader())
    upload = replace(make.upload(path), media_type=None)

    async with extraction.submitted(actor, upload) as submitted:
        assert "image/jpeg" == (await parts.row(submitted.receipt_id)).media_type

    assert [path] == inspected
