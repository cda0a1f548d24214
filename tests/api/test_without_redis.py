"""Processes that share a Redis, while it is gone, while it hangs, and when it is back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recibo.worker import periodic_tasks
from tests import installation, make, servers
from tests.installation import Installation

SHARED = ("queue", "limits")


@asynccontextmanager
async def start(
    database_url: str, data_dir: Path, port: int, *, with_worker: bool
) -> AsyncIterator[Installation]:
    """Open a service whose uploads wait for no reading."""
    async with installation.start(
        database_url,
        data_dir,
        redis_url=f"redis://127.0.0.1:{port}/0",
        with_worker=with_worker,
        extract_wait_seconds=0,
    ) as i:
        yield i


async def readiness(i: Installation) -> tuple[int, set[str]]:
    """Return the status of /readyz and what it says of the parts that are shared."""
    answer = await i.stranger.get("/readyz")
    body: dict[str, Any] = answer.json()
    return answer.status_code, {body["checks"][name] for name in SHARED}


async def test_uploads_without_redis_are_pending_and_read_when_it_is_back(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(periodic_tasks, "_READINGS_SECONDS", 0.1)
    port = servers.free_port()
    async with start(sqlite_url, tmp_path, port, with_worker=True) as i:
        gone = await readiness(i)
        taken_in = [await i.extracted(make.jpeg(f"document {number}")) for number in range(3)]
        with servers.run_redis(port):
            read = [await i.waited(receipt["id"]) for receipt in taken_in]
            back = await readiness(i)

            assert (200, {"degraded"}) == gone
            assert ["pending"] * 3 == [receipt["status"] for receipt in taken_in]
            assert ["completed"] * 3 == [receipt["status"] for receipt in read]
            assert (200, {"ok"}) == back
            assert (3, 3) == await i.used()


async def test_lost_redis_is_reported_and_the_service_stays_ready(
    sqlite_url: str, tmp_path: Path
) -> None:
    port = servers.free_port()
    with servers.run_redis(port):
        service = start(sqlite_url, tmp_path, port, with_worker=False)
        i = await service.__aenter__()
        there = await readiness(i)
    try:
        assert (200, {"ok"}) == there
        assert (200, {"degraded"}) == await readiness(i)
        assert "pending" == (await i.extracted(make.jpeg("document")))["status"]
    finally:
        await service.__aexit__(None, None, None)


async def test_redis_that_hangs_holds_up_neither_uploads_nor_the_probe(
    sqlite_url: str, tmp_path: Path
) -> None:
    port = servers.free_port()
    with servers.run_redis(port) as server:
        async with start(sqlite_url, tmp_path, port, with_worker=False) as i:
            await i.extracted(make.jpeg("before"))
            server.hang()

            assert "pending" == (await i.extracted(make.jpeg("document")))["status"]
            assert (200, {"degraded"}) == await readiness(i)
