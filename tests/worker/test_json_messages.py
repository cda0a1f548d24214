"""Messages in the queue: JSON, and never run as pickles."""

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from docket import execution
from redis.asyncio import Redis

from recibo.extract.model import Accuracy
from recibo.schemas.ids import ReceiptId
from recibo.services.reading.fair_queue import Job
from recibo.worker import json_messages
from recibo.worker import task_queue as engines

STREAM = "recibo:stream"


class Evil:
    """Makes a folder where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.mkdir, (self.path,)


def message(number: int, **fields: bytes) -> dict[Any, Any]:
    """Return a message of the queue as docket writes it, with some fields exchanged."""
    return {
        "key": f"read:rcp_{number}:standard",
        "when": "2026-01-01T00:00:00+00:00",
        "function": "read",
        "args": b'["rcp_0", "standard"]',
        "kwargs": b"{}",
        "attempt": "1",
        "generation": "0",
        **fields,
    }


async def test_forged_pickles_are_never_run_and_block_no_task(
    redis_url: str, tmp_path: Path
) -> None:
    evil = pickle.dumps(Evil(tmp_path / "evil"))
    forged = [
        message(1, args=evil),
        message(2, kwargs=evil),
        message(3, args=evil, kwargs=evil, function=b"unknown"),
        message(4, args=b'{"a": 1}'),
        message(5, args=b"[1]"),
        message(6, args=b"[" * 100_000),
        message(7, kwargs=b"[]"),
        # As the first version wrote it.
        message(8, args=pickle.dumps(("rcp_8", "standard")), kwargs=pickle.dumps({})),
    ]
    strike: dict[Any, Any] = {
        "direction": "strike",
        "function": "other",
        "operator": "==",
        "value": evil,
    }
    runs: asyncio.Queue[ReceiptId] = asyncio.Queue()
    async with Redis.from_url(redis_url) as redis:
        await redis.xadd("recibo:strikes", strike)
        async with engines.open_queue(redis_url) as engine:
            for one in forged:
                await redis.xadd(STREAM, one)
            async with engine.working(runs.put, concurrency=2), asyncio.timeout(60):
                await engine.add_readings([Job(ReceiptId("rcp_9"), Accuracy.STANDARD)])
                assert "rcp_9" == await runs.get()
                # Each forged one is done with, and comes to no other worker.
                while await redis.xlen(STREAM):  # noqa: ASYNC110 - Redis sends no event
                    await asyncio.sleep(0.02)

    assert runs.empty()
    assert not (tmp_path / "evil").exists()
    # Unpickling it would have run it.
    pickle.loads(evil)  # noqa: S301 - our own
    assert (tmp_path / "evil").exists()


async def test_tasks_are_written_as_json(redis_url: str) -> None:
    async with engines.open_queue(redis_url) as engine, Redis.from_url(redis_url) as redis:
        await engine.add_readings([Job(ReceiptId("rcp_0"), Accuracy.HIGH)])
        stream: Any = await redis.xrange(STREAM)
        [(_, written)] = stream

    assert ["rcp_0", "high"] == json.loads(written[b"args"])
    assert {} == json.loads(written[b"kwargs"])


def test_version_that_serializes_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(execution, "cloudpickle")

    with pytest.raises(RuntimeError, match="serializes elsewhere"):
        json_messages.use_json()
