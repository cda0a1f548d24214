"""Background work and periodic jobs as tasks of a queue, in memory and over Redis."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import docket.worker
import pytest
from redis.asyncio import Redis

from recibo.store.db import Database
from recibo.worker import task_queue
from recibo.worker.jobs import Budget, Job
from tests import background, servers

_SOON_SECONDS = 0.05


class Work:
    """Keys that stay due until they are done once; counts what is done."""

    name: ClassVar[str] = "work"

    def __init__(self, *keys: str) -> None:
        self.due = set(keys)
        self.runs = Counter[str]()
        self.most_at_once = Counter[str]()
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.changed = asyncio.Condition()
        self._in_progress = Counter[str]()

    async def due_keys(self) -> Sequence[str]:
        """Return what is not done."""
        return sorted(self.due)

    async def work(self, key: str, stopping: asyncio.Event) -> None:
        """Count the key as done when it may end, unless the worker stops."""
        self._in_progress[key] += 1
        self.most_at_once[key] = max(self.most_at_once[key], self._in_progress[key])
        self.runs[key] += 1
        await self._notify()
        try:
            await self.may_end.wait()
        finally:
            self._in_progress[key] -= 1
        if not stopping.is_set():
            self.due.discard(key)
        await self._notify()

    async def started(self, *keys: str) -> None:
        """Wait until these were started."""
        async with self.changed, asyncio.timeout(20):
            await self.changed.wait_for(lambda: all(self.runs[key] for key in keys))

    async def is_done(self) -> None:
        """Wait until nothing is due."""
        async with self.changed, asyncio.timeout(20):
            await self.changed.wait_for(lambda: not self.due)

    async def _notify(self) -> None:
        async with self.changed:
            self.changed.notify_all()


def counting(name: str, every_seconds: float = _SOON_SECONDS) -> tuple[Job, asyncio.Queue[str]]:
    """Return a job, and a queue that grows with each run."""
    runs = asyncio.Queue[str]()

    async def run(_: Budget) -> None:
        await runs.put(name)

    return Job(name, every_seconds, run), runs


async def test_due_work_is_run_by_the_sweeper(database: Database, queue: str) -> None:
    work = Work("one", "two")
    async with background.running(database, work, url=queue):
        await work.is_done()

    assert {"one": 1, "two": 1} == work.runs


async def test_key_that_is_swept_again_while_it_runs_is_not_run_twice(
    database: Database, queue: str
) -> None:
    work = Work("one")
    work.may_end.clear()
    async with (
        background.running(database, work, url=queue),
        background.running(database, work, url=queue),
    ):
        await work.started("one")
        # Both sweepers enqueue it several times.
        await asyncio.sleep(0.3)
        work.may_end.set()
        await work.is_done()

    assert {"one": 1} == work.most_at_once
    assert {"one": 1} == work.runs


async def test_work_that_hangs_delays_no_other_work_and_no_job(
    database: Database, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_queue, "_LAST_RUN_SECONDS", 0.1)
    hanging, quick = Work(*(f"hanging_{n}" for n in range(60))), Work("quick")
    hanging.may_end.clear()
    job, runs = counting("tried")

    class Quick(Work):
        name = "quick"

    quick = Quick("quick")
    async with background.running(database, hanging, quick, upkeep=[job], url=queue):
        await hanging.started(*hanging.due)
        await quick.is_done()
        await asyncio.wait_for(runs.get(), 20)

    # What was cancelled at the end is still due.
    assert 60 == len(hanging.due)


async def test_emptied_redis_only_delays(
    database: Database, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docket.worker, "AUTOMATIC_PERPETUAL_RESEED_INTERVAL_SECONDS", 0.1)
    work = Work("one")
    job, runs = counting("tried")
    async with (
        asyncio.timeout(60),
        background.running(database, work, upkeep=[job], url=redis_url),
        Redis.from_url(redis_url) as client,
    ):
        for _ in range(2):
            await work.is_done()
            await runs.get()
            await client.flushall()
            work.due.add("one")
        # Two runs: the first may have been in progress.
        for _ in range(2):
            await runs.get()
        await work.is_done()


async def test_redis_that_comes_back_runs_what_is_due(database: Database) -> None:
    work = Work("one")
    with servers.run_redis() as server:
        pass
    async with asyncio.timeout(60), background.running(database, work, url=server.url):
        await asyncio.sleep(0.2)
        before = work.runs["one"]
        with servers.run_redis(server.port):
            await work.is_done()

    assert (0, 1) == (before, work.runs["one"])


async def test_job_first_runs_after_an_interval(database: Database, queue: str) -> None:
    slow, slow_runs = counting("slow", 60)
    quick, quick_runs = counting("quick")
    async with (
        asyncio.timeout(20),
        background.running(database, upkeep=[slow, quick], url=queue),
    ):
        for _ in range(3):
            await quick_runs.get()

    assert slow_runs.empty()


async def test_job_that_fails_is_repeated(database: Database, queue: str) -> None:
    runs = asyncio.Queue[int]()

    async def fail(_: Budget) -> None:
        await runs.put(1)
        raise OSError

    async with (
        asyncio.timeout(20),
        background.running(database, upkeep=[Job("tried", _SOON_SECONDS, fail)], url=queue),
    ):
        for _ in range(2):
            await runs.get()
