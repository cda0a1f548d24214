"""The worker registry, in memory and in Redis."""

from collections.abc import AsyncIterator
from typing import cast

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from recibo.store import redis_client, worker_registry
from recibo.store.worker_registry import NO_WORKERS, TTL_SECONDS, WorkerRegistry, WorkerStats
from tests import servers


@pytest.fixture(params=["memory", "redis"])
async def workers(request: pytest.FixtureRequest) -> AsyncIterator[WorkerRegistry]:
    """Return registries in memory and in Redis."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    async with redis_client.open_redis(url) as client:
        yield worker_registry.create(client)


async def test_default_without_workers_has_one_reader(workers: WorkerRegistry) -> None:
    assert NO_WORKERS == await workers.combined_stats()
    assert 1 == NO_WORKERS.readers


async def test_combined_stats_have_the_same_throughput(workers: WorkerRegistry) -> None:
    await workers.report("slow", WorkerStats(2, 4.0))
    await workers.report("quick", WorkerStats(4, 0.5))

    combined = await workers.combined_stats()
    assert 6 == combined.readers
    # 0.5 and 8 documents per second.
    assert pytest.approx(8.5) == combined.readers / combined.mean_seconds


async def test_last_report_of_a_worker_counts(workers: WorkerRegistry) -> None:
    await workers.report("one", WorkerStats(2, 2.0))
    await workers.report("one", WorkerStats(2, 8.0))

    assert WorkerStats(2, 8.0) == await workers.combined_stats()


async def test_removed_worker_does_not_count(workers: WorkerRegistry) -> None:
    await workers.report("one", WorkerStats(2, 8.0))
    await workers.report("other", WorkerStats(3, 1.0))
    await workers.remove("other")
    await workers.remove("other")

    assert WorkerStats(2, 8.0) == await workers.combined_stats()
    await workers.remove("one")
    assert NO_WORKERS == await workers.combined_stats()


async def test_mean_of_zero_seconds_is_accepted(workers: WorkerRegistry) -> None:
    await workers.report("one", WorkerStats(2, 0.0))

    assert 2 == (await workers.combined_stats()).readers


async def test_killed_worker_expires(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    workers = worker_registry.InRedis(client)
    await workers.report("killed", WorkerStats(2, 8.0))
    await workers.report("living", WorkerStats(1, 3.0))
    (key,) = await client.keys("*")
    assert 0 < await client.ttl(key) <= TTL_SECONDS
    # Redis uses the machine's clock, so backdate the entry instead.
    ends, readers, seconds = cast("bytes", await client.hget(key, "killed")).split()
    expired = f"{int(ends) - TTL_SECONDS} {int(readers)} {float(seconds)}"
    await client.hset(key, "killed", expired)

    assert WorkerStats(1, 3.0) == await workers.combined_stats()
    assert [b"living"] == await client.hkeys(key)
    await client.aclose()


async def test_last_known_workers_count_while_redis_is_down() -> None:
    port = servers.free_port()
    with capture_logs() as logs:
        async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
            workers = worker_registry.create(client)
            await workers.report("one", WorkerStats(2, 8.0))
            assert NO_WORKERS == await workers.combined_stats()
            with servers.run_redis(port):
                assert client is not None
                known = worker_registry.InRedis(client)
                await known.report("one", WorkerStats(2, 8.0))
                assert WorkerStats(2, 8.0) == await known.combined_stats()
            assert WorkerStats(2, 8.0) == await known.combined_stats()
            await known.remove("one")

    events = {one["event"] for one in logs}
    assert {"Redis is unreachable; using the last known workers"} == events
