"""Periodic jobs: pending readings, purges, sweeps."""

import asyncio
import datetime as dt
import time
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import func, select

from recibo.lib import clock, ids
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import readings, receipts
from recibo.store import tables
from recibo.store.db import Database
from recibo.store.tables import Table
from recibo.worker import periodic_tasks
from tests import core, events, make
from tests.core import Core

DAY = dt.timedelta(days=1)
HOUR = dt.timedelta(hours=1)
MINUTE = dt.timedelta(minutes=1)


async def count(database: Database, table: type[Table]) -> int:
    """Return how many rows a table has."""
    async with database.read() as session:
        query = select(func.count()).select_from(table)
        return (await session.execute(query)).scalar_one()


async def deleted(parts: Core, actor: Actor, text: str) -> ReceiptId:
    """Take a file in, read it and delete its receipt."""
    receipt_id = (await parts.submit(actor, text)).receipt_id
    async with parts.database.write() as session:
        session.add(
            tables.ReceiptTag(receipt_id=receipt_id, org_id=actor.org_id, key="a", value="b")
        )
    await parts.tasks.read(receipt_id)
    async with parts.database.write() as session:
        await receipts.soft_delete(session, actor, receipt_id)
    return receipt_id


async def test_pending_readings_are_enqueued_again(parts: Core, actor: Actor) -> None:
    pending = (await parts.submit(actor, "pending")).receipt_id
    read = (await parts.submit(actor, "read")).receipt_id
    await parts.tasks.read(read)
    parts.carrier.added.clear()

    await parts.periodic_tasks.run_once()

    assert [pending] == parts.carrier.added


async def test_abandoned_attempt_is_retried(parts: Core, actor: Actor) -> None:
    """A killed worker leaves a claimed row behind, and no task."""
    receipt_id = (await parts.submit(actor)).receipt_id
    async with parts.database.write() as session:
        row = await session.get_one(tables.Receipt, receipt_id)
        row.attempt, row.claimed_at = 1, clock.now()
    parts.carrier.added.clear()

    await parts.periodic_tasks.enqueue_pending_readings()
    await parts.tasks.read(parts.carrier.added[0])

    assert "completed" == (await parts.row(receipt_id)).status
    assert [(1, 1, 1)] == await parts.held()


async def test_receipt_whose_worker_died_over_its_last_attempt_is_failed(
    parts: Core, actor: Actor
) -> None:
    """No task comes for it any more, and no worker may start another attempt."""
    receipt_id = (await parts.submit(actor)).receipt_id
    other = (await parts.submit(actor, "in the queue")).receipt_id
    for number in range(3):
        with clock.moved(number * readings.LEASE):
            async with parts.database.write() as session:
                assert await readings.start(session, receipt_id) is not None
    parts.carrier.added.clear()

    with clock.moved(3 * readings.LEASE):
        await parts.periodic_tasks.run_once()

    row = await parts.row(receipt_id)
    assert ("failed", "server_error") == (row.status, row.failure_code)
    assert [other] == parts.carrier.added
    assert [(1, 0, 0)] == await parts.held()


