"""Connections to PostgreSQL: how long anything may take, and whether the server still answers.

A server that is stopped refuses nothing: every statement just hangs. So a transaction that takes
longer than a second has the server asked by a connection of its own. No answer, and all connections
of this process are ended, which fails what waits on them at once.
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

# A client is answered within 5 seconds of the server's last word: 1 until it is suspected, 3 until
# it is given up. Connecting takes milliseconds, on a busy machine a tenth of that.
SUSPECT_SECONDS = 1.0
CONNECT_SECONDS = 3.0
# They are counted in these: a process that was itself held up for seconds blames nobody else.
_TICK_SECONDS = 0.1
# Many who wait for a connection wait for milliseconds each; in an outage all are let go at once.
_POOL_SECONDS = 15.0
# No request needs as long. Work on many rows is done in portions that take milliseconds.
_STATEMENT_SECONDS = 30
# Rows are locked for milliseconds; who waits longer waits for something that hangs.
_LOCK_SECONDS = 4
# Only for a server that neither answers nor ends a statement by itself.
_COMMAND_SECONDS = _STATEMENT_SECONDS + 5
# Twice so many a process, for reading and for writing. A server takes a hundred unless told, and
# refuses more; whoever waits here for a connection waits for milliseconds.
_CONNECTIONS = 8
# One a periodic job at work; those beyond the first are closed after it.
_MOST_LOCKS = 16
_LIMITS = {
    "statement_timeout": f"{_STATEMENT_SECONDS}s",
    "lock_timeout": f"{_LOCK_SECONDS}s",
}
# Whoever holds a lock for long does nothing on its connection meanwhile.
_LOCK_LIMITS = {"idle_in_transaction_session_timeout": "0"}
_UNLIMITED = {"statement_timeout": "0", "lock_timeout": "0"}
# Classes and single codes of SQLSTATE that say: not now. Connections (08), resources (53), the
# server's operator or a timeout of ours (57), a lock or a deadlock.
_NOT_NOW = ("08", "53", "57", "55P03", "40P01", "40001")


class Server:
    """One PostgreSQL server, or a pooler before it."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._arguments: dict[str, Any] = {}
        self._connections = WeakSet[Any]()
        self._outage = CircuitBreaker("the database does not answer")
        self._probing: asyncio.Task[None] | None = None
        #: Whether statements of one connection may reach several of the server's, as behind
        #: PgBouncer in transaction mode; None before the first connection.
        self._is_pooled: bool | None = None

    def engine(self, *, writes: bool) -> AsyncEngine:
        """Return connections for requests and jobs."""
        return self._engine(
            _LIMITS,
            # A query alone needs no BEGIN and ROLLBACK around it: two round trips saved.
            autocommit=not writes,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_timeout=_POOL_SECONDS,
            pool_pre_ping=True,
        )

    def lock_engine(self) -> AsyncEngine:
        """Return connections that each hold a lock, in a transaction that stays open."""
        return self._engine(
            _LIMITS | _LOCK_LIMITS,
            pool_size=1,
            max_overflow=_MOST_LOCKS,
            pool_timeout=_POOL_SECONDS,
            pool_pre_ping=True,
        )

    def maintenance_engine(self) -> AsyncEngine:
        """Return connections whose statements take as long as they take."""
        return self._engine(_UNLIMITED, command_seconds=None, poolclass=NullPool)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Fail what happens in the block when the server does not answer.

        Raises:
            DatabaseUnavailable: at once after an outage, else within seconds.
        """
        if self._outage.is_on:
            raise DatabaseUnavailable
        watch = _Watch(self)
        try:
            yield
        except (PoolTimeoutError, TimeoutError, asyncpg.InterfaceError) as e:
            raise DatabaseUnavailable from e
        except DBAPIError as e:
            if e.connection_invalidated or is_not_now(e):
                raise DatabaseUnavailable from e
            raise
        finally:
            watch.end()

    def suspect(self) -> None:
        """Ask the server whether it lives, unless that is being asked."""
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._probe())

    async def aclose(self) -> None:
        """Ask the server nothing more."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    async def _probe(self) -> None:
        if not self._arguments:
            # No connection was ever made, and that has a limit of its own.
            return
        try:
            await _in_time(self._ask())
        except asyncpg.PostgresError:
            # Even a refusal is an answer.
            return
        except (OSError, TimeoutError, asyncpg.InterfaceError) as e:
            self._fall(e)

    async def _ask(self) -> None:
        connection = await asyncpg.connect(**self._arguments, statement_cache_size=0)
        try:
            await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    def _fall(self, error: Exception) -> None:
        self._outage.begin(error)
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
            if await_only(self._find_pooler(arguments)):
                # Unnamed statements leave nothing behind on a connection that others get next.
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
        if self._outage.is_on:
            raise DatabaseUnavailable
        try:
            return await _in_time(asyncpg.connect(**arguments))
        except asyncpg.PostgresError as e:
            if (e.sqlstate or "").startswith(_NOT_NOW):
                raise DatabaseUnavailable from e
            raise
        except (OSError, TimeoutError) as e:
            self._outage.begin(e)
            raise DatabaseUnavailable from e

    async def _find_pooler(self, arguments: dict[str, Any]) -> bool:
        """Find out whether a pooler stands before the server: it has no process there to name."""
        if self._is_pooled is not None:
            return self._is_pooled
        known = ("async_creator_fn", "command_timeout")
        self._arguments = {name: arguments[name] for name in arguments if name not in known}
        connection = await self._connect(**self._arguments, statement_cache_size=0)
        try:
            is_pooled = await _in_time(_is_pooler(connection))
        except (OSError, TimeoutError) as e:
            self._outage.begin(e)
            raise DatabaseUnavailable from e
        finally:
            connection.terminate()
        # Others may have asked at the same time.
        is_new, self._is_pooled = self._is_pooled is None, is_pooled
        if is_new and is_pooled:
            log.info("a pooler stands before the database; nothing is kept on its connections")
        return self._is_pooled


class _Watch:
    """Has the server suspected again and again while a transaction lasts."""

    __slots__ = ("_server", "_timer")

    def __init__(self, server: Server) -> None:
        self._server = server
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SUSPECT_SECONDS, self._look)

    def _look(self) -> None:
        self._server.suspect()
        self._start()

    def end(self) -> None:
        self._timer.cancel()


async def _is_pooler(connection: Any) -> bool:
    async with connection.transaction():
        process = await connection.fetchval("SELECT pg_backend_pid()")
    return bool(process != connection.get_server_pid())


async def _in_time(answer: Coroutine[Any, Any, T]) -> T:
    task = asyncio.create_task(answer)
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


def is_not_now(error: DBAPIError) -> bool:
    """Tell whether the same statement may succeed a moment later."""
    state = cast("str | None", getattr(error.orig, "sqlstate", None))
    return (state or "").startswith(_NOT_NOW)
