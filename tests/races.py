"""Runs coroutines at once, each with an open database connection."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from sqlalchemy import text

from recibo.store.db import Database

T = TypeVar("T")


async def at_once(database: Database, *racers: Awaitable[T]) -> list[T | BaseException]:
    """Run all at once, each with an open connection, and return their results or errors.

    A connection takes longer to open than a transaction takes: without this the first would be
    done before the second began.
    """
    if not database.is_sqlite:
        all_open = asyncio.Barrier(len(racers))
        await asyncio.gather(*(_open(database, all_open) for _ in racers))
    return await asyncio.gather(*racers, return_exceptions=True)


async def answers_of(database: Database, *racers: Awaitable[T]) -> list[T]:
    """Run all at once and return their results; none may fail."""
    came = await at_once(database, *racers)
    failed = [one for one in came if isinstance(one, BaseException)]
    assert not failed, failed
    return [one for one in came if not isinstance(one, BaseException)]


async def _open(database: Database, all_open: asyncio.Barrier) -> None:
    async with database.read() as reading, database.write() as writing:
        for session in (reading, writing):
            await session.execute(text("SELECT 1"))
        await all_open.wait()
