"""POST /v1/extract: what it answers, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session as SyncSession

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.document.formats import Kind
from recibo.lib.moving_average import MovingAverage
from recibo.store import redis_client, worker_registry
from recibo.store.tables import Receipt, UsageEvent, UsageMonth
from recibo.worker import heartbeat
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.readers import CRASHED, UNREADABLE, HeldReader, ScriptedReader

pytestmark = ON_SQLITE

DOCUMENT = make.jpeg("document")
INVALID = Failure(FailureKind.INVALID_DOCUMENT, "The document has more than 30 pages.")
BROKEN = Failure(FailureKind.UNREADABLE, "The picture is cut off.")
SLOW = Failure(FailureKind.TIMED_OUT, "Reading this document took too long.")
LARGE = Failure(FailureKind.OUT_OF_MEMORY, "Reading this document took more memory than it may.")


@ON_BOTH
async def test_upload_is_answered_with_its_reading(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    assert ("completed", "receipt", "standard") == tuple(
        receipt[name] for name in ("status", "type", "accuracy")
    )
    assert "document" in receipt["merchant_name"]
    assert (1, 1) == await service.used()
    assert 1 == len(await service.rows(UsageEvent))


async def test_high_accuracy_costs_5_credits_and_one_receipt(service: Installation) -> None:
    await service.extracted(DOCUMENT, accuracy="high")

    assert (1, 5) == await service.used()


async def test_reading_that_takes_longer_than_the_wait_is_answered_pending(
    hasty_service: Installation,
) -> None:
    hasty_service.reader.hold()
    receipt = await hasty_service.extracted(DOCUMENT)
    used_before = await hasty_service.used()
    waited = await hasty_service.waited(receipt["id"])

    assert ("pending", "completed") == (receipt["status"], waited["status"])
    assert ((0, 0), (1, 1)) == (used_before, await hasty_service.used())


@asynccontextmanager
async def begun(
    database_url: str, folder: Path
) -> AsyncIterator[tuple[Installation, asyncio.Task[httpx.Response], str]]:
    """Open a service with an upload whose reading has begun, and the id of its receipt."""
    reader = HeldReader()
    async with installation.start(database_url, folder, reader=reader) as service:
        upload = asyncio.create_task(service.extract(DOCUMENT))
        await reader.has_begun.wait()
        listed = (await service.get("/receipts")).json()["data"]
        yield service, upload, listed[0]["id"]


async def test_answer_comes_as_soon_as_the_reading_ends(database_url: str, tmp_path: Path) -> None:
    async with begun(database_url, tmp_path) as (service, upload, receipt_id):
        service.reader.release()
        async with asyncio.timeout(20):
            receipt = (await upload).json()

    assert (receipt_id, "completed") == (receipt["id"], receipt["status"])


async def test_client_that_goes_away_cancels_nothing(database_url: str, tmp_path: Path) -> None:
    async with begun(database_url, tmp_path) as (service, upload, receipt_id):
        upload.cancel()

        assert "completed" == (await service.waited(receipt_id))["status"]


@ON_BOTH
async def test_receipt_deleted_while_its_upload_waits_is_404(
    database_url: str, tmp_path: Path
) -> None:
    async with begun(database_url, tmp_path) as (service, upload, receipt_id):
        await service.delete(f"/receipts/{receipt_id}")
        service.reader.release()

        assert 404 == (await upload).status_code


@pytest.mark.parametrize("answer", [SLOW, LARGE], ids=["slow", "large"])
async def test_document_that_takes_too_much_is_tried_once(
    database_url: str, tmp_path: Path, answer: Failure
) -> None:
    reader = ScriptedReader([answer])
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        refused = await service.extract(DOCUMENT)

    assert 422 == refused.status_code
    assert 1 == len(reader.orders)


@ON_BOTH
@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (UNREADABLE, 422, "low_confidence"),
        (SLOW, 422, "low_confidence"),
        (LARGE, 422, "low_confidence"),
        (INVALID, 400, "validation_error"),
        (CRASHED, 500, "server_error"),
    ],
    ids=["unreadable", "slow", "large", "invalid", "crashed"],
)
async def test_failed_reading_is_reported_stored_and_not_billed(
    database_url: str, tmp_path: Path, answer: Failure, status: int, code: str
) -> None:
    async with installation.start(
        database_url, tmp_path, reader=ScriptedReader([answer])
    ) as service:
        refused = await service.extract(DOCUMENT)
        error = refused.json()["error"]
        kept = (await service.get(f"/receipts/{error['receipt_id']}")).json()
        file = await service.get(f"/receipts/{kept['id']}/file")
        used = await service.used()
        months = [row.held for row in await service.rows(UsageMonth)]
        events = await service.rows(UsageEvent)

    assert (status, code, answer.message) == (refused.status_code, error["code"], error["message"])
    assert ("failed", {"code": code, "message": answer.message}) == (
        kept["status"],
        kept["failure"],
    )
    assert DOCUMENT == file.content
    assert ((0, 0), [0], []) == (used, months, events)


async def test_what_is_refused_before_it_is_read_is_not_kept(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader(kinds={DOCUMENT: INVALID})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        answer = await service.extract(DOCUMENT)
        rows = await service.rows(Receipt)

    assert (400, "validation_error") == (answer.status_code, answer.json()["error"]["code"])
    assert ["file"] == [detail["field"] for detail in answer.json()["error"]["details"]]
    assert ([], []) == (rows, reader.seen)


async def test_allowed_type_that_cannot_be_decoded_fails_as_a_reading(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader({DOCUMENT: BROKEN}, kinds={DOCUMENT: BROKEN})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        answer = await service.extract(DOCUMENT)
        rows = await service.rows(Receipt)

    assert 422 == answer.status_code
    assert [answer.json()["error"]["receipt_id"]] == [row.id for row in rows]


async def test_type_is_detected_from_the_content(database_url: str, tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"document"
    reader = FakeReader(kinds={png: Kind("image/png", "png", 1)})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        receipt = await service.extracted(png, media_type="image/jpeg")
        file = await service.get(f"/receipts/{receipt['id']}/file")

    assert "image/png" == file.headers["content-type"]
    assert file.headers["content-disposition"].endswith('.png"')


@ON_BOTH
async def test_commit_that_fails_is_a_500_and_not_a_success(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    def fail(_: SyncSession) -> None:
        raise OperationalError("COMMIT", None, OSError("no disk"))

    event.listen(SyncSession, "before_commit", fail)
    try:
        upload = await service.extract(make.jpeg("other"))
        deletion = await service.delete(f"/receipts/{receipt['id']}")
    finally:
        event.remove(SyncSession, "before_commit", fail)

    assert [500, 500] == [upload.status_code, deletion.status_code]
    assert "server_error" == upload.json()["error"]["code"]
    assert [receipt] == (await service.get("/receipts")).json()["data"]
    assert (1, 1) == await service.used()


async def test_upload_leaves_nothing_in_the_spool(service: Installation) -> None:
    await service.extract(DOCUMENT)
    await service.extract(b"GIF89a")

    assert [] == list((service.data_dir / "spool").iterdir())


async def test_server_that_reads_nothing_counts_with_the_readers_of_others(
    postgres_url: str, redis_url: str, tmp_path: Path
) -> None:
    async with (
        installation.start(
            postgres_url,
            tmp_path,
            with_worker=False,
            redis_url=redis_url,
            extract_wait_seconds=0,
            max_queue_seconds=3,
        ) as service,
        redis_client.open_redis(redis_url) as client,
    ):
        accepted = [(await service.extract(make.jpeg(f"{number}"))).is_success for number in (1, 2)]
        alone = await service.extract(make.jpeg("3"))
        async with heartbeat.sending_heartbeats(
            worker_registry.create(client), readers=2, reading_time=MovingAverage(2)
        ):
            beside_one = await service.extract(make.jpeg("3"))
        once_it_left = await service.extract(make.jpeg("4"))

    answers = (alone, beside_one, once_it_left)
    assert [True, True] == accepted
    assert [503, 200, 503] == [one.status_code for one in answers]


async def test_too_much_waiting_is_503_with_retry_after_and_keeps_nothing(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, extract_wait_seconds=0, max_queue_seconds=1, readers=1
    ) as service:
        service.reader.hold()
        first = await service.extract(DOCUMENT)
        refused = await service.extract(make.jpeg("other"))
        replay = await service.extract(DOCUMENT)
        rows = await service.rows(Receipt)

    error = refused.json()["error"]
    assert (503, "server_error") == (refused.status_code, error["code"])
    assert error["retry_after"] >= 1
    assert str(error["retry_after"]) == refused.headers["Retry-After"]
    assert [first.json()["id"]] == [row.id for row in rows]
    assert first.json()["id"] == replay.json()["id"]
