"""Counters with time windows."""

import asyncio
import datetime as dt

from sqlalchemy import select

from recibo.lib import clock
from recibo.store import counters
from recibo.store.db import Database
from recibo.store.tables import Counter

MINUTE = dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)


async def add(database: Database, subject: str = "ana", name: str = "tries") -> int:
    """Increment a counter and commit."""
    async with database.write() as session:
        return await counters.add(session, name, subject, window=MINUTE)


async def count(database: Database, subject: str = "ana") -> int:
    """Return a count."""
    async with database.read() as session:
        return await counters.count(session, "tries", subject)


async def ends_at(database: Database) -> dt.datetime | None:
    """Return when the window ends."""
    async with database.read() as session:
        return await counters.ends_at(session, "tries", "ana")


async def test_counts_are_separate_per_name_and_subject(database: Database) -> None:
    assert [1, 2] == [await add(database), await add(database)]
    assert 1 == await add(database, "bea")
    assert 1 == await add(database, name="mails")
    assert (2, 1) == (await count(database), await count(database, "bea"))
    assert 0 == await count(database, "cid")


async def test_window_starts_with_the_first_event_and_is_not_extended(database: Database) -> None:
    await add(database)
    end = await ends_at(database)
    with clock.moved(MINUTE - SECOND):
        assert 2 == await add(database)
        assert end == await ends_at(database)
    with clock.moved(MINUTE):
        assert 0 == await count(database)
        assert await ends_at(database) is None
        assert 1 == await add(database)


async def test_rolled_back_increment_is_not_counted(database: Database) -> None:
    async with database.write() as session:
        await counters.add(session, "tries", "ana", window=MINUTE)
        await session.rollback()

    assert 0 == await count(database)


async def test_concurrent_increments_are_all_counted(database: Database) -> None:
    counts = await asyncio.gather(*(add(database) for _ in range(20)))

    assert list(range(1, 21)) == sorted(counts)


async def test_subjects_of_any_length_are_stored_as_fingerprints(database: Database) -> None:
    await add(database, "a" * 100_000)
    await add(database, "ana@people.test")

    async with database.read() as session:
        keys = list((await session.execute(select(Counter.key))).scalars())
    assert all(len(key) < 100 and "ana" not in key for key in keys)


async def test_expired_windows_are_purged(database: Database) -> None:
    await add(database)
    with clock.moved(MINUTE / 2):
        await add(database, "bea")
    with clock.moved(MINUTE):
        while await counters.purge_expired(database):
            pass

        assert 1 == await count(database, "bea")
    async with database.read() as session:
        assert 1 == len((await session.execute(select(Counter))).all())
