"""The service behind PgBouncer in transaction mode, where no two statements share a session."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from recibo.store.db import Database, migrate
from recibo.store.postgres import Server
from tests import installation, make, servers


@pytest.fixture
def pooled_url(postgres: servers.Postgres, postgres_url: str) -> Iterator[str]:
    """The address of a fresh, migrated database behind a pooler."""
    assert postgres_url
    with servers.run_pgbouncer(postgres) as pooler:
        yield pooler.url("recibo")


async def test_service_works_behind_a_pooler(pooled_url: str, tmp_path: Path) -> None:
    await migrate(pooled_url)
    files = [make.jpeg(str(number)) for number in range(20)]
    async with (
        asyncio.timeout(120),
        installation.start(pooled_url, tmp_path / "a") as one,
        installation.start(pooled_url, tmp_path / "b", with_worker=False) as other,
    ):
        receipts = await asyncio.gather(*(one.extracted(data) for data in files))
        ids = [receipt["id"] for receipt in receipts]
        again = await asyncio.gather(
            *(other.get(f"/receipts/{one_id}", secret=one.secret) for one_id in ids)
        )
        failures = [line for line in (*one.logs, *other.logs) if line["log_level"] == "error"]

    assert [200] * 20 == [answer.status_code for answer in again], again[2].text
    assert receipts == [answer.json() for answer in again]
    assert [] == [str(line) for line in failures]


async def test_jobs_are_one_processs_at_a_time_behind_a_pooler(pooled_url: str) -> None:
    first, second = Database(pooled_url), Database(pooled_url)
    async with (
        first.advisory_lock("sweeping") as is_first,
        second.advisory_lock("sweeping") as is_second,
    ):
        result = (is_first, is_second)
    async with second.advisory_lock("sweeping") as is_free:
        pass
    await first.close()
    await second.close()

    assert (True, False, True) == (*result, is_free)


async def test_timeouts_work_behind_a_pooler_and_do_not_leak(
    pooled_url: str, postgres_url: str
) -> None:
    pooled, direct = Database(pooled_url), Database(postgres_url)
    shown = text("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
    limits = []
    for database in (pooled, direct):
        for session in (database.read, database.write):
            async with session() as started:
                limits.append(tuple((await started.execute(shown)).one()))
        await database.close()
    engine = Server(make_url(pooled_url).set(drivername="postgresql+asyncpg")).maintenance_engine()
    async with engine.begin() as connection:
        unlimited = tuple((await connection.execute(shown)).one())
    await engine.dispose()

    assert {("30s", "4s")} == set(limits)
    assert ("0", "0") == unlimited
