"""The database: SQLite in one process, PostgreSQL under many; sessions that read or write."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NewType

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Row, Select, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    create_async_engine,
)
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool

from recibo.errors import DatabaseUnavailable
from recibo.store.postgres import Server

MIGRATIONS = Path(__file__).parent / "migrations"
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
# Any number will do, as long as nothing else locks it: "recibo" in ASCII.
_MIGRATION_LOCK = 0x72656369626F
# Of any length; each database of a server has locks of its own.
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")
_READERS = 4
# What a session knows of itself.
_RUNG = "rung"
# SQLite has one writer; who waits longer for it than its own patience is answered 503.
_SQLITE_SECONDS = 30

#: A session that only reads; it never commits.
ReadSession = NewType("ReadSession", AsyncSession)
#: A session that writes; `Database.write` commits it.
Session = NewType("Session", AsyncSession)


class Database:
    """Opens short transactions.

    SQLite has one writer at a time, so writers of this process queue for one connection and begin
    IMMEDIATE: a transaction that upgrades from reading to writing fails under load instead.
    """

    def __init__(self, url: str) -> None:
        parsed = _with_driver(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._writer = _sqlite_engine(parsed, writes=True)
            self._reader = _sqlite_engine(parsed, writes=False)
            self._watched: Callable[[], AbstractContextManager[None]] = _sqlite_watched
        else:
            self._server = Server(parsed)
            self._writer = self._server.engine(writes=True)
            self._reader = self._server.engine(writes=False)
            self._locks = self._server.lock_engine()
            self._watched = self._server.watched
        self._bells = set[asyncio.Event]()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        """Open a session for queries; each statement sees what is committed when it starts.

        Raises:
            DatabaseUnavailable: it does not answer, or has no time.
        """
        with self._watched():
            async with AsyncSession(
                self._reader, expire_on_commit=False, autoflush=False
            ) as session:
                yield ReadSession(session)

    async def row(
        self, query: Select[tuple[Any, ...]], parameters: Mapping[str, object]
    ) -> Row[Any] | None:
        """Return the one row that a query of columns finds, in half the time of a session."""
        with self._watched():
            async with self._reader.connect() as connection:
                found: Row[Any] | None = (await connection.execute(query, parameters)).one_or_none()
        return found

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Session]:
        """Open a transaction: committed when the block ends, rolled back when it raises.

        Raises:
            DatabaseUnavailable: it does not answer, or has no time. Lost in the commit, the answer
                leaves open whether the transaction was committed.
        """
        with self._watched():
            async with (
                AsyncSession(self._writer, expire_on_commit=False) as session,
                session.begin(),
            ):
                yield Session(session)
        if session.info.get(_RUNG):
            for bell in self._bells:
                bell.set()

    @contextmanager
    def bell(self) -> Iterator[asyncio.Event]:
        """Have an event set whenever a transaction that rang is committed by this process."""
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            yield bell
        finally:
            self._bells.discard(bell)

    @asynccontextmanager
    async def alone(self, work: str) -> AsyncIterator[bool]:
        """Give True to one process at a time while the block lasts, and False to all others.

        A process that dies gives way at once. On SQLite there is no other. The lock is a
        transaction's: a session's would stay behind on a pooler's connection.
        """
        if self.is_sqlite:
            yield True
            return
        async with AsyncExitStack() as stack:
            with self._watched():
                connection = await stack.enter_async_context(self._locks.connect())
                name = {"name": f"recibo:{work}"}
                is_alone = (await connection.execute(_TRY_LOCK, name)).scalar_one()
            stack.push_async_callback(self._unlock, connection)
            yield is_alone

    async def _unlock(self, connection: AsyncConnection) -> None:
        try:
            with self._watched():
                await connection.rollback()
        except (DatabaseUnavailable, DBAPIError):
            # The connection is gone, and the lock with it.
            await connection.invalidate()
        except BaseException:
            # The lock goes with the connection, which must not go back to the others with it.
            await connection.invalidate()
            raise

    async def is_alive(self) -> bool:
        """Tell whether the database answers."""
        async with self.read() as session:
            return (await session.execute(text("SELECT 1"))).scalar() == 1

    async def is_migrated(self) -> bool:
        """Tell whether the schema is of this version."""
        newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()
        with self._watched():
            async with self._reader.connect() as connection:
                current = await connection.run_sync(_revision)
        return current == newest

    async def close(self) -> None:
        """Close all connections."""
        await self._writer.dispose()
        await self._reader.dispose()
        if not self.is_sqlite:
            await self._locks.dispose()
            await self._server.aclose()


def notify_on_commit(session: Session) -> None:
    """Wake those who work off what is owed, as soon as the caller's transaction is committed."""
    session.info[_RUNG] = True


