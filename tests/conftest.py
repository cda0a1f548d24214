"""Fixtures for all tests."""

import asyncio
import atexit
import datetime as dt
import gc
import os
import shutil
import socket
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex

import pytest
import structlog
from hypothesis import settings
from pytest_rerunfailures import ClientStatusDB
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import create_async_engine

from recibo.store import db
from recibo.store import postgres as postgres_engines
from recibo.store.tables import Table
from recibo.worker import task_queue
from tests import databases, servers, stripe_server
from tests.stripe_server import StripeServer
from tests.tcp_proxy import TcpProxy, run_tcp_proxy

# Collecting garbage took a fifth of the tests' time, and a third of the time to import them and to
# end: the modules alone are a million objects. `pytest_collection` enables it.
gc.set_threshold(50_000, 20, 100)
gc.disable()

# The same examples at every run, so that the suite does not fail by chance.
settings.register_profile("gate", derandomize=True, deadline=None)
settings.load_profile("gate")

DATABASE = "recibo"
BUCKET = "receipts"


@pytest.fixture(autouse=True, scope="session")
def _compiled_statements_are_shared() -> Iterator[None]:
    """Let all engines share compiled statements: compiling them took a sixth of the tests' time."""
    engines = partial(create_async_engine, execution_options={"compiled_cache": {}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "create_async_engine", engines)
        patch.setattr(postgres_engines, "create_async_engine", engines)
        # The keys of compiled statements contain the dialect of the engine.
        for dialect in (SQLiteDialect_aiosqlite, PGDialect_asyncpg):
            patch.setattr(dialect, "__hash__", lambda self: hash(type(self)))
            patch.setattr(dialect, "__eq__", lambda self, other: type(self) is type(other))
        yield


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_synced() -> Iterator[None]:
    """Let no test wait for the disk; `serving/test_power_loss` tests what is synced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(db, "SQLITE_PRAGMAS", (*db.SQLITE_PRAGMAS, "synchronous=OFF"))
        yield


@pytest.fixture(autouse=True, scope="session")
def _databases_have_time_to_answer() -> Iterator[None]:
    """Take no busy machine for a database that is away; `api/test_database_away` tests that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_engines, "CONNECT_SECONDS", 30.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def _workers_end_soon() -> Iterator[None]:
    """Let workers, which end between two looks at their queues, look more often."""
    with pytest.MonkeyPatch.context() as patch:
        for interval in ("_CHECK_INTERVAL", "_BACKGROUND_CHECK_INTERVAL"):
            patch.setattr(task_queue, interval, dt.timedelta(milliseconds=5))
        yield


@pytest.fixture(autouse=True)
def _process_state_is_restored() -> Iterator[None]:
    """Restore the umask and the logging that a command in this process may have changed."""
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    os.umask(umask)
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A private PostgreSQL server, one a test process."""
    with servers.run_postgres() as server, _reached_directly(server):
        yield server


@contextmanager
def _reached_directly(server: servers.Postgres) -> Iterator[None]:
    """Let no engine look for a pooler before a server: each would connect once more.

    `store/test_pgbouncer` looks for one, and so do the servers of `serving/`.
    """
    initialize = postgres_engines.Server.__init__

    def initialize_and_know(self: postgres_engines.Server, url: URL) -> None:
        initialize(self, url)
        if url.port == server.port:
            self._is_pooled = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_engines.Server, "__init__", initialize_and_know)
        yield


@pytest.fixture(scope="session")
def _redis() -> Iterator[servers.RedisServer]:
    with servers.run_redis() as server:
        yield server


@pytest.fixture
def redis_url(_redis: servers.RedisServer) -> Iterator[str]:
    """The address of an empty Redis."""
    yield _redis.url
    _redis.empty()


@pytest.fixture
def stripe(monkeypatch: pytest.MonkeyPatch) -> Iterator[StripeServer]:
    """A fake Stripe server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # The SDK waits before its second try.
    monkeypatch.setattr("stripe.HTTPClient.INITIAL_DELAY", 0.0)
    with stripe_server.running() as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator[servers.S3Server]:
    """A private S3 server."""
    with servers.run_s3() as server:
        server.make_bucket(BUCKET)
        yield server


@pytest.fixture
def bucket_url(s3: servers.S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty prefix in a bucket; the environment has its keys."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "recibo")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "believed")
    monkeypatch.setenv("AWS_REGION", "sa-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3.port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # A unique prefix for each test: folders of tests that passed are deleted, and their names given
    # again.
    return f"s3://{BUCKET}{tmp_path}-{token_hex(8)}"


@pytest.fixture
async def s3_proxy(
    s3: servers.S3Server, bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[TcpProxy]:
    """A TCP proxy in front of the S3 server; tests can cut it."""
    assert bucket_url
    async with run_tcp_proxy(s3.port) as passing:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{passing.port}")
        yield passing


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Send each question of how often a test failed at once: short tests waited 40 ms for that."""
    if isinstance(failures := getattr(config, "failures_db", None), ClientStatusDB):
        failures.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect garbage once all tests are imported, but none of that before the process ends."""
    found = yield
    gc.freeze()
    # Some libraries complain of what is left at the end.
    atexit.register(gc.unfreeze)
    gc.enable()
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what uses a database on each kind that its mark names, see `tests.databases`."""
    if "database_url" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("databases")
        kinds = mark.args if mark else databases.KINDS
        metafunc.parametrize("database_url", kinds, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated database: SQLite, then PostgreSQL."""
    # Request only the fixture of this kind, so that a run with SQLite alone starts no server.
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[db.Database]:
    """A fresh, migrated, open database: SQLite, then PostgreSQL."""
    database_ = db.Database(database_url)
    yield database_
    await database_.close()


@pytest.fixture
def sqlite_url(_migrated_sqlite: Path, tmp_path: Path) -> str:
    """The address of a fresh, migrated SQLite database."""
    path = tmp_path / "recibo.db"
    shutil.copyfile(_migrated_sqlite, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres: servers.Postgres, _console: servers.Console) -> Iterator[str]:
    """The address of a fresh, migrated PostgreSQL database; emptied after the test.

    Making a database takes a hundred times as long as emptying one that holds a few rows.
    """
    yield postgres.url(DATABASE)
    # A connection that a test left open could hold the rows.
    _console.execute("SELECT pg_temp.end_others()", "SELECT pg_temp.empty_all()")


@pytest.fixture(scope="session")
def _migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Migrate once; every test gets a copy."""
    path = tmp_path_factory.mktemp("template") / "recibo.db"
    asyncio.run(db.migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def _migrated_postgres(postgres: servers.Postgres) -> None:
    postgres.execute(f"CREATE DATABASE {DATABASE}")
    asyncio.run(db.migrate(postgres.url(DATABASE)))


@pytest.fixture(scope="session")
def _console(postgres: servers.Postgres, _migrated_postgres: None) -> Iterator[servers.Console]:
    """A connection that empties the database; in functions, its statements are planned once."""
    deletes = " ".join(f"DELETE FROM {name};" for name in Table.metadata.tables)  # noqa: S608
    with postgres.console(DATABASE) as console:
        console.execute(
            # Disables foreign keys and triggers.
            "SET session_replication_role = replica",
            "CREATE FUNCTION pg_temp.empty_all() RETURNS void LANGUAGE plpgsql AS"
            f" $$ BEGIN {deletes} END $$",
            "CREATE FUNCTION pg_temp.end_others() RETURNS void LANGUAGE sql AS"
            " $$ SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() $$",
        )
        yield console
