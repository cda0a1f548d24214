"""Connections to PostgreSQL with timeouts, and fast failure when the server hangs.

A stopped server does not refuse connections: every statement just hangs. So when a transaction
takes longer than a second, a probe asks the server over a separate connection. If the probe gets no
answer, all connections of this process are closed, which fails all waiting statements at once.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from weakref import WeakSet

import asyncpg
import structlog
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util import await_only

from recibo.errors import DatabaseUnavailable
from recibo.store.redis_client import CircuitBreaker

log = structlog.get_logger(__name__)

T = TypeVar("T")

# Clients get an answer within 5 seconds after the server stops: 1 until the probe, 3 until it times
# out. Connecting takes milliseconds, or some hundred on a busy machine.
SUSPECT_SECONDS = 1.0
CONNECT_SECONDS = 3.0
# Timeouts are counted in ticks, so that a pause of this process does not look like an outage.
_TICK_SECONDS = 0.1
# Waiting for a connection takes milliseconds; an outage ends all waits at once.
_POOL_SECONDS = 15.0
# Far more than any request needs. Work on many rows runs in batches of milliseconds.
_STATEMENT_SECONDS = 30
# Rows are locked for milliseconds; a longer wait means that the lock's owner hangs.
_LOCK_SECONDS = 4
# The client's timeout, for a server that does not enforce its own.
_COMMAND_SECONDS = _STATEMENT_SECONDS + 5
# Per pool; a process has one for reading and one for writing. PostgreSQL allows 100 connections by
# default and refuses more.
_POOL_SIZE = 8
# One connection per running periodic job; those beyond the first are closed afterwards.
_MAX_LOCKS = 16
_LIMITS = {
    "statement_timeout": f"{_STATEMENT_SECONDS}s",
    "lock_timeout": f"{_LOCK_SECONDS}s",
}
# The connection of a held lock is idle for as long as the work takes.
_LOCK_LIMITS = {"idle_in_transaction_session_timeout": "0"}
_UNLIMITED = {"statement_timeout": "0", "lock_timeout": "0"}
# SQLSTATE classes and codes of transient errors: connections (08), resources (53), operator
# intervention and timeouts (57), locks, deadlocks and serialization failures.
_TRANSIENT = ("08", "53", "57", "55P03", "40P01", "40001")


class Server:
    """One PostgreSQL server, reached directly or through a pooler."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._arguments: dict[str, Any] = {}
        self._connections = WeakSet[Any]()
        self._breaker = CircuitBreaker("the database does not answer")
        self._probe_task: asyncio.Task[None] | None = None
        #: Whether a transaction pooler such as PgBouncer spreads a connection's statements over
        #: several server connections; None before the first connection.
        self._is_pooled: bool | None = None

    def engine(self, *, writes: bool) -> AsyncEngine:
        """Return an engine for requests and jobs."""
        return self._engine(
            _LIMITS,
            # A single query needs no BEGIN and ROLLBACK, which saves two round trips.
            autocommit=not writes,
            pool_size=_POOL_SIZE,
            max_overflow=0,
            pool_timeout=_POOL_SECONDS,
            pool_pre_ping=True,
        )

    def lock_engine(self) -> AsyncEngine:
        """Return an engine for advisory locks, each held by an open transaction."""
        return self._engine(
            _LIMITS | _LOCK_LIMITS,
            pool_size=1,
            max_overflow=_MAX_LOCKS,
            pool_timeout=_POOL_SECONDS,
            pool_pre_ping=True,
        )

    def maintenance_engine(self) -> AsyncEngine:
        """Return an engine without timeouts."""
        return self._engine(_UNLIMITED, command_seconds=None, poolclass=NullPool)

    @contextmanager
    def fail_fast(self) -> Iterator[None]:
        """Fail the block within seconds when the server does not answer.

        Raises:
            DatabaseUnavailable: the server does not answer; at once right after an outage began.
        """
        if self._breaker.is_open:
            raise DatabaseUnavailable
        watch = _Watchdog(self)
        try:
            yield
        except (PoolTimeoutError, TimeoutError, asyncpg.InterfaceError) as e:
            raise DatabaseUnavailable from e
        except DBAPIError as e:
            if e.connection_invalidated or is_transient(e):
                raise DatabaseUnavailable from e
            raise
        finally:
            watch.stop()

    def start_probe(self) -> None:
        """Start a probe of the server, unless one is running."""
        if self._probe_task is None or self._probe_task.done():
            self._probe_task = asyncio.create_task(self._probe())

    async def aclose(self) -> None:
        """Stop probing."""
        if self._probe_task is not None:
            self._probe_task.cancel()
            await asyncio.gather(self._probe_task, return_exceptions=True)

    async def _probe(self) -> None:
        if not self._arguments:
            # No connection was made yet; connecting has its own timeout.
            return
        try:
            await _with_timeout(self._ping())
        except asyncpg.PostgresError:
            # Even an error is an answer.
            return
        except (OSError, TimeoutError, asyncpg.InterfaceError) as e:
            self._close_connections(e)

    async def _ping(self) -> None:
        connection = await asyncpg.connect(**self._arguments, statement_cache_size=0)
        try:
            await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    def _close_connections(self, error: Exception) -> None:
        self._breaker.trip(error)
        for connection in list(self._connections):
            connection.terminate()

    def _engine(
        self,
        limits: dict[str, str],
        *,
        autocommit: bool = False,
        command_seconds: float | None = _COMMAND_SECONDS,
        **pool: Any,
    ) -> AsyncEngine:
        engine = create_async_engine(
            self._url,
            hide_parameters=True,
            connect_args={"async_creator_fn": self._connect, "command_timeout": command_seconds},
            **pool,
        )

        @event.listens_for(engine.sync_engine, "do_connect")
        def _prepare(_: object, __: object, ___: object, arguments: dict[str, Any]) -> None:
            if await_only(self._detect_pooler(arguments)):
                # Unnamed statements leave no state on a server connection that other clients share.
                arguments["statement_cache_size"] = arguments["prepared_statement_cache_size"] = 0
                arguments["prepared_statement_name_func"] = str
            else:
                arguments["server_settings"] = {"application_name": "recibo", **limits}

        @event.listens_for(engine.sync_engine, "connect")
        def _configure(connection: Any, _: object) -> None:
            self._connections.add(connection.driver_connection)
            if autocommit and not self._is_pooled:
                connection.autocommit = True

        @event.listens_for(engine.sync_engine, "begin")
        def _begin(connection: Connection) -> None:
            if self._is_pooled:
                for name, value in limits.items():
                    connection.exec_driver_sql(f"SET LOCAL {name} = '{value}'")

        return engine

    async def _connect(self, **arguments: Any) -> Any:
        if self._breaker.is_open:
            raise DatabaseUnavailable
        try:
            return await _with_timeout(asyncpg.connect(**arguments))
        except asyncpg.PostgresError as e:
            if (e.sqlstate or "").startswith(_TRANSIENT):
                raise DatabaseUnavailable from e
            raise
        except (OSError, TimeoutError) as e:
            self._breaker.trip(e)
            raise DatabaseUnavailable from e

    async def _detect_pooler(self, arguments: dict[str, Any]) -> bool:
        """Return whether a pooler is in between: it reports another process id than the server."""
        known = ("async_creator_fn", "command_timeout")
        self._arguments = {name: arguments[name] for name in arguments if name not in known}
        if self._is_pooled is not None:
            return self._is_pooled
        connection = await self._connect(**self._arguments, statement_cache_size=0)
        try:
            is_pooled = await _with_timeout(_is_pooler(connection))
        except (OSError, TimeoutError) as e:
            self._breaker.trip(e)
            raise DatabaseUnavailable from e
        finally:
            connection.terminate()
        # A concurrent call may have detected it already.
        is_new, self._is_pooled = self._is_pooled is None, is_pooled
        if is_new and is_pooled:
            log.info("a connection pooler was detected; prepared statements are off")
        return self._is_pooled


class _Watchdog:
    """Probes the server every second while a transaction lasts."""

    __slots__ = ("_server", "_timer")

    def __init__(self, server: Server) -> None:
        self._server = server
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SUSPECT_SECONDS, self._fire)

    def _fire(self) -> None:
        self._server.start_probe()
        self._start()

    def stop(self) -> None:
        self._timer.cancel()


async def _is_pooler(connection: Any) -> bool:
    async with connection.transaction():
        process = await connection.fetchval("SELECT pg_backend_pid()")
    return bool(process != connection.get_server_pid())


async def _with_timeout(call: Coroutine[Any, Any, T]) -> T:
    task = asyncio.create_task(call)
    try:
        for _ in range(round(CONNECT_SECONDS / _TICK_SECONDS)):
            done, _ = await asyncio.wait([task], timeout=_TICK_SECONDS)
            if done:
                return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    raise TimeoutError("no answer")


def is_transient(error: DBAPIError) -> bool:
    """Return whether the same statement may succeed if retried."""
    state = cast("str | None", getattr(error.orig, "sqlstate", None))
    return (state or "").startswith(_TRANSIENT)
