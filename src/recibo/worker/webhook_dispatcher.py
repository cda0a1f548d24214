"""Delivers webhooks, each at least once, in every worker process.

The dispatcher leases a delivery, posts it outside any transaction and then records the outcome,
many in one transaction. A crash at any point only means that a webhook is posted again.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog

from recibo.adapters.webhook_client import WebhookClient, WebhookResponse
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries, fair_queue
from recibo.services.webhooks.deliveries import FinishedAttempt, LeasedDelivery
from recibo.services.webhooks.fair_queue import Destination, InFlight
from recibo.store.db import Database
from recibo.worker import metrics

log = structlog.get_logger(__name__)

T = TypeVar("T")
P = TypeVar("P")

_PERIOD_SECONDS = 1.0
# For each process, whatever is due.
_MAX_PER_SECOND = 300
# The same while this process reads documents, which use all of its processor time: without it a
# backlog made readings take two thirds longer. Readings create far fewer events than this.
_MAX_PER_SECOND_WHILE_READING = 40
# Long enough that some deliveries end meanwhile, so that the next poll can start many at once.
_SHORTEST_PAUSE_SECONDS = 0.02
# New events wait no longer than this behind deliveries that were just started.
_LONGEST_PAUSE_SECONDS = 0.4
# Concurrent POSTs: each holds a connection and the bytes of its event.
_CAPACITY = 256
# Outcomes that arrive within this time are recorded together. SQLite has one writer: recording
# them one by one made the transactions of a reading ten times slower.
_GATHER_SECONDS = 0.05
_MAX_BATCH = 256
# After a failure of the database.
_RETRY_SECONDS = 1.0
# The last poll may finish: cancelling a statement leaves its connection in an unknown state.
_LAST_POLL_SECONDS = 10
_LAST_POSTS_SECONDS = 10
_NOT_SENT = "internal error: the request could not be sent"
_METRICS = {
    DeliveryState.DELIVERED: "delivered",
    DeliveryState.PENDING: "deferred",
    DeliveryState.FAILED: "given_up",
}


@dataclass(frozen=True, slots=True)
class _Post:
    """A POST in flight."""

    destination: Destination
    is_suspect: bool


class WebhookDispatcher:
    """Posts due deliveries and records their outcomes."""

    def __init__(
        self,
        database: Database,
        callbacks: WebhookClient,
        keyring: Keyring,
        *,
        capacity: int = _CAPACITY,
        gather_s: float = _GATHER_SECONDS,
    ) -> None:
        self._database = database
        self._callbacks = callbacks
        self._keyring = keyring
        self._capacity = capacity
        self._gather_s = gather_s
        self._in_flight: dict[asyncio.Task[None], _Post] = {}
        self._finished = list[FinishedAttempt]()
        self._has_finished = asyncio.Event()
        self._wakeup = asyncio.Event()
        # How many outcomes are recorded at once: one after a failure, so that an outcome that
        # cannot be stored does not block the others.
        self._batch_size = _MAX_BATCH
        self._has_more = False
        self._last: Destination | None = None
        # Readings in progress in this process.
        self._readings = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["WebhookDispatcher"]:
        """Deliver while the block runs; wait briefly for POSTs in flight at its end."""
        stopping = asyncio.Event()
        with self._database.subscribe_to_commits() as self._wakeup:
            dispatching = asyncio.create_task(self._dispatch_until(stopping))
            recording = asyncio.create_task(self._record_until(stopping))
            try:
                yield self
            finally:
                stopping.set()
                self._wakeup.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(dispatching, _LAST_POLL_SECONDS)
                await self._finish()
                self._has_finished.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(recording, _LAST_POLL_SECONDS)

    def yielding_to(self, read: Callable[[P], Awaitable[None]]) -> Callable[[P], Awaitable[None]]:
        """Wrap a reading so that deliveries slow down while it runs."""

        async def counted(argument: P) -> None:
            self._readings += 1
            try:
                await read(argument)
            finally:
                self._readings -= 1

        return counted

    def pause_s(self, started: int) -> float:
        """Return how long to wait before the next poll after starting this many deliveries."""
        if not started:
            return 0
        limit = _MAX_PER_SECOND_WHILE_READING if self._readings else _MAX_PER_SECOND
        return min(max(started / limit, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)

    async def start_due(self) -> list[asyncio.Task[None]]:
        """Start the due deliveries that fit into the limits; return the tasks that post them."""
        async with self._database.read() as session:
            chosen = await fair_queue.next_deliveries(session, self._count_in_flight())
        self._has_more, self._last = chosen.has_more, chosen.last
        if not chosen.delivery_ids:
            return []
        async with self._database.write() as session:
            leased = await deliveries.lease(session, self._keyring, chosen.delivery_ids)
        started = list[asyncio.Task[None]]()
        for one in leased:
            post = _Post(one.destination, chosen.delivery_ids[one.id])
            task = asyncio.create_task(self._deliver(one, post))
            self._in_flight[task] = post
            task.add_done_callback(self._forget)
            started.append(task)
        return started

    async def record_finished(self) -> int:
        """Record one batch of outcomes in one transaction; return its size."""
        batch = self._finished[: self._batch_size]
        if not batch:
            return 0
        try:
            await self._record(batch)
        except Exception:
            self._batch_size = 1
            kept = [one for one in batch if clock.now() < one.leased.until]
            self._finished[: len(batch)] = []
            self._finished.extend(kept)
            raise
        self._finished[: len(batch)] = []
        self._batch_size = min(2 * self._batch_size, _MAX_BATCH)
        for one in batch:
            metrics.DELIVERIES.labels(_METRICS[one.state]).inc()
        return len(batch)

    async def _record(self, batch: Sequence[FinishedAttempt]) -> None:
        try:
            async with self._database.write() as session:
                await deliveries.record(session, batch)
        except Exception:
            if len(batch) > 1:
                raise
            # The response itself may be what the database refuses.
            log.exception("failed to record the outcome of a webhook")
            async with self._database.write() as session:
                await deliveries.record(session, [one.without_response for one in batch])

    async def _dispatch_until(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            self._wakeup.clear()
            started = await _try(self.start_due)
            await asyncio.sleep(_RETRY_SECONDS if started is None else self.pause_s(len(started)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wakeup.wait(), _PERIOD_SECONDS)

    async def _record_until(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set() or self._finished:
            await self._has_finished.wait()
            self._has_finished.clear()
            # Gather more outcomes for the same transaction, unless there will be none.
            if self._in_flight or not stopping.is_set():
                await asyncio.sleep(self._gather_s)
            while self._finished:
                if await _try(self.record_finished) is None:
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _deliver(self, leased: LeasedDelivery, post: _Post) -> None:
        started_at = clock.now()
        try:
            headers = deliveries.headers(leased)
            outcome = await self._callbacks.post(leased.url, leased.body.encode(), headers)
        except Exception:
            # Counts as a failed attempt; otherwise it would be retried forever.
            log.exception("failed to post a webhook", event_id=leased.event_id)
            duration_s = (clock.now() - started_at).total_seconds()
            outcome = WebhookResponse(duration_s, error=_NOT_SENT)
        attempt = FinishedAttempt(leased, started_at, clock.now(), outcome)
        self._finished.append(attempt)
        self._has_finished.set()
        # After repeated failures the next poll comes within a second, and no sooner.
        if self._has_more and (attempt.is_success or not post.is_suspect):
            self._wakeup.set()

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._in_flight[task]

    def _count_in_flight(self) -> InFlight:
        posts = self._in_flight.values()
        return InFlight(
            capacity=self._capacity,
            by_destination=Counter(one.destination for one in posts),
            suspect=Counter(one.destination for one in posts if one.is_suspect),
            last=self._last,
        )

    async def _finish(self) -> None:
        """Wait briefly for POSTs in flight, then cancel the rest; other workers retry them."""
        tasks = list(self._in_flight)
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_POSTS_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _try(step: Callable[[], Awaitable[T]]) -> T | None:
    try:
        return await step()
    except Exception:
        # Pending deliveries stay pending, and the next try follows soon.
        log.exception("the webhook dispatcher failed")
        return None
