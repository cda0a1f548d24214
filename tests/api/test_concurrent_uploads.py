"""The cap on uploads in flight: per key and per address, freed before the answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.errors import Overloaded
from recibo.extract.document.formats import Kind
from recibo.schemas.plans import PlanName
from recibo.store import redis_client
from recibo.store.tables import Receipt, UsageEvent
from tests import installation, make, sockets
from tests.installation import Installation, client_of
from tests.portal import accounts

DOCUMENT = make.jpeg("document")
PATIENCE_S = 60.0


@pytest.fixture(params=["memory", "redis"])
async def i(
    request: pytest.FixtureRequest,
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Installation]:
    """A service that waits for its readings, its slots in memory and in Redis."""
    # On a machine that is busy, Redis is slow, and what is slow would not be counted.
    monkeypatch.setattr(redis_client, "_TIMEOUT_SECONDS", 60)
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    async with installation.start(sqlite_url, tmp_path, redis_url=url) as started:
        yield started


async def key(i: Installation, plan: PlanName = PlanName.FREE) -> str:
    """Add an org on a plan, and return a key of it."""
    return await make.key(i.database, await make.org(i.database, plan=plan))


Upload: TypeAlias = asyncio.Task[httpx.Response]


async def in_flight(i: Installation, secret: str, *texts: str) -> list[Upload]:
    """Begin uploads that are not read to their end, and return when all are accepted."""
    before = len(await i.rows(Receipt))
    i.reader.hold()
    tasks = [asyncio.create_task(i.extract(make.jpeg(text), secret=secret)) for text in texts]
    async with asyncio.timeout(PATIENCE_S):
        while len(await i.rows(Receipt)) < before + len(texts):  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    return tasks


async def ended(i: Installation, tasks: list[Upload]) -> list[int]:
    """Let the readings end, and return the statuses."""
    i.reader.release()
    return [answer.status_code for answer in await asyncio.gather(*tasks)]


async def test_upload_over_the_cap_of_the_key_is_refused_for_a_second(i: Installation) -> None:
    secret = await key(i)
    tasks = await in_flight(i, secret, "one")

    refused = await i.extract(make.jpeg("two"), secret=secret)

    error = refused.json()["error"]
    assert (429, "rate_limit_exceeded", 1) == (
        refused.status_code,
        error["code"],
        error["retry_after"],
    )
    assert "1" == refused.headers["Retry-After"]
    assert [200] == await ended(i, tasks)
    # Nothing was kept of it, nor billed.
    assert 1 == len(await i.rows(Receipt))
    assert 200 == (await i.extract(make.jpeg("two"), secret=secret)).status_code
    assert (2, 2) == await i.used(secret=secret)


async def test_cap_is_the_figure_of_the_plan(i: Installation) -> None:
    secret = await key(i, PlanName.INDIE)
    tasks = await in_flight(i, secret, "1", "2", "3")

    assert 429 == (await i.extract(make.jpeg("4"), secret=secret)).status_code
    assert [200] * 3 == await ended(i, tasks)


async def test_keys_have_separate_limits(i: Installation) -> None:
    tasks = await in_flight(i, await key(i), "one")
    tasks.append(asyncio.create_task(i.extract(make.jpeg("two"), secret=await key(i))))

    assert [200, 200] == await ended(i, tasks)


async def test_address_has_a_cap_over_all_keys(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path, limit_loopback=True) as i:
        tasks = await in_flight(i, await key(i), "one")
        second = await key(i)
        files = {"file": ("receipt.jpg", make.jpeg("two"), "image/jpeg")}

        assert 429 == (await i.extract(make.jpeg("two"), secret=second)).status_code
        async with client_of(i.asgi, address="203.0.113.9") as elsewhere:
            upload = elsewhere.post("/v1/extract", headers={"X-API-Key": second}, files=files)
            tasks.append(asyncio.create_task(upload))
            assert [200, 200] == await ended(i, tasks)


async def test_serial_uploads_are_never_refused(i: Installation) -> None:
    secret = await key(i)
    answers = [await i.extract(make.jpeg(str(number)), secret=secret) for number in range(10)]

    assert {200} == {answer.status_code for answer in answers}


async def test_known_file_waits_and_holds_no_slot(i: Installation) -> None:
    secret = await key(i)
    tasks = await in_flight(i, secret, "document")
    tasks += [asyncio.create_task(i.extract(DOCUMENT, secret=secret)) for _ in range(10)]

    assert [200] * 11 == await ended(i, tasks)
    assert 1 == len(await i.rows(UsageEvent))


async def test_fifty_copies_at_once_all_get_the_receipt_with_one_slot(i: Installation) -> None:
    secret = await key(i)
    answers = await asyncio.gather(*(i.extract(DOCUMENT, secret=secret) for _ in range(50)))

    assert {200} == {answer.status_code for answer in answers}
    assert 1 == len({answer.json()["id"] for answer in answers})
    assert 1 == len(await i.rows(Receipt)) == len(await i.rows(UsageEvent))


async def test_fifty_files_at_once_under_one_key_conflict_with_one_slot(i: Installation) -> None:
    secret = await key(i)
    answers = await asyncio.gather(
        *(i.extract(make.jpeg(str(number)), secret=secret, key="k") for number in range(50))
    )

    assert [200] + [409] * 49 == sorted(answer.status_code for answer in answers)


async def test_pending_receipt_holds_none(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path, extract_wait_seconds=0) as i:
        secret = await key(i)
        i.reader.hold()
        answers = [await i.extract(make.jpeg(text), secret=secret) for text in ("one", "two")]
        i.reader.release()
        for answer in answers:
            await i.get(f"/receipts/{answer.json()['id']}", secret=secret, wait="20")

    assert [(200, "pending")] * 2 == [(one.status_code, one.json()["status"]) for one in answers]


async def test_refused_and_failed_uploads_hold_none(sqlite_url: str, tmp_path: Path) -> None:
    reader = FakeReader(
        {make.jpeg("bad"): Failure(FailureKind.UNREADABLE, "no")},
        kinds={make.jpeg("locked"): Failure(FailureKind.INVALID_DOCUMENT, "encrypted")},
    )
    async with installation.start(sqlite_url, tmp_path, reader=reader) as i:
        secret = await key(i)
        answers = [await i.extract(make.jpeg(text), secret=secret) for text in ("locked", "bad")]
        last = await i.extract(DOCUMENT, secret=secret)

    assert [400, 422] == [answer.status_code for answer in answers]
    assert 200 == last.status_code


async def test_cap_comes_before_quota_and_decoding(sqlite_url: str, tmp_path: Path) -> None:
    locked = make.jpeg("locked")
    reader = FakeReader(kinds={locked: Failure(FailureKind.INVALID_DOCUMENT, "encrypted")})
    async with installation.start(sqlite_url, tmp_path, reader=reader) as i:
        secret = await key(i)
        tasks = await in_flight(i, secret, "one")
        refused = await i.extract(locked, secret=secret)
        unsupported = await i.extract(DOCUMENT, secret=secret, media_type="text/plain")

        assert [200] == await ended(i, tasks)
    assert (429, 400) == (refused.status_code, unsupported.status_code)


async def test_reading_again_is_in_flight(i: Installation) -> None:
    secret = await key(i)
    await i.extracted(DOCUMENT, secret=secret)
    tasks = await in_flight(i, secret, "one")
    again = {"accuracy": "high", "reread": "true"}
    refused = await i.extract(DOCUMENT, secret=secret, **again)
    replayed = await i.extract(DOCUMENT, secret=secret, reread="true")
    statuses = await ended(i, tasks)
    answer = await i.extracted(DOCUMENT, secret=secret, **again)

    assert 429 == refused.status_code
    assert "true" == replayed.headers["Idempotent-Replayed"]
    assert [200] == statuses
    assert "high" == answer["accuracy"]


async def test_ten_equal_readings_again_at_once_are_one_with_one_slot(i: Installation) -> None:
    secret = await key(i)
    await i.extracted(DOCUMENT, secret=secret)
    again = {"accuracy": "high", "reread": "true"}
    answers = await asyncio.gather(
        *(i.extract(DOCUMENT, secret=secret, **again) for _ in range(10))
    )

    assert {200} == {answer.status_code for answer in answers}
    assert {"high"} == {answer.json()["accuracy"] for answer in answers}
    assert 9 == sum("Idempotent-Replayed" in answer.headers for answer in answers)


def trickling(secret: str) -> bytes:
    """Return the beginning of an upload of a megabyte."""
    return (
        b"POST /v1/extract HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n"
        b"Content-Type: multipart/form-data; boundary=b\r\n"
        b"X-API-Key: " + secret.encode() + b"\r\n\r\n--b\r\n"
    )


async def test_key_has_four_arriving_uploads_for_each_in_flight(
    i: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged before the body is read: forty trickling ones filled the disk."""
    monkeypatch.setattr("recibo.services.reading.upload_limits._MAX_WAIT_SECONDS", 0.1)
    secret = await key(i)
    async with sockets.listening(i.asgi) as server, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(server.client()) for _ in range(40)]
        for client in clients:
            await client.send(trickling(secret))
        coming = asyncio.as_completed([client.answer() for client in clients])
        refused = [await next(coming) for _ in range(36)]
        others = await i.extract(DOCUMENT, secret=await key(i))

    assert {(429, "rate_limit_exceeded", "1")} == {
        (one.status, one.code, one.headers["retry-after"]) for one in refused
    }
    assert 200 == others.status_code
    # Those four were cut off.
    assert 200 == (await i.extract(DOCUMENT, secret=secret)).status_code


