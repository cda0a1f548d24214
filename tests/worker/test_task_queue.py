"""The task queue, in memory and over Redis."""

import asyncio
from collections import Counter

import pytest
from docket import Docket
from redis.asyncio import Redis
from structlog.testing import capture_logs

from recibo.extract.model import Accuracy
from recibo.schemas.ids import ReceiptId
from recibo.services.reading.fair_queue import Job
from recibo.store import redis_client
from recibo.worker import task_queue as engines
from tests import servers


def jobs(*names: str, accuracy: Accuracy = Accuracy.STANDARD) -> list[Job]:
    """Return jobs for receipts."""
    return [Job(ReceiptId(name), accuracy) for name in names]


async def test_what_was_added_before_anybody_works_is_run(queue: str) -> None:
    ran = asyncio.Event()

    async def read(_: ReceiptId) -> None:
        ran.set()

    async with engines.open_queue(queue) as engine:
        await engine.add_readings(jobs("rcp_0"))
        async with engine.working(read, concurrency=1), asyncio.timeout(20):
            await ran.wait()


async def test_fifty_adds_of_one_receipt_run_once_while_it_is_carried(queue: str) -> None:
    runs: Counter[ReceiptId] = Counter()
    last = asyncio.Event()

    async def read(receipt_id: ReceiptId) -> None:
        runs[receipt_id] += 1
        if receipt_id == "rcp_last":
            last.set()

    async with engines.open_queue(queue) as engine:
        await asyncio.gather(*(engine.add_readings(jobs("rcp_0")) for _ in range(50)))
        await engine.add_readings(jobs("rcp_last"))
        async with engine.working(read, concurrency=1), asyncio.timeout(20):
            await last.wait()

    assert {"rcp_0": 1, "rcp_last": 1} == runs


async def test_receipt_can_be_read_again_later(queue: str) -> None:
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()

    async with engines.open_queue(queue) as engine:
        async with engine.working(runs.put, concurrency=1), asyncio.timeout(20):
            await engine.add_readings(jobs("rcp_0"))
            await runs.get()
            # The task's key is free only when it has wholly ended, soon after its last line.
            while runs.empty():
                await engine.add_readings(jobs("rcp_0"))
                await asyncio.sleep(0)

        assert "rcp_0" == runs.get_nowait()


