"""Database access: read and write sessions, advisory locks and schema migrations.

SQLite serves a single process, PostgreSQL any number.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, NewType

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Row, Select, create_engine, event, text
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    create_async_engine,
)
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool, StaticPool

from recibo.errors import DatabaseUnavailable
from recibo.store import sqlite_driver
from recibo.store.postgres import Server

MIGRATIONS = Path(__file__).parent / "migrations"
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
# An arbitrary key that nothing else locks: "recibo" in ASCII.
_MIGRATION_LOCK = 0x72656369626F
# Hashed, so names may have any length. Locks are per database.
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_REVISION = text("SELECT version_num FROM alembic_version")
_READERS = 4
# The key in `session.info` set by `notify_on_commit`.
_NOTIFIES = "notifies"
# SQLite has a single writer; requests that wait longer for it get a 503.
_SQLITE_SECONDS = 30
SQLITE_PRAGMAS = (
    "journal_mode=WAL",
    # A commit is on disk before it is acknowledged. This costs 0.2 ms per commit on a dedicated
    # disk, and no code has to decide which commits need it.
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={_SQLITE_SECONDS * 1000}",
)

#: A session that only reads; it never commits.
ReadSession = NewType("ReadSession", AsyncSession)
#: A session that writes; `Database.write` commits it.
Session = NewType("Session", AsyncSession)


class NewerSchemaError(Exception):
    """The database was migrated by a newer version."""


async def lock(session: Session, name: str) -> None:
    """Wait for other transactions that locked this name; locked until the transaction ends."""
    # SQLite has one writer at a time.
    if session.get_bind().dialect.name != "sqlite":
        await session.execute(_LOCK, {"name": name})


class Database:
    """Opens short transactions.

    SQLite allows one writer at a time, so this process writes over a single connection with BEGIN
    IMMEDIATE: a transaction that upgrades from reading to writing would fail under load.
    """

    def __init__(self, url: str) -> None:
        parsed = _with_driver(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._writer = _sqlite_engine(parsed, writes=True)
            self._reader = _sqlite_engine(parsed, writes=False)
            self._lookups: Engine | None = _lookup_engine(parsed)
            self._guard: Callable[[], AbstractContextManager[None]] = _translate_sqlite_errors
        else:
            self._server = Server(parsed)
            self._writer = self._server.engine(writes=True)
            self._reader = self._server.engine(writes=False)
            self._locks = self._server.lock_engine()
            self._lookups = None
            self._guard = self._server.fail_fast
        self._commit_events = set[asyncio.Event]()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        """Open a session for queries; each statement sees the data committed before it starts.

        Raises:
            DatabaseUnavailable: the database does not answer or is overloaded.
        """
        with self._guard():
            async with AsyncSession(
                self._reader, expire_on_commit=False, autoflush=False
            ) as session:
                yield ReadSession(session)

    async def fetch_row(
        self, query: Select[tuple[Any, ...]], parameters: Mapping[str, object]
    ) -> Row[Any] | None:
        """Return the only row of a column query, or None; see `fetch_rows`."""
        found = await self.fetch_rows(query, parameters)
        if len(found) > 1:
            raise MultipleResultsFound
        return found[0] if found else None

    async def fetch_rows(
        self, query: Select[tuple[Any, ...]], parameters: Mapping[str, object]
    ) -> Sequence[Row[Any]]:
        """Return the rows of a column query that reads a few rows by an index.

        It takes half the time of a session, and a tenth on SQLite, which answers such a query
        sooner than a thread could be asked: it runs in the thread of the caller.
        """
        with self._guard():
            if self._lookups is not None:
                try:
                    with self._lookups.connect() as lookup:
                        return lookup.execute(query, parameters).all()
                except OperationalError as e:
                    # If SQLite is locked, such as by a recovery, its thread waits.
                    if "locked" not in str(e.orig):
                        raise
            async with self._reader.connect() as connection:
                found: Sequence[Row[Any]] = (await connection.execute(query, parameters)).all()
        return found

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Session]:
        """Open a transaction: committed when the block ends, rolled back when it raises.

        Raises:
            DatabaseUnavailable: the database does not answer or is overloaded. If the connection
                is lost during the commit, the transaction may have been committed.
        """
        with self._guard():
            async with (
                AsyncSession(self._writer, expire_on_commit=False) as session,
                session.begin(),
            ):
                yield Session(session)
        if session.info.get(_NOTIFIES):
            for committed in self._commit_events:
                committed.set()

    @contextmanager
    def subscribe_to_commits(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set by each commit that called `notify_on_commit`."""
        committed = asyncio.Event()
        self._commit_events.add(committed)
        try:
            yield committed
        finally:
            self._commit_events.discard(committed)

    @asynccontextmanager
    async def advisory_lock(self, key: str) -> AsyncIterator[bool]:
        """Try to take a lock across processes for the block; yield whether it was acquired.

        The lock is released when the process dies. SQLite has a single process, which always
        acquires it. The lock belongs to a transaction, since a pooler would keep the connection
        and a session-level lock with it.
        """
        if self.is_sqlite:
            yield True
            return
        async with AsyncExitStack() as stack:
            with self._guard():
                connection = await stack.enter_async_context(self._locks.connect())
                name = {"name": f"recibo:{key}"}
                is_acquired = (await connection.execute(_TRY_LOCK, name)).scalar_one()
            stack.push_async_callback(self._unlock, connection)
            yield is_acquired

    async def _unlock(self, connection: AsyncConnection) -> None:
        try:
            with self._guard():
                await connection.rollback()
        except (DatabaseUnavailable, DBAPIError):
            # The connection is gone, which released the lock.
            await connection.invalidate()
        except BaseException:
            # Closing the connection releases the lock; it must not return to the pool still locked.
            await connection.invalidate()
            raise

    async def is_alive(self) -> bool:
        """Return whether the database answers."""
        async with self.read() as session:
            return (await session.execute(text("SELECT 1"))).scalar() == 1

    async def is_migrated(self) -> bool:
        """Return whether the schema is at the newest revision.

        Raises:
            NewerSchemaError: a newer version has migrated it.
        """
        with self._guard():
            async with self._reader.connect() as connection:
                return await connection.run_sync(_is_current)

    async def close(self) -> None:
        """Close all connections."""
        await self._writer.dispose()
        await self._reader.dispose()
        if self._lookups is not None:
            self._lookups.dispose()
        if not self.is_sqlite:
            await self._locks.dispose()
            await self._server.aclose()