class BusyReader(FakeReader):
    """Has no process free to look at an upload."""

    is_busy = True

    async def inspect(self, path: Path) -> Kind | Failure:
        """Refuse while it is busy."""
        if self.is_busy:
            raise Overloaded(retry_after=10)
        return await super().inspect(path)


async def test_upload_that_cannot_be_inspected_is_refused_and_holds_nothing(
    sqlite_url: str, tmp_path: Path
) -> None:
    reader = BusyReader()
    async with installation.start(sqlite_url, tmp_path, reader=reader) as i:
        secret = await key(i)
        refused = [await i.extract(DOCUMENT, secret=secret) for _ in range(6)]
        kept = await i.rows(Receipt), list((tmp_path / "spool").iterdir())
        await accounts.sign_up(i.stranger)
        files = {"file": ("receipt.jpg", DOCUMENT, "image/jpeg")}
        page = await i.stranger.post("/portal/receipts", files=files)
        reader.is_busy = False
        later = await i.extract(DOCUMENT, secret=secret)

    assert {(503, "server_error", "10")} == {
        (one.status_code, one.json()["error"]["code"], one.headers["Retry-After"])
        for one in refused
    }
    assert ([], []) == kept
    assert (503, "10") == (page.status_code, page.headers["Retry-After"])
    assert 200 == later.status_code


