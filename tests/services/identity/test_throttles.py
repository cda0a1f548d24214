"""Limits on tries."""

import asyncio
import datetime as dt

import pytest

from recibo.errors import RateLimitExceeded
from recibo.lib import clock
from recibo.services.identity import throttles
from recibo.services.identity.throttles import Counted, Limit
from recibo.store import counters
from recibo.store.db import Database

MINUTE = dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)
THREE = Limit("three", 3, MINUTE)
FIVE = Limit("five", 5, 2 * MINUTE)
ANA: list[Counted] = [(THREE, "ana")]


async def take(database: Database, counted: list[Counted]) -> int | None:
    """Count a try; returns the seconds to wait when it is refused."""
    try:
        async with database.write() as session:
            await throttles.take(session, counted)
    except RateLimitExceeded as e:
        return e.retry_after
    return None


async def count(database: Database, limit: Limit, subject: str) -> int:
    """Return how often something was counted."""
    async with database.read() as session:
        return await counters.count(session, limit.name, subject)


async def test_so_many_pass_and_the_next_waits_for_the_window_to_end(database: Database) -> None:
    assert [None] * 3 == [await take(database, ANA) for _ in range(3)]
    wait = await take(database, ANA)
    assert wait is not None
    assert 55 < wait <= 60
    with clock.moved(MINUTE):
        assert await take(database, ANA) is None


async def test_refused_tries_are_not_counted_at_all(database: Database) -> None:
    both = [*ANA, (FIVE, "place")]
    for _ in range(10):
        await take(database, both)

    assert (3, 3) == (await count(database, *ANA[0]), await count(database, FIVE, "place"))


async def test_retry_after_is_that_of_the_longest_reached_limit(database: Database) -> None:
    hourly = Limit("hourly", 3, 60 * MINUTE)
    both = [*ANA, (hourly, "ana")]
    for _ in range(3):
        await take(database, both)
    wait = await take(database, both)

    assert wait is not None
    assert wait > 59 * 60


async def test_last_seconds_of_a_window_are_still_one_to_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start)
    for _ in range(3):
        await take(database, ANA)
    monkeypatch.setattr(clock, "now", lambda: start + MINUTE - SECOND / 10)

    assert 1 == await take(database, ANA)


async def test_wrong_tries_count_without_being_judged(database: Database) -> None:
    for _ in range(4):
        async with database.write() as session:
            await throttles.count(session, ANA)

    assert 4 == await count(database, *ANA[0])
    assert await take(database, ANA) is not None


async def test_looking_counts_nothing(database: Database) -> None:
    for _ in range(3):
        async with database.write() as session:
            await throttles.refuse_if_reached(session, ANA)
        await take(database, ANA)

    async with database.write() as session:
        with pytest.raises(RateLimitExceeded):
            await throttles.refuse_if_reached(session, ANA)


async def test_many_at_once_get_no_more_than_as_many_in_turn(database: Database) -> None:
    counted = [*ANA, (FIVE, "place")]
    waits = await asyncio.gather(*(take(database, counted) for _ in range(20)))

    assert 3 == waits.count(None)


async def test_expired_counters_are_purged(database: Database) -> None:
    await take(database, [*ANA, (FIVE, "ana")])
    with clock.moved(MINUTE):
        while await throttles.purge_expired(database):
            pass

    assert (0, 1) == (await count(database, THREE, "ana"), await count(database, FIVE, "ana"))
