"""Transactions, advisory locks and migrations."""

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
    """Return an org to store."""
    return Org(
        id=name, name=name, slug=name, billing_email="a@b.c", plan="free", created_at=clock.now()
    )


async def names(database: Database) -> list[str]:
    """Return the names of the stored orgs."""
    async with database.read() as session:
        return list((await session.execute(select(Org.name).order_by(Org.name))).scalars())


async def test_upgrade_deletes_events_with_their_deliveries(tmp_path: Path) -> None:
    """SQLite does not enforce foreign keys during migrations."""
    url = f"sqlite:///{tmp_path}/recibo.db"
    async with db.open_for_restore(url) as connection:
        await db.upgrade(connection, "0015")
        await _add_event(connection, "evt_purged", "receipt.completed", '{"id": "rcp_purged"}')
        await _add_event(connection, "evt_other", "webhook.test", "{}")
    await db.migrate(url)

    async with db.snapshot(url) as connection:
        for column in ("webhook_events.id", "deliveries.event_id", "delivery_attempts.event_id"):
            query = f"SELECT {column} FROM {column.partition('.')[0]}"  # noqa: S608
            assert ["evt_other"] == list((await connection.execute(text(query))).scalars())


async def _add_event(connection: AsyncConnection, event_id: str, kind: str, receipt: str) -> None:
    """Add an event that was delivered at the first attempt."""
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


async def test_block_is_committed_or_rolled_back_if_it_raises(
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


async def test_readers_do_not_see_uncommitted_rows(database: Database) -> None:
    async with database.read() as reading, database.write() as session:
        session.add(org("a"))
        await session.flush()

        assert [] == list((await reading.execute(select(Org.name))).scalars())


async def test_concurrent_writers_that_read_first_all_succeed(database: Database) -> None:
    async def write(number: int) -> None:
        async with database.write() as session:
            await session.execute(select(Org.name))
            session.add(org(f"{number:02}"))

    await asyncio.gather(*(write(number) for number in range(30)))

    assert 30 == len(await names(database))


async def test_foreign_keys_are_enforced(database: Database) -> None:
    with pytest.raises(IntegrityError):
        await make.key(database, OrgId("org_unknown"))


async def test_error_of_a_failed_statement_hides_its_values(database: Database) -> None:
    """Such errors are logged, and rows contain hashes and names."""
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


async def test_database_is_alive(database: Database) -> None:
    assert await database.is_alive()


def differences(connection: Connection) -> list[Any]:
    """Return the changes that alembic would make to match the tables.

    The full-text tables and columns of a database are not among `Table.metadata`.
    """

    def is_compared(_: object, name: str, *__: object) -> bool:
        is_full_text = name.startswith("receipt_words_fts") or name.endswith("vector")
        return not is_full_text

    options = {"compare_type": True, "include_object": is_compared}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, Table.metadata))


async def test_migrated_schema_matches_the_tables(database: Database) -> None:
    async with database.write() as session:
        connection = await session.connection()

        assert [] == await connection.run_sync(differences)


async def test_migrating_again_changes_nothing(database_url: str, database: Database) -> None:
    async with database.write() as session:
        session.add(org("a"))

    await db.migrate(database_url)

    assert ["a"] == await names(database)


async def test_ids_are_sorted_by_bytes(database: Database) -> None:
    """A locale's collation sorts `_` and capitals differently, which would break cursors."""
    async with database.write() as session:
        session.add_all([org(name) for name in ("rcp_b", "rcp_A", "rcp0", "rcp_a")])
    async with database.read() as session:
        found = list((await session.execute(select(Org.id).order_by(Org.id))).scalars())

    assert sorted(found) == found


async def test_sqlite_uses_wal_and_enforces_foreign_keys(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    async with database.write() as session:
        mode = (await session.execute(text("PRAGMA journal_mode"))).scalar()
        foreign = (await session.execute(text("PRAGMA foreign_keys"))).scalar()
    await database.close()

    assert ("wal", 1) == (mode, foreign)


async def test_fetch_row_returns_its_connection_to_the_pool(database: Database) -> None:
    async with database.write() as session:
        session.add(org("a"))
    query = select(Org.slug, Org.plan).where(Org.id == bindparam("id"))

    # More concurrent calls than connections.
    found = await asyncio.gather(*(database.fetch_row(query, {"id": name}) for name in 30 * "ab"))

    assert 30 * [("a", "free"), None] == found


async def test_notification_is_sent_after_the_commit(database: Database) -> None:
    with database.subscribe_to_commits() as committed, database.subscribe_to_commits() as other:
        async with database.write() as session:
            db.notify_on_commit(session)
            before = committed.is_set()

        assert (False, True, True) == (before, committed.is_set(), other.is_set())


async def test_notification_is_not_sent_without_a_commit(database: Database) -> None:
    with database.subscribe_to_commits() as committed:
        with contextlib.suppress(KeyError):
            async with database.write() as session:
                db.notify_on_commit(session)
                raise KeyError
        async with database.write():
            pass

        assert not committed.is_set()


async def test_unsubscribed_event_is_not_set(database: Database) -> None:
    with database.subscribe_to_commits() as committed:
        pass
    async with database.write() as session:
        db.notify_on_commit(session)

    assert not committed.is_set()


async def test_advisory_lock_is_held_by_one_process_at_a_time(postgres_url: str) -> None:
    first, second = Database(postgres_url), Database(postgres_url)
    async with first.advisory_lock("sweeping") as is_first:
        async with (
            second.advisory_lock("sweeping") as is_second,
            second.advisory_lock("purging") as is_other,
        ):
            assert (True, False, True) == (is_first, is_second, is_other)
        async with second.advisory_lock("sweeping") as is_second_still:
            assert not is_second_still
    async with second.advisory_lock("sweeping") as is_second:
        assert is_second
    await first.close()
    await second.close()


async def test_advisory_lock_is_released_when_its_connection_dies(
    postgres: servers.Postgres, postgres_url: str
) -> None:
    first, second = Database(postgres_url), Database(postgres_url)
    async with first.advisory_lock("sweeping"):
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        )
        while not await _is_free(second, "sweeping"):
            pass
    assert await _is_free(first, "sweeping")
    await first.close()
    await second.close()


async def test_advisory_lock_on_sqlite_is_always_acquired(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    async with database.advisory_lock("sweeping") as is_acquired:
        assert is_acquired
    await database.close()


async def _is_free(database: Database, key: str) -> bool:
    async with database.advisory_lock(key) as is_acquired:
        return is_acquired


async def test_many_concurrent_sessions_use_few_connections(postgres_url: str) -> None:
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
