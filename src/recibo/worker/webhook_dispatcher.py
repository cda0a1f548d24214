"""The courier: brings webhooks to their receivers, at least once each, in every process that works.

A delivery is taken by a lease, posted outside any transaction, and only then it is written down how
that ended, many in one transaction. So a crash between any two of these has it posted again.
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
# However much is due to one receiver.
_MOST_A_SECOND = 300
# The same while this process has documents read, which takes all the processor that it gets: a
# backlog that went on as before made readings take two thirds longer. They make far fewer events.
_MOST_BESIDE_READINGS = 40
# Of those under way some end meanwhile, and the next look finds room for many at once.
_SHORTEST_PAUSE_SECONDS = 0.02
# What is new waits for no longer than this behind what was begun.
_LONGEST_PAUSE_SECONDS = 0.4
# POSTs at once: each holds a connection and the bytes of its event.
_CAPACITY = 256
# What ends within so long is written down together. SQLite has one writer: written down one by
# one, deliveries made the transactions of a reading ten times slower.
_GATHER_SECONDS = 0.05
_MOST_AT_ONCE = 256
# After a failure of the database.
_RETRY_SECONDS = 1.0
# A statement that is cancelled leaves its connection in the middle of it.
_LAST_ROUND_SECONDS = 10
_LAST_POSTS_SECONDS = 10
_NOT_SENT = "internal error: the request could not be sent"
_METRICS = {
    DeliveryState.DELIVERED: "delivered",
    DeliveryState.OWED: "put_off",
    DeliveryState.FAILED: "given_up",
}


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A POST that is being made."""

    lane: Destination
    is_doubtful: bool


class WebhookDispatcher:
    """Posts what is due."""

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
        self._under_way: dict[asyncio.Task[None], _UnderWay] = {}
        self._ended = list[FinishedAttempt]()
        self._has_ended = asyncio.Event()
        self._wake = asyncio.Event()
        # How many are written down at once: few while that fails, so that one that cannot be
        # written keeps none of the others.
        self._batch = _MOST_AT_ONCE
        self._has_more = False
        self._last: Destination | None = None
        # Under way in this process.
        self._readings = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["WebhookDispatcher"]:
        """Deliver while the block lasts; POSTs under way at its end are ended, if they end soon."""
        stopping = asyncio.Event()
        with self._database.subscribe_to_commits() as self._wake:
            taking = asyncio.create_task(self._take_all(stopping))
            writing = asyncio.create_task(self._write_all_down(stopping))
            try:
                yield self
            finally:
                stopping.set()
                self._wake.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(taking, _LAST_ROUND_SECONDS)
                await self._finish()
                self._has_ended.set()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(writing, _LAST_ROUND_SECONDS)

    def beside(self, read: Callable[[P], Awaitable[None]]) -> Callable[[P], Awaitable[None]]:
        """Return a reading that a backlog of webhooks makes room for."""

        async def counted(what: P) -> None:
            self._readings += 1
            try:
                await read(what)
            finally:
                self._readings -= 1

        return counted

    def pause_s(self, begun: int) -> float:
        """Return how long to wait before the next look, when so many were begun."""
        if not begun:
            return 0
        most = _MOST_BESIDE_READINGS if self._readings else _MOST_A_SECOND
        return min(max(begun / most, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)

    async def begin(self) -> list[asyncio.Task[None]]:
        """Begin what is due and may be begun; return the POSTs."""
        async with self._database.read() as session:
            chosen = await fair_queue.next_deliveries(session, self._load())
        self._has_more, self._last = chosen.has_more, chosen.last
        if not chosen.event_ids:
            return []
        async with self._database.write() as session:
            taken = await deliveries.lease(session, self._keyring, chosen.event_ids)
        begun = list[asyncio.Task[None]]()
        for one in taken:
            under_way = _UnderWay(one.lane, chosen.event_ids[one.event_id])
            task = asyncio.create_task(self._deliver(one, under_way))
            self._under_way[task] = under_way
            task.add_done_callback(self._forget)
            begun.append(task)
        return begun

    async def write_down(self) -> int:
        """Write down how POSTs ended, as many as one transaction holds; return how many."""
        batch = self._ended[: self._batch]
        if not batch:
            return 0
        try:
            await self._record(batch)
        except Exception:
            self._batch = 1
            kept = [one for one in batch if clock.now() < one.taken.until]
            self._ended[: len(batch)] = []
            self._ended.extend(kept)
            raise
        self._ended[: len(batch)] = []
        self._batch = min(2 * self._batch, _MOST_AT_ONCE)
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
            # Perhaps it is what the receiver answered that cannot be stored.
            log.exception("how a webhook ended could not be written down")
            async with self._database.write() as session:
                await deliveries.record(session, [one.bare for one in batch])

    async def _take_all(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            self._wake.clear()
            begun = await _tried(self.begin)
            await asyncio.sleep(_RETRY_SECONDS if begun is None else self.pause_s(len(begun)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _PERIOD_SECONDS)

    async def _write_all_down(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set() or self._ended:
            await self._has_ended.wait()
            self._has_ended.clear()
            # Others end meanwhile.
            await asyncio.sleep(self._gather_s)
            while self._ended:
                if await _tried(self.write_down) is None:
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _deliver(self, taken: LeasedDelivery, under_way: _UnderWay) -> None:
        started_at = clock.now()
        try:
            headers = deliveries.headers(taken)
            outcome = await self._callbacks.post(taken.url, taken.body.encode(), headers)
        except Exception:
            # A try that failed, as any other: else it would come again and again, unseen.
            log.exception("a webhook could not be posted", event_id=taken.event_id)
            duration_s = (clock.now() - started_at).total_seconds()
            outcome = WebhookResponse(duration_s, error=_NOT_SENT)
        tried = FinishedAttempt(taken, started_at, clock.now(), outcome)
        self._ended.append(tried)
        self._has_ended.set()
        # What failed and fails again is looked at each second, and no more often.
        if self._has_more and (tried.is_success or not under_way.is_doubtful):
            self._wake.set()

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._under_way[task]

    def _load(self) -> InFlight:
        under_way = self._under_way.values()
        return InFlight(
            capacity=self._capacity,
            lanes=Counter(one.lane for one in under_way),
            doubtful=Counter(one.lane for one in under_way if one.is_doubtful),
            last=self._last,
        )

    async def _finish(self) -> None:
        """Wait a while for what is under way; the rest comes again when its lease is over."""
        tasks = list(self._under_way)
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_POSTS_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _tried(do: Callable[[], Awaitable[T]]) -> T | None:
    try:
        return await do()
    except Exception:
        # What is owed stays so, and the next try comes soon.
        log.exception("the courier failed")
        return None
