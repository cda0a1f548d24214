"""Connections to SQLite that run each statement in one step of their thread."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from recibo.store import sqlite_driver
from recibo.store.db import Database

#: Rows that take SQLite a while.
SLOW = """
SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 300000)
SELECT n FROM c)
"""


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[AsyncConnection]:
    """Return a connection to a database with one table."""
    creator = partial(sqlite_driver.connect, tmp_path / "some.db")
    engine = create_async_engine("sqlite+aiosqlite:///some.db", async_creator=creator)
    async with engine.connect() as connection:
        await connection.execute(text("CREATE TABLE item (name TEXT PRIMARY KEY)"))
        yield connection
    await engine.dispose()


async def names(connection: AsyncConnection) -> list[str]:
    """Return the names that are stored."""
    return list((await connection.execute(text("SELECT name FROM item ORDER BY name"))).scalars())


async def test_statement_reports_how_many_rows_it_changed(connection: AsyncConnection) -> None:
    insert = text("INSERT INTO item VALUES (:name)")

    assert 1 == (await connection.execute(insert, {"name": "a"})).rowcount
    assert 2 == (await connection.execute(insert, [{"name": "b"}, {"name": "c"}])).rowcount
    assert ["a", "b", "c"] == await names(connection)
    deleted = await connection.execute(text("DELETE FROM item WHERE name > 'a' RETURNING name"))
    assert {"b", "c"} == set(deleted.scalars())


async def test_rollback_undoes_statements(connection: AsyncConnection) -> None:
    await connection.execute(text("INSERT INTO item VALUES ('a')"))
    await connection.rollback()

    assert [] == await names(connection)


async def test_connection_is_usable_after_a_statement_that_fails(
    connection: AsyncConnection,
) -> None:
    await connection.execute(text("INSERT INTO item VALUES ('a')"))

    with pytest.raises(IntegrityError):
        await connection.execute(text("INSERT INTO item VALUES ('a')"))
    assert ["a"] == await names(connection)


async def test_cancelled_statement_ends_and_its_connection_is_replaced(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/some.db")
    async with database.write() as session:
        await session.execute(text("CREATE TABLE item (name TEXT PRIMARY KEY)"))

    async def insert() -> None:
        async with database.write() as session:
            await session.execute(text("INSERT INTO item VALUES ('a')"))
            await session.execute(text(f"INSERT INTO item {SLOW}"))

    inserting = asyncio.create_task(insert())
    await asyncio.sleep(0.05)
    inserting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await inserting

    async with database.write() as session:
        assert [] == list((await session.execute(text("SELECT name FROM item"))).scalars())
        await session.execute(text("INSERT INTO item VALUES ('a')"))
    await database.close()


async def test_transaction_begins_with_its_first_statement_once_the_database_is_free(
    tmp_path: Path,
) -> None:
    holder, waiting = [
        await sqlite_driver.connect(tmp_path / "some.db", timeout=0, isolation_level=None)
        for _ in range(2)
    ]
    await holder.execute("BEGIN IMMEDIATE")
    waiting.begin_writing()
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await waiting.execute("CREATE TABLE item (name TEXT)")
    await holder.rollback()
    await waiting.execute("CREATE TABLE item (name TEXT)")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        await holder.execute("BEGIN IMMEDIATE")
    await waiting.rollback()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await holder.execute("SELECT * FROM item")
    await holder.close()
    await waiting.close()


async def test_closed_connection_runs_nothing(tmp_path: Path) -> None:
    connection = await sqlite_driver.connect(tmp_path / "some.db")
    await connection.close()
    await connection.close()

    with pytest.raises(ValueError, match="no active connection"):
        await connection.execute("SELECT 1")


async def test_stopped_connection_ends_its_thread(tmp_path: Path) -> None:
    connection = await sqlite_driver.connect(tmp_path / "some.db")
    closing = connection.stop()
    assert closing is not None
    await asyncio.wrap_future(closing)

    assert connection.stop() is None
    with pytest.raises(ValueError, match="no active connection"):
        await connection.commit()


async def test_database_that_cannot_be_opened_raises_its_error(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await sqlite_driver.connect(tmp_path / "missing" / "some.db")


async def test_streamed_rows_are_all_returned(connection: AsyncConnection) -> None:
    values = [{"name": f"{number:03}"} for number in range(250)]
    await connection.execute(text("INSERT INTO item VALUES (:name)"), values)

    query = text("SELECT name FROM item ORDER BY name").execution_options(yield_per=100)
    async with connection.stream(query) as rows:
        assert [one["name"] for one in values] == [row.name async for row in rows]