def notify_on_commit(session: Session) -> None:
    """Wake the workers of this process once the caller's transaction is committed."""
    session.info[_NOTIFIES] = True


async def migrate(url: str) -> None:
    """Upgrade the schema to the newest revision; several processes may call it at once.

    Raises:
        NewerSchemaError: a newer version has migrated it.
    """
    engine = _maintenance_engine(url)
    try:
        async with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execute(
                    text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK}
                )
            if not await connection.run_sync(_is_current):
                await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


@asynccontextmanager
async def snapshot(url: str) -> AsyncIterator[AsyncConnection]:
    """Open a read-only transaction that sees a consistent snapshot of the database."""
    engine = _maintenance_engine(url)
    try:
        async with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            else:
                # The driver starts no transaction before the first write.
                await connection.exec_driver_sql("BEGIN")
            yield connection
    finally:
        await engine.dispose()


@asynccontextmanager
async def open_for_restore(url: str) -> AsyncIterator[AsyncConnection]:
    """Open the transaction that restores a database from a backup."""
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
    """Return the schema's revision; None if there is no schema."""
    return await connection.run_sync(_revision)


async def upgrade(connection: AsyncConnection, to: str = "head") -> None:
    """Upgrade the schema to a revision inside the caller's transaction."""
    await connection.run_sync(partial(_upgrade, to=to))


def is_known_revision(revision_: str) -> bool:
    """Return whether this version knows a schema revision."""
    return revision_ in _revisions().known


def _revision(connection: Connection) -> str | None:
    # Alembic's own function compiles its query each time.
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    found: str | None = connection.execute(_REVISION).scalar_one_or_none()
    return found


def _is_current(connection: Connection) -> bool:
    found = _revision(connection)
    if found is not None and not is_known_revision(found):
        message = (
            f"the database was migrated by a newer version of Recibo (revision {found}). Install "
            "that version, or restore the backup that you made before upgrading "
            "(`recibo restore`)."
        )
        raise NewerSchemaError(message)
    return found == _revisions().newest


class _Revisions(NamedTuple):
    newest: str | None
    known: frozenset[str]


@cache
def _revisions() -> _Revisions:
    """Return the revisions that this version knows."""
    script = ScriptDirectory(str(MIGRATIONS))
    known = frozenset(one.revision for one in script.walk_revisions())
    return _Revisions(script.get_current_head(), known)


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
def _translate_sqlite_errors() -> Iterator[None]:
    """Raise DatabaseUnavailable when the database stayed locked for too long."""
    try:
        yield
    except PoolTimeoutError as e:
        raise DatabaseUnavailable from e
    except OperationalError as e:
        # SQLITE_BUSY and SQLITE_LOCKED; every driver passes on these messages.
        if "is locked" in str(e.orig):
            raise DatabaseUnavailable from e
        raise


def _sqlite_engine(url: URL, *, writes: bool) -> AsyncEngine:
    arguments, options = url.get_dialect()().create_connect_args(url)
    engine = create_async_engine(
        url,
        # The connection begins no transaction by itself; see `_begin` below.
        async_creator=partial(sqlite_driver.connect, *arguments, **options, isolation_level=None),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1 if writes else _READERS,
        max_overflow=0,
        pool_timeout=_SQLITE_SECONDS,
        # Connections that only read begin no transaction, so there is none to roll back.
        skip_autocommit_rollback=not writes,
        # Failed statements are logged; personal data in their parameters must not be.
        hide_parameters=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        for pragma in SQLITE_PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    if writes:

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: Connection) -> None:
            sqlite_driver.of(connection).begin_writing()

    return engine


def _lookup_engine(url: URL) -> Engine:
    """Return an engine with one connection, which does not wait for locks."""
    return create_engine(
        url.set(drivername="sqlite"),
        connect_args={"timeout": 0, "check_same_thread": False},
        isolation_level="AUTOCOMMIT",
        poolclass=StaticPool,
        hide_parameters=True,
    )
