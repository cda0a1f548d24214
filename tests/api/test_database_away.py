"""A database that is stopped, killed or busy is answered 503, and found again when it is back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from recibo.errors import DatabaseUnavailable
from recibo.store import db, postgres
from tests import installation, make, servers
from tests.installation import Installation
from tests.tcp_proxy import TcpProxy, run_tcp_proxy

# A client hangs up after so long; on a busy machine a test waits longer for a verdict.
PROMISED_SECONDS = 5
PATIENCE_SECONDS = 30
# Read before other tests give a database more time.
CONNECT_SECONDS = postgres.CONNECT_SECONDS


@pytest.fixture(autouse=True)
def _connections_fail_as_soon_as_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "CONNECT_SECONDS", CONNECT_SECONDS)


@pytest.fixture
async def postgres_proxy(postgres: servers.Postgres, postgres_url: str) -> AsyncIterator[TcpProxy]:
    """The line to the database."""
    assert postgres_url
    async with run_tcp_proxy(postgres.port) as passing:
        yield passing


async def asked(service: Installation) -> list[httpx.Response]:
    """Ask for something of every kind, all at once."""
    credentials = {"email": "demo@recibo.test", "password": "wrong password"}
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await asyncio.gather(
            service.get("/key"),
            service.get("/receipts"),
            service.extract(make.jpeg("new")),
            service.stranger.post("/v1/auth/login", json=credentials),
            service.stranger.post("/v1/auth/magic-link", json={"email": "demo@recibo.test"}),
            service.stranger.post("/portal/sign-in", data=credentials),
            service.stranger.get("/readyz"),
        )


async def come_back(service: Installation) -> None:
    """Return when the service works again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await service.get("/key")).status_code != 200:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.1)


def test_limits_add_up_to_what_is_promised() -> None:
    assert PROMISED_SECONDS > postgres.SUSPECT_SECONDS + CONNECT_SECONDS


async def test_stopped_database_is_reported_and_recovers(
    postgres: servers.Postgres, postgres_url: str, tmp_path: Path
) -> None:
    async with installation.start(postgres_url, tmp_path) as service:
        await service.extracted(make.jpeg("before"))
        with postgres.stopped():
            answers = await asked(service)
            alive = await service.stranger.get("/healthz")
        await come_back(service)
        after = await service.extract(make.jpeg("new"))

    assert [503] * len(answers) == [one.status_code for one in answers]
    assert all(int(one.headers["Retry-After"]) > 0 for one in answers)
    assert {"server_error"} == {
        one.json()["error"]["code"] for one in answers if "json" in one.headers["content-type"]
    }
    assert (200, 200) == (alive.status_code, after.status_code)


async def test_killed_database_is_reported_and_recovers(
    postgres_proxy: TcpProxy, tmp_path: Path
) -> None:
    url = f"postgresql://postgres@127.0.0.1:{postgres_proxy.port}/recibo"
    async with installation.start(url, tmp_path) as service:
        await service.extracted(make.jpeg("before"))
        postgres_proxy.cut()
        answers = await asked(service)
        postgres_proxy.restore()
        await come_back(service)
        after = await service.extract(make.jpeg("new"))

    assert [503] * len(answers) == [one.status_code for one in answers]
    assert 200 == after.status_code


async def test_locked_row_holds_up_no_request_for_ever(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_LIMITS", {"lock_timeout": "50ms"})
    async with installation.start(postgres_url, tmp_path, with_worker=False) as service:
        holder = db.Database(postgres_url)
        async with holder.write() as session:
            await session.connection()
            await session.execute(text("LOCK TABLE receipts IN EXCLUSIVE MODE"))
            answer = await service.extract(make.jpeg("new"))
        await holder.close()

    assert (503, "server_error") == (answer.status_code, answer.json()["error"]["code"])


async def test_statement_has_a_time_limit(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_LIMITS", {"statement_timeout": "50ms"})
    database = db.Database(postgres_url)

    async def sleep() -> None:
        async with database.read() as session:
            await session.execute(text("SELECT pg_sleep(60)"))

    with pytest.raises(DatabaseUnavailable):
        await sleep()
    assert await database.is_alive()
    await database.close()


async def test_busy_sqlite_is_reported(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "_SQLITE_SECONDS", 0.05)
    monkeypatch.setattr(db, "SQLITE_PRAGMAS", (*db.SQLITE_PRAGMAS, "busy_timeout=50"))
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as service:
        async with service.database.write() as session:
            await session.execute(text("SELECT 1"))
            queued = await service.extract(make.jpeg("new"))
        other = db.Database(sqlite_url)
        async with other.write() as session:
            await session.execute(text("SELECT 1"))
            locked = await service.extract(make.jpeg("new"))
        await other.close()

    assert [503, 503] == [queued.status_code, locked.status_code]
    assert "Retry-After" in locked.headers
