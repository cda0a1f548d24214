"""A connection to SQLite that runs each statement in one step of its thread.

aiosqlite takes four steps for a query: make a cursor, execute, fetch, close. Each costs a switch to
the thread and back, which is more than most statements take. SQLAlchemy fetches all rows of a
statement anyway, unless it is told to stream them.

The thread takes its steps from a plain queue: an executor's futures take twice as long.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self, TypeVar, cast

from sqlalchemy import Connection as SqlConnection

T = TypeVar("T")

_NO_PARAMETERS: Sequence[Any] = ()


class Connection:
    """A connection that belongs to one thread, with the interface of aiosqlite's."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._arguments, self._options = arguments, options
        self._steps = SimpleQueue[Callable[[], None] | None]()
        self._connection: sqlite3.Connection | None = None
        #: As in sqlite3; None means that statements begin no transaction.
        self.isolation_level: str | None = options.get("isolation_level", "")
        self._is_beginning = False
        # Whether nothing was run since the last commit or rollback.
        self._is_at_rest = False

    async def open(self) -> Self:
        """Open the database in the thread."""
        # Process exit does not wait for connections that are not closed.
        Thread(target=_run_all, args=(self._steps,), name="sqlite", daemon=True).start()
        try:
            await self._step(self._open)
        except BaseException:
            self.stop()
            raise
        return self

    def _open(self) -> None:
        self._connection = sqlite3.connect(*self._arguments, **self._options)

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Call a function with the SQLite connection in its thread.

        Raises:
            ValueError: the connection is closed.
        """
        if self._connection is None:
            # SQLAlchemy recognizes a closed connection by this message.
            message = "no active connection"
            raise ValueError(message)
        self._is_at_rest = False
        return await self._step(partial(function, self._connection))

    async def _step(self, function: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._steps.put(partial(_run, function, done, loop))
        return await done

    async def cursor(self) -> "Cursor":
        """Return a cursor; SQLite's own is made with the statement."""
        return Cursor(self)

    async def execute(self, statement: str, parameters: Any = _NO_PARAMETERS) -> "Cursor":
        """Execute a statement and return its cursor."""
        cursor = Cursor(self)
        await cursor.execute(statement, parameters)
        return cursor

    def begin_writing(self) -> None:
        """Let the next statement begin a transaction that writes, in the same step."""
        self._is_beginning = True

    def begin_if_due(self, connection: sqlite3.Connection) -> None:
        """Begin the transaction, in the thread and before a statement."""
        if self._is_beginning:
            # If the database stays locked, this raises, and the next statement tries again.
            connection.execute("BEGIN IMMEDIATE")
            self._is_beginning = False

    async def commit(self) -> None:
        """Commit the transaction, if there is one."""
        self._is_beginning = False
        await self.run(sqlite3.Connection.commit)
        self._is_at_rest = True

    async def rollback(self) -> None:
        """Roll back the transaction, if there is one."""
        self._is_beginning = False
        # SQLAlchemy also rolls back after each commit.
        if not self._is_at_rest:
            await self.run(sqlite3.Connection.rollback)
            self._is_at_rest = True

    async def create_function(self, *arguments: Any, **options: Any) -> None:
        """Register a Python function for SQL."""
        await self.run(lambda connection: connection.create_function(*arguments, **options))

    async def close(self) -> None:
        """Close the connection once the running statement ends."""
        if (closing := self.stop()) is not None:
            await asyncio.wrap_future(closing)

    def stop(self) -> Future[None] | None:
        """Begin to close the connection, from any thread; return None if it is closed already."""
        connection, self._connection = self._connection, None
        closing = None if connection is None else Future[None]()
        if connection is not None and closing is not None:
            self._steps.put(partial(_close, connection, closing))
        self._steps.put(None)
        return closing


def _run_all(steps: SimpleQueue[Callable[[], None] | None]) -> None:
    """Run the steps of a connection, in its thread."""
    while (step := steps.get()) is not None:
        step()


def _run(
    function: Callable[[], T], done: asyncio.Future[T], loop: asyncio.AbstractEventLoop
) -> None:
    if done.cancelled():
        return
    settle: Callable[[], None]
    try:
        settle = partial(done.set_result, function())
    except BaseException as e:  # noqa: BLE001 - as executors do: raised where the step is awaited
        settle = partial(done.set_exception, e)
    # The loop may have ended meanwhile.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, done, settle)


def _settle(done: asyncio.Future[T], settle: Callable[[], None]) -> None:
    if not done.cancelled():
        settle()


def _close(connection: sqlite3.Connection, closing: Future[None]) -> None:
    try:
        connection.close()
    except sqlite3.Error as e:
        closing.set_exception(e)
    else:
        closing.set_result(None)


class Cursor:
    """The result of one statement, fetched in full."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.lastrowid: int | None = None
        self.rowcount = -1

    async def execute(self, statement: str, parameters: Any = _NO_PARAMETERS) -> None:
        """Execute a statement and fetch its rows."""

        def execute(connection: sqlite3.Connection) -> None:
            self._connection.begin_if_due(connection)
            self._fetch(connection.execute(statement, parameters))

        await self._connection.run(execute)

    async def executemany(self, statement: str, parameters: Any) -> None:
        """Execute a statement once for each set of parameters."""

        def execute(connection: sqlite3.Connection) -> None:
            self._connection.begin_if_due(connection)
            self._fetch(connection.executemany(statement, parameters))

        await self._connection.run(execute)

    async def fetchone(self) -> Any:
        """Return the next row, or None."""
        return self._rows.pop(0) if self._rows else None

    async def fetchmany(self, size: int = 1) -> list[Any]:
        """Return the next rows."""
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    async def fetchall(self) -> list[Any]:
        """Return all rows that were not returned yet."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Do nothing: SQLite's cursor is closed once its rows are fetched."""

    def _fetch(self, cursor: sqlite3.Cursor) -> None:
        try:
            self.description = cursor.description
            self.lastrowid = cursor.lastrowid
            if cursor.description:
                self._rows = cursor.fetchall()
            self.rowcount = cursor.rowcount
        finally:
            cursor.close()


def of(connection: SqlConnection) -> Connection:
    """Return the connection under one of SQLAlchemy's."""
    return cast("Connection", connection.connection.driver_connection)


async def connect(*arguments: Any, **options: Any) -> Connection:
    """Open a database; the arguments are those of `sqlite3.connect`."""
    return await Connection(*arguments, **options).open()
