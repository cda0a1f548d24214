"""Transactions, and the schema that migrations make."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, bindparam, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.store import db
from recibo.store.db import Database
from recibo.store.tables import Org, Table
from tests import make, servers


def org(name: str) -> Org:
    """Return a row to store."""
    return Org(
        id=name, name=name, slug=name, billing_email="a@b.c", plan="free", created_at=clock.now()
    )


async def names(database: Database) -> list[str]:
    """Return the orgs that are stored."""
    async with database.read() as session:
        return list((await session.execute(select(Org.name).order_by(Org.name))).scalars())


async def test_upgrade_leaves_nothing_of_the_events_that_it_deletes(tmp_path: Path) -> None:
    """SQLite follows no foreign keys while it is migrated."""
    url = f"sqlite:///{tmp_path}/recibo.db"
    async with db.rebuilding(url) as connection:
        await db.upgrade(connection, "0015")
        await _add_event(connection, "evt_purged", "receipt.completed", '{"id": "rcp_purged"}')
        await _add_event(connection, "evt_other", "webhook.test", "{}")
    await db.migrate(url)

    async with db.snapshot(url) as connection:
        for column in ("webhook_events.id", "deliveries.event_id", "delivery_attempts.event_id"):
            query = f"SELECT {column} FROM {column.partition('.')[0]}"  # noqa: S608
            assert ["evt_other"] == list((await connection.execute(text(query))).scalars())


async def _add_event(connection: AsyncConnection, event_id: str, kind: str, receipt: str) -> None:
    """Add an event that was delivered at the first try."""
    body = f'{{"data": {{"receipt": {receipt}}}}}'
    event = text(
        "INSERT INTO webhook_events (id, org_id, type, created_at, body) "
        "VALUES (:id, 'org', :type, '2026-11-01 00:00:00', :body)"
    )
    await connection.execute(event, {"id": event_id, "type": kind, "body": body})
    delivery = "INSERT INTO deliveries (event_id, org_id, state, tries) VALUES (:id, 'org', 'x', 1)"
    attempt = (
        "INSERT INTO delivery_attempts (id, event_id, org_id, url, started_at, duration_ms) "
        "VALUES (:id, :id, 'org', 'https://example.com', '2026-11-01 00:00:00', 1)"
    )
    for statement in (delivery, attempt):
        await connection.execute(text(statement), {"id": event_id})


async def test_block_that_ends_is_committed_and_one_that_raises_rolled_back(
    database: Database,
) -> None:
    async with database.write() as session:
        session.add(org("a"))
    with contextlib.suppress(ZeroDivisionError):
        async with database.write() as session:
            session.add(org("b"))
            await session.flush()
            raise ZeroDivisionError

    assert ["a"] == await names(database)


async def test_readers_see_what_is_committed_while_another_writes(database: Database) -> None:
    async with database.read() as reading, database.write() as session:
        session.add(org("a"))
        await session.flush()

        assert [] == list((await reading.execute(select(Org.name))).scalars())


async def test_many_writers_that_read_first_do_not_fail_each_other(database: Database) -> None:
    async def write(number: int) -> None:
        async with database.write() as session:
            await session.execute(select(Org.name))
            session.add(org(f"{number:02}"))

    await asyncio.gather(*(write(number) for number in range(30)))

    assert 30 == len(await names(database))


async def test_foreign_keys_hold(database: Database) -> None:
    with pytest.raises(IntegrityError):
        await make.key(database, OrgId("org_unknown"))


async def test_statement_that_fails_does_not_tell_its_values(database: Database) -> None:
    """Such errors are logged, and rows hold hashes and names."""
    twice = org("a"), org("a")
    for row in twice:
        row.billing_email = "private@recibo.test"

    async def store() -> None:
        async with database.write() as session:
            session.add_all(twice)

    with pytest.raises(IntegrityError) as failed:
        await store()

    assert "INSERT INTO orgs" in str(failed.value)
    assert "private@recibo.test" not in str(failed.value)


async def test_database_tells_whether_it_answers(database: Database) -> None:
    assert await database.is_alive()


def differences(connection: Connection) -> list[Any]:
    """Return what alembic would change to make a database equal the tables."""
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, Table.metadata))


async def test_migrated_database_equals_the_tables(database: Database) -> None:
    async with database.write() as session:
        connection = await session.connection()

        assert [] == await connection.run_sync(differences)


async def test_migrating_again_changes_nothing(database_url: str, database: Database) -> None:
    async with database.write() as session:
        session.add(org("a"))

    await db.migrate(database_url)

    assert ["a"] == await names(database)


async def test_ids_are_ordered_byte_by_byte(database: Database) -> None:
    """The order of a language would put `_` and capitals elsewhere, and cursors astray."""
    async with database.write() as session:
        session.add_all([org(name) for name in ("rcp_b", "rcp_A", "rcp0", "rcp_a")])
    async with database.read() as session:
        found = list((await session.execute(select(Org.id).order_by(Org.id))).scalars())

    assert sorted(found) == found


async def test_sqlite_writes_ahead_and_keeps_foreign_keys(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    async with database.write() as session:
        mode = (await session.execute(text("PRAGMA journal_mode"))).scalar()
        foreign = (await session.execute(text("PRAGMA foreign_keys"))).scalar()
    await database.close()

    assert ("wal", 1) == (mode, foreign)


async def test_row_is_found_by_itself_as_often_as_asked(database: Database) -> None:
    async with database.write() as session:
        session.add(org("a"))
    query = select(Org.slug, Org.plan).where(Org.id == bindparam("id"))

    # More at once than there are connections: each is given back.
    found = await asyncio.gather(*(database.row(query, {"id": name}) for name in 30 * "ab"))

    assert 30 * [("a", "free"), None] == found


async def test_bell_is_heard_once_what_rang_is_committed(database: Database) -> None:
    with database.bell() as bell, database.bell() as other:
        async with database.write() as session:
            db.notify_on_commit(session)
            before = bell.is_set()

        assert (False, True, True) == (before, bell.is_set(), other.is_set())


async def test_bell_is_not_heard_without_a_commit(database: Database) -> None:
    with database.bell() as bell:
        with contextlib.suppress(KeyError):
            async with database.write() as session:
                db.notify_on_commit(session)
                raise KeyError
        async with database.write():
            pass

        assert not bell.is_set()


async def test_bell_that_is_put_away_is_not_rung(database: Database) -> None:
    with database.bell() as bell:
        pass
    async with database.write() as session:
        db.notify_on_commit(session)

    assert not bell.is_set()


async def test_work_is_one_processs_at_a_time(postgres_url: str) -> None:
    first, second = Database(postgres_url), Database(postgres_url)
    async with first.alone("sweeping") as is_first:
        async with second.alone("sweeping") as is_second, second.alone("mending") as is_other:
            assert (True, False, True) == (is_first, is_second, is_other)
        async with second.alone("sweeping") as is_second_still:
            assert not is_second_still
    async with second.alone("sweeping") as is_second:
        assert is_second
    await first.close()
    await second.close()


async def test_work_whose_process_died_is_free(
    postgres: servers.Postgres, postgres_url: str
) -> None:
    first, second = Database(postgres_url), Database(postgres_url)
    async with first.alone("sweeping"):
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        )
        while not await _is_free(second, "sweeping"):
            pass
    assert await _is_free(first, "sweeping")
    await first.close()
    await second.close()


async def test_work_on_sqlite_is_always_ones_own(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    async with database.alone("sweeping") as is_alone:
        assert is_alone
    await database.close()


async def _is_free(database: Database, work: str) -> bool:
    async with database.alone(work) as is_alone:
        return is_alone


async def test_process_takes_few_connections_however_many_ask(postgres_url: str) -> None:
    database = db.Database(postgres_url)
    query = text("SELECT pg_backend_pid()")

    async def read() -> int:
        async with database.read() as session:
            return int((await session.execute(query)).scalar_one())

    async def write() -> int:
        async with database.write() as session:
            return int((await session.execute(query)).scalar_one())

    asked = [ask() for ask in (read, write) for _ in range(100)]
    connections = set(await asyncio.gather(*asked))
    await database.close()

    assert 16 >= len(connections)
