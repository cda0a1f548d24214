"""Rate limits, in memory and in Redis."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from recibo.store import limits, redis_client
from recibo.store.limits import InRedis, Limit, Limits, LimitStatus
from tests import servers
from tests.fake_clock import START_SECONDS, FakeClock

N = 10
HERE = Limit("ip:203.0.113.9", N)
MINE = Limit("key_mine", N)
OTHER = Limit("key_other", N)


@dataclass(frozen=True, slots=True)
class Bench:
    """Limits and a fake clock."""

    limits: Limits
    fake_clock: FakeClock

    async def take(self, *taken: Limit) -> LimitStatus:
        """Count one request."""
        return await self.limits.take(taken)

    async def passed(self, *taken: Limit, of: int) -> int:
        """Return how many of `of` requests pass."""
        return [(await self.take(*taken)).retry_after for _ in range(of)].count(None)


@pytest.fixture(params=["memory", "redis"])
async def bench(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    """Return limits in memory and in Redis."""
    if request.param == "memory":
        yield Bench(limits.InMemory(), FakeClock(monkeypatch))
        return
    client = Redis.from_url(request.getfixturevalue("redis_url"))
    yield Bench(InRedis(client), FakeClock(monkeypatch, client))
    await client.aclose()


async def test_burst_is_twice_the_limit(bench: Bench) -> None:
    assert 2 * N == await bench.passed(MINE, of=3 * N)

    refused = await bench.take(MINE)
    assert (N, 0) == (refused.limit, refused.remaining)
    # Six seconds per request, rounded up.
    assert refused.retry_after in {6, 7}


async def test_exhausted_bucket_refills_at_the_limit_per_minute(bench: Bench) -> None:
    drained = Limit("key_drained", 100)
    await bench.passed(drained, of=250)

    passed = 0
    for _ in range(120):
        await bench.fake_clock.move(0.5)
        passed += await bench.passed(drained, of=2)

    assert 99 <= passed <= 101


async def test_window_counts_the_last_sixty_seconds(bench: Bench) -> None:
    began = int(START_SECONDS)

    assert LimitStatus(N, N - 1, began + 60) == await bench.take(MINE)
    await bench.fake_clock.move(30)
    assert LimitStatus(N, N - 2, began + 60) == await bench.take(MINE)
    await bench.fake_clock.move(29)
    assert LimitStatus(N, N - 3, began + 60) == await bench.take(MINE)
    await bench.fake_clock.move(1)
    assert LimitStatus(N, N - 3, began + 90) == await bench.take(MINE)
    await bench.fake_clock.move(600)
    assert LimitStatus(N, N - 1, began + 660 + 60) == await bench.take(MINE)


async def test_remaining_is_zero_during_the_burst(bench: Bench) -> None:
    statuses = [await bench.take(MINE) for _ in range(2 * N)]

    assert [*range(N - 1, -1, -1), *[0] * N] == [one.remaining for one in statuses]
    assert {None} == {one.retry_after for one in statuses}


async def test_refused_request_is_not_counted(bench: Bench) -> None:
    await bench.passed(MINE, of=2 * N)
    await bench.fake_clock.move(30)
    refused = await bench.take(MINE, OTHER)
    await bench.passed(MINE, of=5)
    refused_at = [await bench.take(MINE) for _ in range(2)][-1]
    await bench.fake_clock.move(30)

    # The window contains only requests that passed in the last minute.
    assert refused.retry_after is None
    assert int(START_SECONDS) + 60 == refused_at.reset
    assert (await bench.take(MINE)).remaining == N - 1 - 5


async def test_refusal_by_the_second_limit_does_not_spend_the_first(bench: Bench) -> None:
    await bench.passed(MINE, of=2 * N)

    assert 0 == await bench.passed(HERE, MINE, of=5 * N)
    assert N - 1 == (await bench.take(HERE, OTHER)).remaining
    # The refund may lack the part of a request that was refilled in the meantime.
    assert await bench.passed(HERE, OTHER, of=3 * N) in {2 * N - 2, 2 * N - 1}


async def test_refusal_by_the_first_limit_does_not_spend_the_second(bench: Bench) -> None:
    await bench.passed(HERE, of=2 * N)

    assert 0 == await bench.passed(HERE, MINE, of=5 * N)
    assert 2 * N == await bench.passed(MINE, of=3 * N)


async def test_non_binding_limit_is_counted_but_refuses_nothing(bench: Bench) -> None:
    loose = Limit(HERE.subject, N, is_binding=False)

    assert 5 * N == await bench.passed(loose, of=5 * N)
    assert (0, None) == ((status := await bench.take(loose, MINE)).remaining, status.retry_after)
    assert 2 * N == await bench.passed(HERE, of=3 * N)


async def test_limit_with_the_fewest_remaining_is_reported(bench: Bench) -> None:
    await bench.take(HERE)
    await bench.fake_clock.move(10)

    assert LimitStatus(N, N - 2, int(START_SECONDS) + 60) == await bench.take(HERE, MINE)
    assert LimitStatus(N, N - 1, int(START_SECONDS) + 70) == await bench.take(
        Limit("ip:new", N), OTHER
    )


async def test_different_limits_of_a_subject_are_counted_separately(bench: Bench) -> None:
    await bench.passed(HERE, of=3 * N)

    assert 2 * N - 1 == (await bench.take(Limit(HERE.subject, 2 * N))).remaining


async def test_limit_of_zero_refuses_nearly_all_requests(bench: Bench) -> None:
    assert 2 == await bench.passed(Limit("key_none", 0), of=10)


async def test_limits_are_alive(bench: Bench) -> None:
    assert await bench.limits.is_alive()


async def test_processes_share_counts_in_redis(redis_url: str) -> None:
    async with redis_client.open_redis(redis_url) as one, redis_client.open_redis(redis_url) as two:
        await limits.create(one).take([MINE])

        assert N - 2 == (await limits.create(two).take([MINE])).remaining


async def test_counts_in_redis_expire(redis_url: str) -> None:
    async with redis_client.open_redis(redis_url) as client:
        assert client is not None
        await limits.create(client).take([HERE, MINE])
        names = await client.keys("*")

        assert 4 == len(names)
        assert all([0 < await client.ttl(name) <= 61 for name in names])


async def test_requests_pass_uncounted_only_while_redis_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "_OPEN_SECONDS", 0)
    port = servers.free_port()
    with capture_logs() as logs:
        async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
            counted = limits.create(client)
            with servers.run_redis(port):
                before = await counted.take([MINE])
            gone = [await counted.take([MINE]) for _ in range(5 * N)]
            with servers.run_redis(port):
                after = await counted.take([MINE])

    assert (True, N - 1) == (before.is_known, before.remaining)
    assert {(False, N, None)} == {(one.is_known, one.remaining, one.retry_after) for one in gone}
    assert (True, N - 1) == (after.is_known, after.remaining)
    # One log line, not one per request.
    assert ["Redis is unreachable; rate limits are not enforced"] == [one["event"] for one in logs]


async def test_requests_do_not_wait_while_redis_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "_OPEN_SECONDS", 3600)
    port = servers.free_port()
    async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
        counted = limits.create(client)
        await counted.take([MINE])
        with servers.run_redis(port):
            assert not (await counted.take([MINE])).is_known


async def test_flood_of_addresses_evicts_no_exhausted_bucket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With LRU eviction, as many addresses as buckets would reset the limit."""
    monkeypatch.setattr(limits, "_MAX_BUCKETS", 50)
    monkeypatch.setattr(limits, "_MAX_WINDOWS", 50)
    bench = Bench(limits.InMemory(), FakeClock(monkeypatch))
    drained = await bench.passed(MINE, of=2 * N)
    for number in range(500):
        await bench.take(Limit(f"ip:203.0.113.{number}", N))

    assert 2 * N == drained
    assert (await bench.take(MINE)).retry_after is not None


async def test_counts_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MAX_BUCKETS", 50)
    monkeypatch.setattr(limits, "_MAX_WINDOWS", 50)
    counting: Any = limits.InMemory()
    held = [counting._buckets._full_at, counting._windows._counted]  # noqa: SLF001
    for number in range(500):
        await counting.take([Limit(f"ip:203.0.113.{number}", N)])

    assert [50, 50] == [len(one) for one in held]