async def migrate(url: str) -> None:
    """Bring the schema to the newest version; safe to run in several processes at once."""
    engine = _maintenance_engine(url)
    try:
        async with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execute(
                    text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK}
                )
            await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


@asynccontextmanager
async def snapshot(url: str) -> AsyncIterator[AsyncConnection]:
    """Open a transaction that only reads, and sees nothing that is committed after it began."""
    engine = _maintenance_engine(url)
    try:
        async with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            else:
                # The driver begins none before it writes.
                await connection.exec_driver_sql("BEGIN")
            yield connection
    finally:
        await engine.dispose()


@asynccontextmanager
async def rebuilding(url: str) -> AsyncIterator[AsyncConnection]:
    """Open the one transaction in which a database is built from a backup."""
    engine = _maintenance_engine(url)
    try:
        async with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execute(
                    text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK}
                )
            yield connection
    finally:
        await engine.dispose()


async def revision(connection: AsyncConnection) -> str | None:
    """Return the schema's revision; None without a schema."""
    return await connection.run_sync(_revision)


async def upgrade(connection: AsyncConnection, to: str = "head") -> None:
    """Bring the schema to a revision inside the caller's transaction."""
    await connection.run_sync(partial(_upgrade, to=to))


def is_known(revision_: str) -> bool:
    """Tell whether this version knows a revision of the schema."""
    script = ScriptDirectory(str(MIGRATIONS))
    return revision_ in {one.revision for one in script.walk_revisions()}


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _upgrade(connection: Connection, to: str = "head") -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _with_driver(url: str) -> URL:
    parsed = make_url(url)
    if parsed.get_backend_name() not in _DRIVERS:
        message = f"a database URL begins with {' or '.join(f'{one}://' for one in _DRIVERS)}"
        raise ValueError(message)
    return parsed.set(drivername=_DRIVERS[parsed.get_backend_name()])


def _maintenance_engine(url: str) -> AsyncEngine:
    parsed = _with_driver(url)
    if parsed.get_backend_name() == "sqlite":
        return create_async_engine(parsed, poolclass=NullPool, hide_parameters=True)
    return Server(parsed).maintenance_engine()


@contextmanager
def _sqlite_watched() -> Iterator[None]:
    """Say so when another had the database for too long."""
    try:
        yield
    except PoolTimeoutError as e:
        raise DatabaseUnavailable from e
    except OperationalError as e:
        # SQLITE_BUSY and SQLITE_LOCKED, in the words that all drivers give.
        if "is locked" in str(e.orig):
            raise DatabaseUnavailable from e
        raise


def _sqlite_engine(url: URL, *, writes: bool) -> AsyncEngine:
    engine = create_async_engine(
        url,
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1 if writes else _READERS,
        max_overflow=0,
        pool_timeout=_SQLITE_SECONDS,
        # A statement that fails is logged; whose values it was about, is nobody's business there.
        hide_parameters=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        # The driver's own transactions start too late (at the first write); ours below.
        connection.isolation_level = None
        # FULL: a commit is on disk before anybody is told of it. That costs 0.2 ms a commit on a
        # disk of its own and saves telling apart which commits acknowledge something.
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON",
                       f"busy_timeout={_SQLITE_SECONDS * 1000}"):  # fmt: skip
            connection.execute(f"PRAGMA {pragma}")

    if writes:

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
