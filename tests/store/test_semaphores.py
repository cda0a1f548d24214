"""Slots and locks, in memory and in Redis."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from recibo.store import redis_client
from recibo.store import semaphores as slots_
from recibo.store.semaphores import Limit, Semaphores
from tests import servers

MINE = Limit("key_mine", 2)
HERE = Limit("ip:203.0.113.9", 3)
LEASE = 10

#: A process that takes all slots of a limit and renews them.
HOLDER = """
import asyncio, sys
from redis.asyncio import Redis
from recibo.store.semaphores import InRedis, Limit

async def main():
    url, subject, at_once = sys.argv[1:]
    slots = InRedis(Redis.from_url(url))
    async with slots.renewing():
        for number in range(int(at_once)):
            assert await slots.take(str(number), [Limit(subject, int(at_once))])
        print("taken", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture(params=["memory", "redis"])
async def slots(request: pytest.FixtureRequest) -> AsyncIterator[Semaphores]:
    """Return empty semaphores of each kind."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    async with redis_client.open_redis(url) as client:
        yield slots_.create(client)


async def took(slots: Semaphores, *caps: Limit, names: str) -> list[bool]:
    """Take a slot for each letter; return which succeed."""
    return [await slots.take(name, caps) for name in names]


async def test_take_fails_when_the_limit_is_reached(slots: Semaphores) -> None:
    assert [True, True, False] == await took(slots, MINE, names="abc")

    await slots.free("a", [MINE])
    assert [True, False] == await took(slots, MINE, names="cd")


async def test_take_gets_a_slot_of_every_limit_or_of_none(slots: Semaphores) -> None:
    await took(slots, MINE, names="ab")

    assert [False] * 5 == await took(slots, HERE, MINE, names="cdefg")
    assert [True, True, True, False] == await took(slots, HERE, names="hijk")


async def test_freeing_a_slot_twice_frees_it_once(slots: Semaphores) -> None:
    await took(slots, MINE, names="ab")
    for _ in range(2):
        await slots.free("a", [MINE])

    assert [True, False] == await took(slots, MINE, names="cd")


async def test_each_limit_of_a_subject_has_separate_slots(slots: Semaphores) -> None:
    await took(slots, MINE, names="ab")

    assert [True] == await took(slots, Limit(MINE.subject, 3), names="c")


async def test_lock_excludes_others_until_it_is_released(slots: Semaphores) -> None:
    assert await slots.begin("work")
    assert await slots.begin("other work")
    waiting = [asyncio.create_task(slots.begin("work")) for _ in range(3)]
    done, _ = await asyncio.wait(waiting, timeout=0.1)
    assert not done

    await slots.end("work")
    assert [False] * 3 == await asyncio.gather(*waiting)
    assert await slots.begin("work")


async def test_slots_and_locks_of_a_killed_process_expire(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    killed, other = slots_.InRedis(client), slots_.InRedis(client)
    await took(killed, MINE, names="ab")
    await killed.begin("work")
    # Redis reads the clock of its machine, so the slots are aged instead.
    (held,) = await client.keys("*key_mine*")
    assert 0 < await client.ttl(held) <= LEASE
    for name in "ab":
        await client.zincrby(held, -LEASE, name)
    (turn,) = await client.keys("*:turn:*")
    assert 0 < await client.ttl(turn) <= LEASE
    await client.delete(turn)

    assert [True, True, False] == await took(other, MINE, names="cde")
    assert await other.begin("work")
    await client.aclose()


async def test_slots_of_a_killed_process_are_free_within_ten_seconds(redis_url: str) -> None:
    command = [sys.executable, "-c", HOLDER, redis_url, MINE.subject, str(MINE.at_once)]
    # Its renewals run until it is killed.
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert b"taken\n" == await process.stdout.readline()
    process.kill()
    await process.wait()
    client = Redis.from_url(redis_url)
    other = slots_.InRedis(client)
    assert not await other.take("other", [MINE])

    (held,) = await client.keys("*key_mine*")
    seconds, microseconds = await client.time()
    ends = [await client.zscore(held, str(number)) or 0.0 for number in range(MINE.at_once)]
    assert all(0 < end - (seconds + microseconds / 1e6) <= LEASE for end in ends)
    assert 0 < await client.pttl(held) <= LEASE * 1000
    # Redis reads the clock of its machine, so the slots are aged instead.
    for number in range(MINE.at_once):
        await client.zincrby(held, -LEASE, str(number))
    assert [True, True, False] == await took(other, MINE, names="cde")
    await client.aclose()


async def test_running_process_renews_what_it_holds(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    living, other = slots_.InRedis(client), slots_.InRedis(client)
    await took(living, MINE, HERE, names="ab")
    await living.begin("work")
    await living.free("b", [MINE, HERE])
    names = await client.keys("recibo:slots:*")
    for name in names:
        await client.expire(name, 1)
    for held in ("recibo:slots:key_mine:2", "recibo:slots:ip:203.0.113.9:3"):
        await client.zincrby(held, 1 - LEASE, "a")

    await living.renew()

    assert 3 == len(names)
    assert all([LEASE - 2 < await client.ttl(name) <= LEASE for name in names])
    # One of two is left: what was freed is not brought back.
    assert [True, False] == await took(other, MINE, names="cd")
    await client.aclose()


async def test_without_redis_all_slots_are_granted() -> None:
    port = servers.free_port()
    with capture_logs() as logs:
        async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
            slots = slots_.create(client)
            assert [True] * 5 == await took(slots, MINE, names="abcde")
            assert await slots.begin("work")
            assert await slots.begin("work")
            await slots.end("work")
            await slots.free("a", [MINE])

    # One line, not one an upload.
    assert ["slots are out of reach; uploads pass without one"] == [one["event"] for one in logs]


async def test_only_the_first_upload_waits_for_an_unreachable_redis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_client, "_OPEN_SECONDS", 3600)
    port = servers.free_port()
    async with redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client:
        assert client is not None
        slots = slots_.create(client)
        assert [True] == await took(slots, MINE, names="a")
        with servers.run_redis(port):
            assert [True] * 3 == await took(slots, MINE, names="bcd")
            assert await slots.begin("work")
            await slots.end("work")

            assert [] == await client.keys("*")


async def test_slot_taken_before_an_outage_is_freed_after_it(
    monkeypatch: pytest.MonkeyPatch, redis_url: str
) -> None:
    monkeypatch.setattr(redis_client, "_OPEN_SECONDS", 3600)
    async with redis_client.open_redis(redis_url) as client:
        assert client is not None
        slots = slots_.create(client)
        await took(slots, MINE, names="ab")
        # Redis fails another upload.
        await client.set("recibo:slots:key_other:2", "")
        assert [True] == await took(slots, Limit("key_other", 2), names="c")
        await slots.free("a", [MINE])

        assert 1 == await client.zcard("recibo:slots:key_mine:2")
