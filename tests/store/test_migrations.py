"""A database of the first version keeps its rows when it is upgraded."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from recibo.store import db
from recibo.store.db import Database
from recibo.store.tables import (
    Org,
    PendingReadings,
    Receipt,
    UsageDay,
    UsageEvent,
    UsageMonth,
)
from tests import servers


@pytest.fixture
def empty_postgres_url(postgres: servers.Postgres) -> Iterator[str]:
    """The URL of a PostgreSQL database without tables."""
    postgres.execute("CREATE DATABASE empty")
    yield postgres.url("empty")
    postgres.execute("DROP DATABASE empty WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without tables: SQLite, then PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    url: str = request.getfixturevalue("empty_postgres_url")
    return url


async def test_rows_of_the_first_version_are_kept(empty_url: str) -> None:
    async with db.open_for_restore(empty_url) as connection:
        await db.upgrade(connection, "0001")
        await _add_org(connection)
        await _add_receipt(connection, "rcp_read", status="completed", pending=None)
        await _add_receipt(connection, "rcp_again", status="completed", pending="high")
        await _add_receipt(connection, "rcp_new", status="pending", pending="standard")
    await db.migrate(empty_url)
    database = Database(empty_url)

    async with database.read() as session:
        org = (await session.execute(select(Org))).scalar_one()
        query = select(Receipt.id, Receipt.status, Receipt.pending_accuracy).order_by(Receipt.id)
        receipts = [tuple(row) for row in await session.execute(query)]
        pending = (await session.execute(select(PendingReadings))).scalar_one()
        month = (await session.execute(select(UsageMonth))).scalar_one()
        day = (await session.execute(select(UsageDay))).scalar_one()
        usage = (await session.execute(select(UsageEvent))).scalar_one()
    await database.close()

    assert ("Padaria", "indie", None) == (org.name, org.plan, org.deleted_at)
    assert [
        ("rcp_again", "completed", "high"),
        ("rcp_new", "pending", "standard"),
        ("rcp_read", "completed", None),
    ] == receipts
    assert ("org", 2) == (pending.org_id, pending.count)
    assert (3, 2, 7, 0, 0) == (
        month.held,
        month.completed,
        month.credits,
        month.notified_percent,
        month.notified_quota,
    )
    assert ("2026-06-01", 1) == (str(day.day), day.count)
    assert ("rcp_read", 1) == (usage.receipt_id, usage.credits)


async def _add_org(connection: AsyncConnection) -> None:
    await connection.execute(
        text(
            "INSERT INTO orgs (id, name, slug, billing_email, plan, created_at) "
            "VALUES ('org', 'Padaria', 'padaria', 'ana@example.com', 'indie', "
            "'2026-06-01 09:30:00+00:00')"
        )
    )
    await connection.execute(
        text(
            "INSERT INTO usage_months (org_id, month, held, completed, credits) "
            "VALUES ('org', '2026-06', 3, 2, 7)"
        )
    )
    await connection.execute(
        text(
            "INSERT INTO usage_events (id, org_id, receipt_id, accuracy, credits, created_at) "
            "VALUES ('use', 'org', 'rcp_read', 'standard', 1, '2026-06-01 09:30:00+00:00')"
        )
    )


async def _add_receipt(
    connection: AsyncConnection, receipt_id: str, *, status: str, pending: str | None
) -> None:
    statement = text(
        "INSERT INTO receipts (id, org_id, status, created_at, updated_at, created_by, "
        "file_sha256, file_size, media_type, tags, accuracy, owed_accuracy, attempt, quota_month) "
        "VALUES (:id, 'org', :status, '2026-06-01 09:30:00+00:00', "
        "'2026-06-01 09:30:00+00:00', 'key', "
        ":id, 9, 'image/jpeg', '{}', 'standard', :pending, 0, '2026-06')"
    )
    values = {"id": receipt_id, "status": status, "pending": pending}
    await connection.execute(statement, values)
