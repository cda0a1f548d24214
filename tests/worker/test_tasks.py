"""A reading task, with readers that fail."""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import readings
from recibo.store.db import Database, Session
from tests import core, make
from tests.core import Core
from tests.readers import CRASHED, UNREADABLE, Answer, HeldReader, ScriptedReader

READ = make.reading("Aurora", total="12.5")
HUNG = Failure(FailureKind.TIMED_OUT, "Reading this document took too long.")
GREEDY = Failure(FailureKind.OUT_OF_MEMORY, "Reading this document took too much memory.")
INVALID = Failure(FailureKind.INVALID_DOCUMENT, "The document has more than 30 pages.")
FORMAT = Failure(FailureKind.UNSUPPORTED_FORMAT, "Not one of the formats.")

Make = Callable[[Iterable[Answer]], tuple[Core, ScriptedReader]]


@pytest.fixture
def reading(database: Database, tmp_path: Path) -> Make:
    """Put the parts together around a reader that answers in turn."""

    def built(answers: Iterable[Answer]) -> tuple[Core, ScriptedReader]:
        reader = ScriptedReader(answers)
        return core.build(database, tmp_path, reader=reader), reader

    return built


async def test_reading_completes_the_receipt_and_bills_it(reading: Make, actor: Actor) -> None:
    parts, reader = reading([READ])
    receipt_id = (await parts.submit(actor)).receipt_id

    await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert ("completed", "Aurora", None) == (row.status, row.merchant_name, row.pending_accuracy)
    assert [(1, 1, 1)] == await parts.held()
    assert [(Accuracy.STANDARD, 240.0)] == reader.orders


async def test_task_that_comes_again_reads_nothing(reading: Make, actor: Actor) -> None:
    parts, reader = reading([READ])
    receipt_id = (await parts.submit(actor)).receipt_id

    await parts.tasks.read(receipt_id)
    await parts.tasks.read(receipt_id)

    assert 1 == len(reader.seen)
    assert [(1, 1, 1)] == await parts.held()


@pytest.mark.parametrize("failures", [[CRASHED], [CRASHED, CRASHED]])
async def test_reader_that_dies_is_given_another_attempt(
    reading: Make, actor: Actor, failures: list[Answer]
) -> None:
    parts, reader = reading([*failures, READ])
    receipt_id = (await parts.submit(actor)).receipt_id

    await parts.tasks.read(receipt_id)

    assert "completed" == (await parts.row(receipt_id)).status
    assert len(failures) + 1 == len(reader.seen)
    assert [(1, 1, 1)] == await parts.held()


async def test_poison_is_failed_after_three_attempts_and_gives_its_quota_back(
    reading: Make, actor: Actor
) -> None:
    failure = CRASHED
    parts, reader = reading([failure])
    receipt_id = (await parts.submit(actor)).receipt_id

    await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert ("failed", "server_error", failure.message) == (
        row.status,
        row.failure_code,
        row.failure_message,
    )
    assert 3 == len(reader.seen)
    assert [(0, 0, 0)] == await parts.held()
    assert 1 == len(parts.files())


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (UNREADABLE, "low_confidence"),
        (INVALID, "validation_error"),
        (FORMAT, "unsupported_format"),
        (HUNG, "low_confidence"),
        (GREEDY, "low_confidence"),
    ],
)
async def test_unreadable_document_fails_after_one_attempt(
    reading: Make, actor: Actor, failure: Failure, code: str
) -> None:
    parts, reader = reading([failure])
    receipt_id = (await parts.submit(actor)).receipt_id

    await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert ("failed", code, failure.message) == (
        row.status,
        row.failure_code,
        row.failure_message,
    )
    assert 1 == len(reader.seen)


@pytest.mark.parametrize("failure", [HUNG, GREEDY])
async def test_tenth_document_that_takes_too_much_in_a_day_counts_against_the_quota(
    reading: Make, actor: Actor, failure: Failure
) -> None:
    parts, _ = reading([failure])
    for number in range(10):
        await parts.tasks.read((await parts.submit(actor, str(number))).receipt_id)

    assert [(1, 0, 0)] == await parts.held()