async def test_second_reading_is_carried_while_the_task_of_the_first_ends(queue: str) -> None:
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()
    is_ordered = asyncio.Event()

    async def read(receipt_id: ReceiptId) -> None:
        await runs.put(receipt_id)
        await is_ordered.wait()

    async with (
        asyncio.timeout(30),
        engines.open_queue(queue) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_readings(jobs("rcp_0"))
        await runs.get()
        await engine.add_readings(jobs("rcp_0", accuracy=Accuracy.HIGH))
        is_ordered.set()

        assert "rcp_0" == await runs.get()


async def test_task_that_raises_ends_neither_the_worker_nor_is_it_repeated(queue: str) -> None:
    runs: Counter[ReceiptId] = Counter()
    last = asyncio.Event()

    async def read(receipt_id: ReceiptId) -> None:
        runs[receipt_id] += 1
        if receipt_id == "rcp_last":
            last.set()
        else:
            message = "a bug"
            raise RuntimeError(message)

    async with (
        asyncio.timeout(20),
        engines.open_queue(queue) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_readings(jobs("rcp_0"))
        await engine.add_readings(jobs("rcp_last"))
        await last.wait()

    assert {"rcp_0": 1, "rcp_last": 1} == runs


async def test_no_more_tasks_run_at_once_than_alljobs(queue: str) -> None:
    at_once: list[int] = []
    running = 0
    done = asyncio.Event()

    async def read(_: ReceiptId) -> None:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0)
        running -= 1
        if len(at_once) == 6:
            done.set()

    async with engines.open_queue(queue) as engine:
        for number in range(6):
            await engine.add_readings(jobs(f"rcp_{number}"))
        async with engine.working(read, concurrency=2), asyncio.timeout(20):
            await done.wait()

    assert max(at_once) <= 2


async def test_leaving_ends_tasks_that_run(queue: str) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def read(_: ReceiptId) -> None:
        began.set()
        try:
            await asyncio.Future()
        finally:
            ended.set()

    async with (
        asyncio.timeout(20),
        engines.open_queue(queue) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_readings(jobs("rcp_0"))
        await began.wait()

    assert ended.is_set()


async def test_what_is_left_at_the_end_is_run_by_the_next(queue: str) -> None:
    """What ran is cancelled, and what came too late is not begun; both are added again."""
    began, other_began = asyncio.Event(), asyncio.Event()
    runs: Counter[ReceiptId] = Counter()
    done = asyncio.Event()

    async def never_end(receipt_id: ReceiptId) -> None:
        (other_began if receipt_id == "rcp_1" else began).set()
        await asyncio.Future()

    async def read(receipt_id: ReceiptId) -> None:
        runs[receipt_id] += 1
        if len(runs) == 4:
            done.set()

    async with asyncio.timeout(30), engines.open_queue(queue) as engine:
        async with engine.working(never_end, concurrency=2):
            for number in range(4):
                await engine.add_readings(jobs(f"rcp_{number}"))
            await began.wait()
            await other_began.wait()
        async with engine.working(read, concurrency=2):
            await done.wait()

    assert {f"rcp_{number}": 1 for number in range(4)} == runs


async def test_task_that_another_cancels_is_no_stop(queue: str) -> None:
    ran = asyncio.Event()

    async def read(receipt_id: ReceiptId) -> None:
        if receipt_id == "rcp_0":
            raise asyncio.CancelledError
        ran.set()

    async with (
        asyncio.timeout(30),
        engines.open_queue(queue) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_readings(jobs("rcp_0"))
        await engine.add_readings(jobs("rcp_1"))
        await ran.wait()

    assert ran.is_set()


async def test_engine_over_redis_rides_out_its_absence() -> None:
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()
    with servers.run_redis() as server:
        pass

    async with (
        asyncio.timeout(60),
        engines.open_queue(server.url) as engine,
        engine.working(runs.put, concurrency=1),
    ):
        await engine.add_readings(jobs("rcp_lost"))
        for name in ("rcp_0", "rcp_1"):
            with servers.run_redis(server.port):
                while runs.empty():
                    # As the periodic job does.
                    await engine.add_readings(jobs(name))
                    await asyncio.sleep(0.05)
                assert name == await runs.get()


async def test_queue_that_is_emptied_runs_what_is_added_again(redis_url: str) -> None:
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()

    async with (
        asyncio.timeout(30),
        engines.open_queue(redis_url) as engine,
        engine.working(runs.put, concurrency=1),
    ):
        for number in range(3):
            await engine.add_readings(jobs(f"rcp_{number}"))
            await runs.get()
            async with Redis.from_url(redis_url) as client:
                await client.flushall()
        await engine.add_readings(jobs("rcp_0"))

        assert "rcp_0" == await runs.get()


async def test_engine_is_alive(queue: str) -> None:
    async with engines.open_queue(queue) as engine:
        assert await engine.is_alive()


async def test_queue_out_of_reach_fails_no_upload(
    queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    async with engines.open_queue(queue) as engine:
        monkeypatch.setattr(Docket, "add_many", fail)

        await engine.add_readings(jobs("rcp_0"))


async def test_queue_that_hangs_holds_up_one_upload_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(redis_client, "_OPEN_SECONDS", 3600)
    with capture_logs() as logs, servers.run_redis() as server:
        async with engines.open_queue(server.url) as engine, asyncio.timeout(20):
            server.hang()
            for number in range(1000):
                await engine.add_readings(jobs(f"rcp_{number}"))

    assert ["the queue is unreachable; pending work waits"] == [one["event"] for one in logs]
