"""The audit log as the newest migration leaves it: it only grows."""

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
    """Return an event that happened so long ago."""
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
    """Run a statement in a transaction of its own."""
    async with database.write() as session:
        await session.execute(statement)


async def events(database: Database) -> dict[str, str]:
    """Return the action of each event."""
    async with database.read() as session:
        return {row.id: row.action for row in (await session.execute(select(AuditEvent))).scalars()}


async def insist_on_refusal(database: Database, statement: Any) -> None:
    """Run a statement that is refused and leaves everything as it was."""
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

    await insist_on_refusal(database, text(f"UPDATE audit_events SET {change}"))  # noqa: S608


async def test_events_are_deleted_only_when_their_retention_is_over(database: Database) -> None:
    young = await added(database)
    still_kept = await added(database, age=RETENTION - HOUR)
    over = await added(database, age=RETENTION + HOUR)

    for kept in (young, still_kept):
        await insist_on_refusal(
            database, text("DELETE FROM audit_events WHERE id = :id").bindparams(id=kept)
        )
    await insist_on_refusal(database, text("DELETE FROM audit_events"))
    await run(database, text("DELETE FROM audit_events WHERE id = :id").bindparams(id=over))

    assert {young, still_kept} == set(await events(database))


async def test_what_may_be_deleted_is_what_the_triggers_let_go(database: Database) -> None:
    kept = await added(database, age=RETENTION - HOUR)
    await added(database, age=RETENTION + HOUR)

    async with database.write() as session:
        statement = text(f"DELETE FROM audit_events WHERE {append_only.is_over(session)}")  # noqa: S608
        await session.execute(statement)

    assert {kept} == set(await events(database))


async def test_moving_the_clock_of_the_service_lets_nothing_go(database: Database) -> None:
    await added(database)

    with clock.moved(RETENTION + HOUR):
        await insist_on_refusal(database, text("DELETE FROM audit_events"))


async def test_id_that_exists_is_not_inserted_over(database: Database) -> None:
    known = await added(database)

    async with database.write() as session:
        overwriting = (
            upsert.insert(session, AuditEvent)
            .values(values(id=known))
            .on_conflict_do_update(index_elements=["id"], set_={"action": "forged"})
        )
    await insist_on_refusal(database, overwriting)


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
@pytest.mark.parametrize(
    ("columns", "chosen"),
    [("id", "id"), ("rowid, id", "rowid, 'aud_other'")],
)
async def test_sqlite_replaces_nothing(
    sqlite_url: str, verb: str, columns: str, chosen: str
) -> None:
    """REPLACE deletes whatever stands in its way, and tells no trigger for deletes."""
    database = Database(sqlite_url)
    await added(database)

    await insist_on_refusal(
        database,
        text(
            f"{verb} INTO audit_events ({columns}, action, resource_type, created_at) "  # noqa: S608
            f"SELECT {chosen}, 'forged', 'org', created_at FROM audit_events"
        ),
    )
    await database.close()


async def test_postgres_truncates_nothing(postgres_url: str) -> None:
    database = Database(postgres_url)
    await added(database)

    await insist_on_refusal(database, text("TRUNCATE audit_events CASCADE"))
    await database.close()


async def test_triggers_are_made_again_after_a_migration_that_drops_them(
    database: Database,
) -> None:
    """Alembic's batches do so on SQLite; the last step of such a migration puts them back."""
    of_table = "" if database.is_sqlite else " ON audit_events"
    await run(database, text(f"DROP TRIGGER audit_events_update{of_table}"))
    async with database.write() as session:
        connection = await session.connection()
        await connection.run_sync(append_only.guard_audit)
    await added(database)

    await insist_on_refusal(database, text("UPDATE audit_events SET action = 'forged'"))