async def test_file_that_is_gone_fails_its_receipt_at_once(reading: Make, actor: Actor) -> None:
    parts, reader = reading([READ])
    receipt_id = (await parts.submit(actor)).receipt_id
    await parts.blobs.delete(receipt_id)

    await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert ("failed", "server_error") == (row.status, row.failure_code)
    assert [] == reader.seen
    assert [(0, 0, 0)] == await parts.held()


async def test_reader_that_raises_leaves_the_reading_pending(reading: Make, actor: Actor) -> None:
    parts, _ = reading([RuntimeError("a bug"), READ])
    receipt_id = (await parts.submit(actor)).receipt_id

    with pytest.raises(RuntimeError):
        await parts.tasks.read(receipt_id)
    with clock.moved(readings.LEASE):
        await parts.periodic_tasks.enqueue_pending_readings()
        await parts.tasks.read(receipt_id)

    assert [receipt_id] * 2 == parts.carrier.added
    assert "completed" == (await parts.row(receipt_id)).status


async def test_reading_that_no_row_takes_ends_as_failed(reading: Make, actor: Actor) -> None:
    """Whatever slips through the reading's own checks, it may not circle for ever."""
    parts, _ = reading([make.reading("x", total="9" * 40)])
    receipt_id = (await parts.submit(actor)).receipt_id

    for number in range(3):
        with (
            clock.moved(number * readings.LEASE),
            pytest.raises(Exception, match=r"(?i)overflow|too large"),
        ):
            await parts.tasks.read(receipt_id)
    with clock.moved(3 * readings.LEASE):
        await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert ("failed", "server_error", None) == (row.status, row.failure_code, row.pending_accuracy)
    assert [(0, 0, 0)] == await parts.held()


async def test_cancelled_task_returns_its_receipt_unread(
    database: Database, tmp_path: Path, actor: Actor
) -> None:
    reader = HeldReader()
    parts = core.build(database, tmp_path, reader=reader)
    receipt_id = (await parts.submit(actor)).receipt_id
    task = asyncio.create_task(parts.tasks.read(receipt_id))
    await reader.has_begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    given_back = await parts.row(receipt_id)
    reader.release()

    await parts.tasks.read(receipt_id)

    row = await parts.row(receipt_id)
    assert (0, None) == (given_back.attempt, given_back.claimed_at)
    assert ("completed", 1) == (row.status, row.attempt)


async def test_task_cancelled_at_its_start_returns_its_receipt_unread(
    reading: Make, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, _ = reading([READ])
    receipt_id = (await parts.submit(actor)).receipt_id
    begin = readings.start

    async def cancelling(session: Session, receipt_id: ReceiptId) -> readings.Order | None:
        order = await begin(session, receipt_id)
        task.cancel()
        return order

    monkeypatch.setattr(readings, "start", cancelling)
    task = asyncio.create_task(parts.tasks.read(receipt_id))
    with pytest.raises(asyncio.CancelledError):
        await task

    row = await parts.row(receipt_id)
    assert (0, None, None) == (row.attempt, row.claimed_at, row.lease_expires_at)


async def test_lease_is_renewed_while_the_receipt_is_read(
    database: Database, tmp_path: Path, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = asyncio.Event()
    keep = readings.renew

    async def renewing(session: Session, order: readings.Order) -> None:
        await keep(session, order)
        kept.set()

    monkeypatch.setattr(readings, "renew", renewing)
    monkeypatch.setattr("recibo.worker.tasks._RENEWAL_SECONDS", 0)
    reader = HeldReader()
    parts = core.build(database, tmp_path, reader=reader)
    receipt_id = (await parts.submit(actor)).receipt_id
    task = asyncio.create_task(parts.tasks.read(receipt_id))
    await reader.has_begun.wait()

    for seconds in (10, 20, 30):
        with clock.moved(dt.timedelta(seconds=seconds)):
            kept.clear()
            await kept.wait()
            await parts.tasks.read(receipt_id)
    reader.release()
    await task

    row = await parts.row(receipt_id)
    assert ("completed", 1) == (row.status, row.attempt)
    assert 1 == len(reader.seen)


async def test_waiters_are_notified_even_after_an_error(reading: Make, actor: Actor) -> None:
    parts, _ = reading([RuntimeError("a bug")])
    receipt_id = (await parts.submit(actor)).receipt_id

    with parts.tasks.pubsub.subscribe(receipt_id) as place:
        with pytest.raises(RuntimeError):
            await parts.tasks.read(receipt_id)

        await place.wait()
