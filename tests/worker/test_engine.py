"""The engine that carries tasks, in memory."""

import asyncio
from collections import Counter

import pytest
from docket import Docket
from structlog.testing import capture_logs

from recibo.kit import ids
from recibo.shapes.ids import ReceiptId
from recibo.store import shared
from recibo.worker import engine as engines
from tests import servers


def name() -> str:
    """Return a queue that nobody else uses."""
    return f"memory://{ids.new('queue')}"


async def test_what_was_added_before_anybody_works_is_run() -> None:
    ran = asyncio.Event()

    async def read(_: ReceiptId) -> None:
        ran.set()

    async with engines.opened(name()) as engine:
        await engine.add_reading(ReceiptId("rcp_0"))
        async with engine.working(read, concurrency=1), asyncio.timeout(20):
            await ran.wait()


async def test_fifty_adds_of_one_receipt_run_once_while_it_is_carried() -> None:
    runs: Counter[ReceiptId] = Counter()
    last = asyncio.Event()

    async def read(receipt_id: ReceiptId) -> None:
        runs[receipt_id] += 1
        if receipt_id == "rcp_last":
            last.set()

    async with engines.opened(name()) as engine:
        await asyncio.gather(*(engine.add_reading(ReceiptId("rcp_0")) for _ in range(50)))
        await engine.add_reading(ReceiptId("rcp_last"))
        async with engine.working(read, concurrency=1), asyncio.timeout(20):
            await last.wait()

    assert {"rcp_0": 1, "rcp_last": 1} == runs


async def test_receipt_can_be_read_again_later() -> None:
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()

    async with engines.opened(name()) as engine:
        async with engine.working(runs.put, concurrency=1), asyncio.timeout(20):
            await engine.add_reading(ReceiptId("rcp_0"))
            await runs.get()
            # The task's key is free only when it has wholly ended, soon after its last line.
            while runs.empty():
                await engine.add_reading(ReceiptId("rcp_0"))
                await asyncio.sleep(0)

        assert "rcp_0" == runs.get_nowait()


async def test_task_that_raises_ends_neither_the_worker_nor_is_it_repeated() -> None:
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
        engines.opened(name()) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_reading(ReceiptId("rcp_0"))
        await engine.add_reading(ReceiptId("rcp_last"))
        await last.wait()

    assert {"rcp_0": 1, "rcp_last": 1} == runs


async def test_no_more_tasks_run_at_once_than_allowed() -> None:
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

    async with engines.opened(name()) as engine:
        for number in range(6):
            await engine.add_reading(ReceiptId(f"rcp_{number}"))
        async with engine.working(read, concurrency=2), asyncio.timeout(20):
            await done.wait()

    assert max(at_once) <= 2


async def test_leaving_ends_tasks_that_run() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def read(_: ReceiptId) -> None:
        began.set()
        try:
            await asyncio.Future()
        finally:
            ended.set()

    async with (
        asyncio.timeout(20),
        engines.opened(name()) as engine,
        engine.working(read, concurrency=1),
    ):
        await engine.add_reading(ReceiptId("rcp_0"))
        await began.wait()

    assert ended.is_set()


async def test_engine_in_memory_is_alive() -> None:
    async with engines.opened(name()) as engine:
        assert await engine.is_alive()


async def test_queue_out_of_reach_fails_no_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    async with engines.opened(name()) as engine:
        monkeypatch.setattr(Docket, "add", fail)

        await engine.add_reading(ReceiptId("rcp_0"))


async def test_queue_that_hangs_holds_up_one_upload_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(shared, "_PAUSE_SECONDS", 3600)
    with capture_logs() as logs, servers.run_redis() as server:
        async with engines.opened(server.url) as engine, asyncio.timeout(20):
            server.hang()
            for number in range(1000):
                await engine.add_reading(ReceiptId(f"rcp_{number}"))

    assert ["the queue is out of reach; what is owed waits"] == [one["event"] for one in logs]
