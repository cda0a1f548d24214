"""A database of the first version keeps its rows when it is upgraded."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from recibo.store import db
from recibo.store.db import Database
from recibo.store.tables import (
    Delivery,
    DeliveryAttempt,
    Org,
    PendingReadings,
    Receipt,
    UsageDay,
    UsageEvent,
    UsageMonth,
    UserSession,
    WebhookEndpoint,
)
from tests import servers
from tests.cli import commands


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


async def test_sessions_of_older_versions_are_kept(empty_url: str) -> None:
    async with db.open_for_restore(empty_url) as connection:
        await db.upgrade(connection, "0002")
        await connection.execute(
            text(
                "INSERT INTO users (id, email, created_at, epoch) "
                "VALUES ('usr', 'ana@example.com', '2026-06-01 09:30:00+00:00', 0)"
            )
        )
        await connection.execute(
            text(
                "INSERT INTO user_sessions (id, user_id, method, is_bound, user_agent, created_at, "
                "expires_at) VALUES ('ses', 'usr', 'password', false, 'Firefox/145.0', "
                "'2026-06-01 09:30:00+00:00', '2026-09-01 09:30:00+00:00')"
            )
        )
    await db.migrate(empty_url)
    database = Database(empty_url)
    async with database.read() as session:
        row = (await session.execute(select(UserSession))).scalar_one()
    await database.close()

    assert ("ses", "Firefox/145.0", None, None) == (
        row.id,
        row.user_agent,
        row.last_seen_at,
        row.last_ip_address,
    )


@pytest.mark.parametrize(
    "arguments", [("serve", "--port", "0"), ("migrate",), ("backup", "copy")], ids=" ".join
)
def test_database_of_a_newer_version_is_refused_in_one_line(
    empty_url: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    asyncio.run(_migrate_to(empty_url, "9999"))

    done = commands.run(tmp_path, *arguments, DATABASE_URL=empty_url)

    assert 1 == done.status
    assert "Traceback" not in done.stderr
    # Warnings may come before it.
    reason = done.stderr.splitlines()[-1]
    assert reason.startswith("recibo: the database was migrated by a newer version")
    assert "recibo restore" in reason


async def _migrate_to(url: str, revision: str) -> None:
    await db.migrate(url)
    async with db.open_for_restore(url) as connection:
        await connection.execute(
            text("UPDATE alembic_version SET version_num = :to"), {"to": revision}
        )


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


async def test_single_endpoint_of_an_earlier_version_keeps_its_deliveries(empty_url: str) -> None:
    async with db.open_for_restore(empty_url) as connection:
        await db.upgrade(connection, "0008")
        await _add_org(connection)
        await _add_webhooks(connection)
    await db.migrate(empty_url)
    database = Database(empty_url)

    async with database.read() as session:
        endpoint = (await session.execute(select(WebhookEndpoint))).scalar_one()
        query = select(Delivery).order_by(Delivery.id)
        deliveries = (await session.execute(query)).scalars().all()
        attempts = (await session.execute(select(DeliveryAttempt))).scalars().all()
    await database.close()

    assert ("whe_1", "org", "https://a.test/", "", None, None) == (
        endpoint.id,
        endpoint.org_id,
        endpoint.url,
        endpoint.description,
        endpoint.event_types,
        endpoint.disabled_at,
    )
    assert "2026-06-01 09:30" == f"{endpoint.created_at:%Y-%m-%d %H:%M}"
    assert [
        ("dlv_1", "evt_1", "whe_1", None, "owed", 3),
        ("dlv_2", "evt_2", None, "https://till.test/", "delivered", 1),
    ] == [
        (one.id, one.event_id, one.endpoint_id, one.url, one.state, one.tries) for one in deliveries
    ]
    assert [True, False] == [one.due_at is not None for one in deliveries]
    assert [("att_1", "dlv_1", 500)] == [(one.id, one.delivery_id, one.status) for one in attempts]


_WEBHOOKS = """
INSERT INTO webhook_endpoints (id, org_id, url, created_at, updated_at)
VALUES ('whe_1', 'org', 'https://a.test/', '2026-06-01 09:30:00', '2026-06-01 09:30:00');
INSERT INTO webhook_events (id, org_id, type, created_at, body)
VALUES ('evt_1', 'org', 'webhook.test', '2026-06-01 09:30:00', '{}'),
       ('evt_2', 'org', 'webhook.test', '2026-06-01 09:30:00', '{}');
INSERT INTO deliveries (event_id, org_id, endpoint_id, url, state, due_at, tries)
VALUES ('evt_1', 'org', 'whe_1', NULL, 'owed', '2026-06-01 09:30:00', 3),
       ('evt_2', 'org', NULL, 'https://till.test/', 'delivered', NULL, 1);
INSERT INTO delivery_attempts (id, event_id, org_id, url, started_at, duration_ms, status)
VALUES ('att_1', 'evt_1', 'org', 'https://a.test/', '2026-06-01 09:30:00', 9, 500)
"""


async def _add_webhooks(connection: AsyncConnection) -> None:
    for statement in _WEBHOOKS.split(";"):
        await connection.exec_driver_sql(statement)
