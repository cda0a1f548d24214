"""The last free reader is reserved for orgs without a reading in progress."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure
from recibo.extract.model import Accuracy, DocumentType, Receipt
from recibo.lib import clock
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.services.reading.fair_queue import Job
from recibo.worker.shares import ReaderShares
from tests import installation, make
from tests.installation import Installation

ONE, OTHER = OrgId("org_one"), OrgId("org_other")


class SlowReader(FakeReader):
    """Holds the documents that say that they are slow, and reads all others at once."""

    def __init__(self) -> None:
        super().__init__()
        self.slow_at_once = 0
        self.most_at_once = 0
        self.has_begun = asyncio.Semaphore(0)
        self.may_end = asyncio.Event()

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,
        time_limit_s: float,
    ) -> Receipt | Failure:
        if b"slow" in await asyncio.to_thread(path.read_bytes):
            self.slow_at_once += 1
            self.most_at_once = max(self.most_at_once, self.slow_at_once)
            self.has_begun.release()
            await self.may_end.wait()
            self.slow_at_once -= 1
        return await super().read(path, hint=hint, accuracy=accuracy, time_limit_s=time_limit_s)


@pytest.mark.parametrize("readers", [1, 3])
async def test_org_that_keeps_all_readers_busy_delays_no_other(
    database_url: str, tmp_path: Path, readers: int
) -> None:
    await _try(database_url, tmp_path, readers, [SlowReader()])


async def test_the_same_over_redis_and_two_processes(
    postgres_url: str, redis_url: str, tmp_path: Path
) -> None:
    await _try(postgres_url, tmp_path, 1, [SlowReader(), SlowReader()], redis_url=redis_url)


@asynccontextmanager
async def _running_services(
    url: str, folder: Path, workers: Sequence[SlowReader], settings: dict[str, Any]
) -> AsyncIterator[Installation]:
    async with AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(
                installation.start(url, folder, reader=worker, **settings)
            )
            for worker in workers
        ]
        yield services[0]


async def _try(
    url: str, folder: Path, readers: int, workers: Sequence[SlowReader], **settings: Any
) -> None:
    settings |= {"readers": readers, "extract_wait_seconds": 0}
    async with asyncio.timeout(120), _running_services(url, folder, workers, settings) as service:
        slow = [
            (await service.extracted(make.jpeg(f"slow {number}")))["id"]
            for number in range(len(workers) * readers + 3)
        ]
        for worker in workers:
            for _ in range(readers):
                await worker.has_begun.acquire()
        other = await make.key(service.database, await make.org(service.database))
        plain = await service.extract(make.jpeg("plain"), secret=other)
        path = f"/receipts/{plain.json()['id']}"
        read = (await service.get(path, secret=other, wait="25")).json()
        held = [worker.slow_at_once for worker in workers]
        for worker in workers:
            worker.may_end.set()
        ended = {(await service.waited(one))["status"] for one in slow}

    assert "completed" == read["status"]
    # One org may use all that are set, and never the one more.
    assert [readers] * len(workers) == held == [worker.most_at_once for worker in workers]
    assert {"completed"} == ended


def test_last_reader_is_for_an_org_that_has_none() -> None:
    shares = ReaderShares(1)

    assert shares.acquire(ONE)
    assert not shares.acquire(ONE)
    assert shares.acquire(OTHER)
    assert not shares.acquire(OTHER)
    shares.release(ONE)
    # Now the other has one, and the last is free.
    assert not shares.acquire(OTHER)
    assert shares.acquire(ONE)


def test_active_orgs_get_equal_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start)
    shares = ReaderShares(4)
    taken = [shares.acquire(ONE) for _ in range(4)]
    assert shares.acquire(OTHER)
    shares.release(ONE)
    shares.release(ONE)
    refused = shares.acquire(ONE)
    assert shares.acquire(OTHER)
    shares.release(OTHER)
    shares.release(OTHER)
    still_refused = shares.acquire(ONE)
    monkeypatch.setattr(clock, "now", lambda: start + dt.timedelta(seconds=2))
    after = [shares.acquire(ONE) for _ in range(3)]

    assert [True] * 4 == taken
    assert not refused
    assert not still_refused
    assert [True, True, False] == after


def test_postponed_job_is_returned_once_with_a_new_repetition() -> None:
    shares = ReaderShares(1)
    waiting = Job(ReceiptId("rcp_0"), Accuracy.STANDARD)
    shares.postpone(waiting)
    shares.postpone(waiting)
    first = shares.take_waiting([waiting])
    shares.postpone(waiting)
    second = shares.take_waiting([])

    assert ["rcp_0"] == [one.receipt_id for one in first] == [one.receipt_id for one in second]
    assert 3 == len({waiting, *first, *second})
    assert [waiting] == shares.take_waiting([waiting])
