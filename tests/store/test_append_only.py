"""The append-only audit log at the newest schema revision."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from recibo.lib import clock, ids
from recibo.store import append_only, upsert
from recibo.store.db import Database
from recibo.store.tables import AuditEvent

RETENTION = dt.timedelta(days=400)
HOUR = dt.timedelta(hours=1)


def values(*, age: dt.timedelta = dt.timedelta(0), **columns: Any) -> dict[str, Any]:
    """Return the values of an event of a given age."""
    defaults = {
        "id": ids.new("aud"),
        "action": "org.updated",
        "resource_type": "org",
        "created_at": clock.now() - age,
    }
    return defaults | columns


async def added(database: Database, *, age: dt.timedelta = dt.timedelta(0)) -> str:
    """Add an event and return its id."""
    row = values(age=age)
    await run(database, insert(AuditEvent).values(row))
    return str(row["id"])


async def run(database: Database, statement: Any) -> None:
    """Run a statement in a separate transaction."""
    async with database.write() as session:
        await session.execute(statement)


async def events(database: Database) -> dict[str, str]:
    """Return the action of each event."""
    async with database.read() as session:
        return {row.id: row.action for row in (await session.execute(select(AuditEvent))).scalars()}


async def assert_refused(database: Database, statement: Any) -> None:
    """Assert that a statement is refused and changes nothing."""
    before = await events(database)
    with pytest.raises(IntegrityError, match="append-only"):
        await run(database, statement)
    assert before == await events(database)


@pytest.mark.parametrize(
    "change", ["action = 'forged'", "after = NULL", "action = action", "id = 'aud_other'"]
)
async def test_events_are_never_updated(database: Database, change: str) -> None:
    await added(database)
    await added(database, age=RETENTION + HOUR)

    await assert_refused(database, text(f"UPDATE audit_events SET {change}"))  # noqa: S608


async def test_only_expired_events_can_be_deleted(database: Database) -> None:
    young = await added(database)
    still_kept = await added(database, age=RETENTION - HOUR)
    over = await added(database, age=RETENTION + HOUR)

    for kept in (young, still_kept):
        await assert_refused(
            database, text("DELETE FROM audit_events WHERE id = :id").bindparams(id=kept)
        )
    await assert_refused(database, text("DELETE FROM audit_events"))
    await run(database, text("DELETE FROM audit_events WHERE id = :id").bindparams(id=over))

    assert {young, still_kept} == set(await events(database))


async def test_expiry_condition_matches_the_triggers(database: Database) -> None:
    kept = await added(database, age=RETENTION - HOUR)
    await added(database, age=RETENTION + HOUR)

    async with database.write() as session:
        statement = text(f"DELETE FROM audit_events WHERE {append_only.is_expired(session)}")  # noqa: S608
        await session.execute(statement)

    assert {kept} == set(await events(database))


async def test_the_service_clock_does_not_affect_retention(database: Database) -> None:
    await added(database)

    with clock.moved(RETENTION + HOUR):
        await assert_refused(database, text("DELETE FROM audit_events"))


async def test_insert_with_an_existing_id_is_refused(database: Database) -> None:
    known = await added(database)

    async with database.write() as session:
        overwriting = (
            upsert.insert(session, AuditEvent)
            .values(values(id=known))
            .on_conflict_do_update(index_elements=["id"], set_={"action": "forged"})
        )
    await assert_refused(database, overwriting)


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
@pytest.mark.parametrize(
    ("columns", "chosen"),
    [("id", "id"), ("rowid, id", "rowid, 'aud_other'")],
)
async def test_sqlite_refuses_insert_or_replace(
    sqlite_url: str, verb: str, columns: str, chosen: str
) -> None:
    """REPLACE deletes conflicting rows without firing delete triggers."""
    database = Database(sqlite_url)
    await added(database)

    await assert_refused(
        database,
        text(
            f"{verb} INTO audit_events ({columns}, action, resource_type, created_at) "  # noqa: S608
            f"SELECT {chosen}, 'forged', 'org', created_at FROM audit_events"
        ),
    )
    await database.close()


async def test_postgres_refuses_truncate(postgres_url: str) -> None:
    database = Database(postgres_url)
    await added(database)

    await assert_refused(database, text("TRUNCATE audit_events CASCADE"))
    await database.close()


async def test_migration_that_drops_the_triggers_can_create_them_again(
    database: Database,
) -> None:
    """Alembic's batch mode drops them on SQLite, so such a migration must create them again."""
    of_table = "" if database.is_sqlite else " ON audit_events"
    await run(database, text(f"DROP TRIGGER audit_events_update{of_table}"))
    async with database.write() as session:
        connection = await session.connection()
        await connection.run_sync(append_only.create_triggers)
    await added(database)

    await assert_refused(database, text("UPDATE audit_events SET action = 'forged'"))