async def test_receipt_without_workers_fails_ten_minutes_after_its_first_claim(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(periodic_tasks, "_READINGS_SECONDS", 0.05)
    receipt_id = (await parts.submit(actor)).receipt_id
    async with parts.database.write() as session:
        await readings.start(session, receipt_id)

    with clock.moved(10 * MINUTE):
        watchdog = parts.periodic_tasks.watchdog
        async with asyncio.timeout(20), watchdog.repeating(parts.database):
            while (await parts.row(receipt_id)).status == "pending":
                pass

    assert [(0, 0, 0)] == await parts.held()


async def test_shared_job_runs_in_one_process_at_a_time(postgres_url: str, tmp_path: Path) -> None:
    database, other = Database(postgres_url), Database(postgres_url)
    parts = core.build(database, tmp_path)
    receipt_id = (await parts.submit(await make.actor(database))).receipt_id
    parts.carrier.added.clear()

    async with other.advisory_lock("job:add-readings"):
        await parts.periodic_tasks.run_once()
        assert [] == parts.carrier.added
    await parts.periodic_tasks.run_once()

    assert [receipt_id] == parts.carrier.added
    await database.close()
    await other.close()


async def test_deleted_receipts_are_purged_after_30_days_with_all_that_is_theirs(
    parts: Core, actor: Actor
) -> None:
    gone = await deleted(parts, actor, "gone")
    kept = (await parts.submit(actor, "kept")).receipt_id

    with clock.moved(30 * DAY - HOUR):
        await parts.periodic_tasks.purge()
    assert 2 == await count(parts.database, tables.Receipt)
    with clock.moved(30 * DAY + HOUR):
        await parts.periodic_tasks.purge()

    assert [kept] == [path.name for path in parts.files()]
    assert 1 == await count(parts.database, tables.Receipt)
    assert 0 == await count(parts.database, tables.Evidence)
    assert 0 == await count(parts.database, tables.ReceiptTag)
    async with parts.database.read() as session:
        entries = (await session.execute(select(tables.AuditEvent))).scalars().all()
        billed = (await session.execute(select(tables.UsageEvent))).scalars().all()
    purged = [row.resource_id for row in entries if row.action == "receipt.purged"]
    assert [gone] == purged == [row.receipt_id for row in billed]


async def test_purge_goes_on_until_nothing_is_left(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.services.reading.receipts._PURGE_BATCH", 2)
    for number in range(5):
        await deleted(parts, actor, str(number))

    with clock.moved(31 * DAY):
        await parts.periodic_tasks.purge()

    assert 0 == await count(parts.database, tables.Receipt)
    assert [] == parts.files()


async def test_expired_replays_are_purged(parts: Core, actor: Actor) -> None:
    await parts.submit(actor)

    await parts.periodic_tasks.purge()
    assert 1 == await count(parts.database, tables.Replay)
    with clock.moved(DAY + HOUR):
        await parts.periodic_tasks.purge()

    assert 0 == await count(parts.database, tables.Replay)


async def test_audit_entries_are_purged_after_their_retention(parts: Core, actor: Actor) -> None:
    kept = await count(parts.database, tables.AuditEvent)
    async with parts.database.write() as session:
        session.add_all(
            tables.AuditEvent(
                id=ids.first_at("aud", number),
                org_id=actor.org_id,
                action="org.updated",
                resource_type="org",
                created_at=clock.now() - 401 * DAY,
            )
            for number in range(1001)
        )

    await parts.periodic_tasks.run_once()

    assert kept == await count(parts.database, tables.AuditEvent)


async def test_failing_job_does_not_stop_the_others(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        message = "no disk"
        raise OSError(message)

    await parts.submit(actor)
    parts.carrier.error = ConnectionError("the queue is gone")
    monkeypatch.setattr("recibo.worker.periodic_tasks.receipts.purge", fail)

    await parts.periodic_tasks.run_once()

    # The sweep has noted when it is due.
    assert 1 == await count(parts.database, tables.Sweep)


async def test_webhook_events_are_purged_after_90_days(parts: Core, actor: Actor) -> None:
    await events.deliver_event(parts.database, actor.org_id)
    old = (await events.event_bodies(parts.database))[0]["id"]
    with clock.moved(dt.timedelta(days=89)):
        await parts.periodic_tasks.purge()
        before = [one["id"] for one in await events.event_bodies(parts.database)]
    with clock.moved(dt.timedelta(days=90, seconds=1)):
        young = await events.emit_event(parts.database, actor.org_id)
        await parts.periodic_tasks.purge()

    assert [old] == before
    assert [young] == [one["id"] for one in await events.event_bodies(parts.database)]


async def test_bodies_of_events_go_with_the_receipt_that_is_purged(
    parts: Core, actor: Actor
) -> None:
    """They hold the merchant and the total, and would be kept for 90 days."""
    await events.deliver_event(parts.database, actor.org_id)
    receipt_id = (await parts.submit(actor)).receipt_id
    async with parts.database.write() as session:
        row = await session.get_one(tables.Receipt, receipt_id)
        row.webhook_url = "https://receiver.test/hook"
    await parts.tasks.read(receipt_id)
    async with parts.database.write() as session:
        await receipts.soft_delete(session, actor, receipt_id)
    async with parts.database.read() as session:
        query = select(tables.WebhookEvent.receipt_id)
        before = (await session.execute(query)).scalars().all()

    with clock.moved(31 * DAY):
        await parts.periodic_tasks.purge()

    assert receipt_id in before
    assert 1 == await count(parts.database, tables.WebhookEvent)
    async with parts.database.read() as session:
        bodies = (await session.execute(select(tables.WebhookEvent.body))).scalars().all()
    assert not any("Padaria" in body for body in bodies)


async def test_pending_webhooks_are_counted_in_the_metrics(parts: Core, actor: Actor) -> None:
    await events.deliver_event(parts.database, actor.org_id)
    for _ in range(2):
        await events.emit_event(parts.database, actor.org_id)

    await parts.periodic_tasks.run_once()

    assert 2 == REGISTRY.get_sample_value("recibo_pending_deliveries")


async def test_pending_work_is_counted_when_metrics_are_read_at_most_every_five_seconds(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count() -> float | None:
        return REGISTRY.get_sample_value("recibo_pending_readings")

    await parts.periodic_tasks.refresh_counts()
    await parts.submit(actor)
    await parts.periodic_tasks.refresh_counts()
    soon = count()
    now = time.monotonic() + 5.1
    monkeypatch.setattr(time, "monotonic", lambda: now)
    await parts.periodic_tasks.refresh_counts()

    assert (0, 1) == (soon, count())