class SlowInspector(FakeReader):
    """Waits with slow files until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on, self.has_begun = asyncio.Event(), asyncio.Event()
        self.slow = 0

    async def inspect(self, path: Path) -> Kind | Failure:
        """Wait, if the file is a slow one."""
        if b"slow" in await asyncio.to_thread(path.read_bytes):
            self.slow += 1
            self.has_begun.set()
            await self.goes_on.wait()
        return await super().inspect(path)


async def test_org_has_one_upload_inspected_at_a_time(sqlite_url: str, tmp_path: Path) -> None:
    reader = SlowInspector()
    async with installation.start(sqlite_url, tmp_path, reader=reader) as i:
        attacker, other = await key(i, PlanName.SCALE), await key(i)
        files = [make.jpeg(f"slow {number}") for number in range(3)]
        slow = [asyncio.create_task(i.extract(file, secret=attacker)) for file in files]
        await reader.has_begun.wait()
        answer = await i.extract(DOCUMENT, secret=other)
        seen = reader.slow
        reader.goes_on.set()
        statuses = [one.status_code for one in await asyncio.gather(*slow)]

    assert 200 == answer.status_code
    assert 1 == seen
    assert [200] * 3 == statuses


async def test_upload_that_waits_too_long_to_be_inspected_is_refused(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.services.reading.extraction._INSPECTION_WAIT_SECONDS", 0)
    reader = SlowInspector()
    async with installation.start(sqlite_url, tmp_path, reader=reader) as i:
        secret = await key(i, PlanName.SCALE)
        files = [make.jpeg(f"slow {number}") for number in range(2)]
        tasks = [asyncio.create_task(i.extract(file, secret=secret)) for file in files]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        reader.goes_on.set()
        statuses = sorted(one.status_code for one in await asyncio.gather(*tasks))

    assert [503] == [task.result().status_code for task in done]
    assert [200, 503] == statuses
