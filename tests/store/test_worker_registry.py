"""Crews, in memory and in Redis alike."""

from collections.abc import AsyncIterator
from typing import cast

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from recibo.store import redis_client
from recibo.store import worker_registry as crews_
from recibo.store.worker_registry import LIFE_SECONDS, NO_WORKERS, WorkerRegistry, WorkerStats
from tests import servers


@pytest.fixture(params=["memory", "redis"])
async def crews(request: pytest.FixtureRequest) -> AsyncIterator[WorkerRegistry]:
    """Crews at each place in turn."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    async with redis_client.open_redis(url) as client:
        yield crews_.of(client)


async def test_one_reader_is_counted_with_while_nobody_is_known(crews: WorkerRegistry) -> None:
    assert NO_WORKERS == await crews.at_work()
    assert 1 == NO_WORKERS.readers


async def test_crews_are_one_that_gets_as_much_done(crews: WorkerRegistry) -> None:
    await crews.tell("slow", WorkerStats(2, 4.0))
    await crews.tell("quick", WorkerStats(4, 0.5))

    together = await crews.at_work()
    assert 6 == together.readers
    # Half a document a second, and eight.
    assert pytest.approx(8.5) == together.readers / together.mean_seconds


async def test_what_a_crew_told_last_counts(crews: WorkerRegistry) -> None:
    await crews.tell("one", WorkerStats(2, 2.0))
    await crews.tell("one", WorkerStats(2, 8.0))

    assert WorkerStats(2, 8.0) == await crews.at_work()


async def test_crew_that_left_counts_no_more(crews: WorkerRegistry) -> None:
    await crews.tell("one", WorkerStats(2, 8.0))
    await crews.tell("other", WorkerStats(3, 1.0))
    await crews.leave("other")
    await crews.leave("other")

    assert WorkerStats(2, 8.0) == await crews.at_work()
    await crews.leave("one")
    assert NO_WORKERS == await crews.at_work()


async def test_documents_that_take_no_time_are_counted_with(crews: WorkerRegistry) -> None:
    await crews.tell("one", WorkerStats(2, 0.0))

    assert 2 == (await crews.at_work()).readers


async def test_crew_that_was_killed_ends_by_itself(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    crews = crews_.InRedis(client)
    await crews.tell("killed", WorkerStats(2, 8.0))
    await crews.tell("living", WorkerStats(1, 3.0))
    (key,) = await client.keys("*")
    assert 0 < await client.ttl(key) <= LIFE_SECONDS
    # Time passes: Redis goes by the clock of its machine, so what it holds is made older.
    ends, readers, seconds = cast("bytes", await client.hget(key, "killed")).split()
    over = f"{int(ends) - LIFE_SECONDS} {int(readers)} {float(seconds)}"
    await client.hset(key, "killed", over)

    assert WorkerStats(1, 3.0) == await crews.at_work()
    assert [b"living"] == await client.hkeys(key)
    await client.aclose()


async def test_without_redis_those_last_heard_of_count() -> None:
    port = servers.free_port()
    with capture_logs() as logs:
        async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
            crews = crews_.of(client)
            await crews.tell("one", WorkerStats(2, 8.0))
            assert NO_WORKERS == await crews.at_work()
            with servers.run_redis(port):
                assert client is not None
                known = crews_.InRedis(client)
                await known.tell("one", WorkerStats(2, 8.0))
                assert WorkerStats(2, 8.0) == await known.at_work()
            assert WorkerStats(2, 8.0) == await known.at_work()
            await known.leave("one")

    told = {one["event"] for one in logs}
    assert {"who reads is not known; those last heard of count"} == told
