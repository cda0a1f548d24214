"""Limits a minute, in memory and in Redis alike."""

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
    """Limits and the clock that they go by."""

    limits: Limits
    fake_clock: FakeClock

    async def take(self, *taken: Limit) -> LimitStatus:
        """Count one request."""
        return await self.limits.take(taken)

    async def passed(self, *taken: Limit, of: int) -> int:
        """Return how many of so many requests pass."""
        return [(await self.take(*taken)).retry_after for _ in range(of)].count(None)


@pytest.fixture(params=["memory", "redis"])
async def bench(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    """Limits at each place in turn."""
    if request.param == "memory":
        yield Bench(limits.InMemory(), FakeClock(monkeypatch))
        return
    client = Redis.from_url(request.getfixturevalue("redis_url"))
    yield Bench(InRedis(client), FakeClock(monkeypatch, client))
    await client.aclose()


async def test_burst_is_twice_the_figure(bench: Bench) -> None:
    assert 2 * N == await bench.passed(MINE, of=3 * N)

    refused = await bench.take(MINE)
    assert (N, 0) == (refused.limit, refused.remaining)
    # Six seconds a request, rounded up.
    assert refused.retry_after in {6, 7}


async def test_drained_one_gets_the_figure_in_the_next_minute(bench: Bench) -> None:
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


async def test_remaining_ends_at_zero_while_the_burst_goes_on(bench: Bench) -> None:
    told = [await bench.take(MINE) for _ in range(2 * N)]

    assert [*range(N - 1, -1, -1), *[0] * N] == [one.remaining for one in told]
    assert {None} == {one.retry_after for one in told}


async def test_refused_request_is_not_counted(bench: Bench) -> None:
    await bench.passed(MINE, of=2 * N)
    await bench.fake_clock.move(30)
    refused = await bench.take(MINE, OTHER)
    await bench.passed(MINE, of=5)
    refused_at = [await bench.take(MINE) for _ in range(2)][-1]
    await bench.fake_clock.move(30)

    # Only what passed within the minute is in the window.
    assert refused.retry_after is None
    assert int(START_SECONDS) + 60 == refused_at.reset
    assert (await bench.take(MINE)).remaining == N - 1 - 5


async def test_second_one_that_refuses_leaves_the_first_as_it_was(bench: Bench) -> None:
    await bench.passed(MINE, of=2 * N)

    assert 0 == await bench.passed(HERE, MINE, of=5 * N)
    assert N - 1 == (await bench.take(HERE, OTHER)).remaining
    # What is given back may lack the part of a request that time has refilled by then.
    assert await bench.passed(HERE, OTHER, of=3 * N) in {2 * N - 2, 2 * N - 1}


async def test_first_one_that_refuses_spends_nothing_of_the_second(bench: Bench) -> None:
    await bench.passed(HERE, of=2 * N)

    assert 0 == await bench.passed(HERE, MINE, of=5 * N)
    assert 2 * N == await bench.passed(MINE, of=3 * N)


async def test_one_that_is_not_binding_is_counted_and_refuses_nobody(bench: Bench) -> None:
    loose = Limit(HERE.subject, N, is_binding=False)

    assert 5 * N == await bench.passed(loose, of=5 * N)
    assert (0, None) == ((told := await bench.take(loose, MINE)).remaining, told.retry_after)
    assert 2 * N == await bench.passed(HERE, of=3 * N)


async def test_one_with_the_least_left_is_told(bench: Bench) -> None:
    await bench.take(HERE)
    await bench.fake_clock.move(10)

    assert LimitStatus(N, N - 2, int(START_SECONDS) + 60) == await bench.take(HERE, MINE)
    assert LimitStatus(N, N - 1, int(START_SECONDS) + 70) == await bench.take(
        Limit("ip:new", N), OTHER
    )


async def test_each_figure_has_counts_of_its_own(bench: Bench) -> None:
    await bench.passed(HERE, of=3 * N)

    assert 2 * N - 1 == (await bench.take(Limit(HERE.subject, 2 * N))).remaining


async def test_figure_of_nothing_refuses_nearly_all(bench: Bench) -> None:
    assert 2 == await bench.passed(Limit("key_none", 0), of=10)


async def test_limits_are_at_hand(bench: Bench) -> None:
    assert await bench.limits.is_alive()


async def test_processes_share_what_is_in_redis(redis_url: str) -> None:
    async with redis_client.open_redis(redis_url) as one, redis_client.open_redis(redis_url) as two:
        await limits.of(one).take([MINE])

        assert N - 2 == (await limits.of(two).take([MINE])).remaining


async def test_redis_keeps_no_count_for_long(redis_url: str) -> None:
    async with redis_client.open_redis(redis_url) as client:
        assert client is not None
        await limits.of(client).take([HERE, MINE])
        names = await client.keys("*")

        assert 4 == len(names)
        assert all([0 < await client.ttl(name) <= 61 for name in names])


async def test_requests_pass_while_redis_is_gone_and_are_counted_again_when_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "_PAUSE_SECONDS", 0)
    port = servers.free_port()
    with capture_logs() as logs:
        async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
            counted = limits.of(client)
            with servers.run_redis(port):
                before = await counted.take([MINE])
            gone = [await counted.take([MINE]) for _ in range(5 * N)]
            with servers.run_redis(port):
                after = await counted.take([MINE])

    assert (True, N - 1) == (before.is_known, before.remaining)
    assert {(False, N, None)} == {(one.is_known, one.remaining, one.retry_after) for one in gone}
    assert (True, N - 1) == (after.is_known, after.remaining)
    # One line, not one a request.
    assert ["limits are out of reach; requests pass uncounted"] == [one["event"] for one in logs]


async def test_not_every_request_waits_for_a_redis_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "_PAUSE_SECONDS", 3600)
    port = servers.free_port()
    async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
        counted = limits.of(client)
        await counted.take([MINE])
        with servers.run_redis(port):
            assert not (await counted.take([MINE])).is_known


async def test_crowd_washes_no_empty_bucket_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the longest unused forgotten, as many addresses as there are buckets would do."""
    monkeypatch.setattr(limits, "_MOST_BUCKETS", 50)
    monkeypatch.setattr(limits, "_MOST_WINDOWS", 50)
    bench = Bench(limits.InMemory(), FakeClock(monkeypatch))
    drained = await bench.passed(MINE, of=2 * N)
    for number in range(500):
        await bench.take(Limit(f"ip:203.0.113.{number}", N))

    assert 2 * N == drained
    assert (await bench.take(MINE)).retry_after is not None


async def test_counts_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_BUCKETS", 50)
    monkeypatch.setattr(limits, "_MOST_WINDOWS", 50)
    counting: Any = limits.InMemory()
    held = [counting._buckets._full_at, counting._windows._counted]  # noqa: SLF001
    for number in range(500):
        await counting.take([Limit(f"ip:203.0.113.{number}", N)])

    assert [50, 50] == [len(one) for one in held]
