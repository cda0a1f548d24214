"""Sends the pending rows of the outbox, each at least once.

A task leases a row, sends it outside any transaction, and then removes or defers it. A crash at any
point only means that the row is sent again.
"""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import structlog

from recibo.services import outbox
from recibo.store.db import Database, Session

log = structlog.get_logger(__name__)

L = TypeVar("L", bound=outbox.Lease)

# Rows per sweep.
_BATCH = 50
# Several at once, so that one slow server does not delay everything; more could look like abuse,
# and checkouts share the payment provider's rate limit. docket's `ConcurrencyLimit` parks the tasks
# above its limit, which costs 7 to 12 ms of processor time for each; a semaphore costs nothing.
_CONCURRENCY = 4


class RetryLaterError(Exception):
    """A row could not be sent now; it is deferred."""


@dataclass(frozen=True, slots=True)
class Outbox(ABC, Generic[L]):
    """The pending rows of one table, and how each is sent."""

    database: Database
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_CONCURRENCY), init=False
    )

    #: The name of its tasks.
    name: ClassVar[str]
    #: A task sends the rows of one group, one after the other.
    rows: ClassVar[outbox.Rows[Any]]

    @abstractmethod
    async def lease(self, session: Session, row_id: str) -> L | None:
        """Lease a row; None if another worker leased or removed it."""

    @abstractmethod
    async def send(self, lease: L) -> str:
        """Send a row that will then be removed; return the outcome for the metric.

        Raises:
            RetryLaterError: it failed, and another attempt may succeed.
        """

    @abstractmethod
    async def defer(self, session: Session, lease: L) -> str:
        """Schedule the next attempt; return the outcome for the metric."""

    @abstractmethod
    def count(self, lease: L, outcome: str) -> None:
        """Count an attempt in the metrics."""

    async def due_keys(self) -> list[str]:
        """Return the groups of the rows that are due for longest."""
        return list(dict.fromkeys(await self._due_groups()))

    async def run_once(self) -> int:
        """Try to send all due rows, some groups concurrently; return how many rows were due."""
        groups = await self._due_groups()
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for group in dict.fromkeys(groups):
                tasks.create_task(self.work(group, stopping))
        return len(groups)

    async def work(self, key: str, stopping: asyncio.Event) -> None:
        """Send the due rows of a group, until none is left or the event is set."""
        async with self._slots:
            while not stopping.is_set() and (due := await self._due_of(key)):
                for row_id in due:
                    if not stopping.is_set():
                        await self._try(row_id)

    async def _due_groups(self) -> list[str]:
        async with self.database.read() as session:
            return await self.rows.due_groups(session, limit=_BATCH)

    async def _due_of(self, group: str) -> list[str]:
        async with self.database.read() as session:
            return await self.rows.due(session, group, limit=_BATCH)

    async def _try(self, row_id: str) -> None:
        with structlog.contextvars.bound_contextvars(outbox=self.name, row_id=row_id):
            try:
                async with self.database.write() as session:
                    lease = await self.lease(session, row_id)
                if lease is not None:
                    self.count(lease, await self._attempt(lease))
            except Exception:
                # The others are still sent. This one is retried when its lease expires.
                log.exception("failed to record the outcome of an attempt")

    async def _attempt(self, lease: L) -> str:
        """Send a row and remove or defer it; return the outcome."""
        try:
            outcome = await self.send(lease)
        except RetryLaterError as e:
            log.warning("failed to send", detail=str(e), attempt=lease.attempt)
        except Exception:
            # A row that cannot be sent at all must not block the others.
            log.exception("failed to prepare or send", attempt=lease.attempt)
        else:
            async with self.database.write() as session:
                await self.rows.remove(session, lease)
            return outcome
        async with self.database.write() as session:
            return await self.defer(session, lease)
