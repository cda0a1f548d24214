"""What a task does: begin, read outside any transaction, end, tell.

While it reads it keeps the receipt in hand; told to stop, it hands the receipt back.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import structlog

from recibo.adapters.reader import Failure, FailureKind, Reader
from recibo.errors import Overloaded
from recibo.extract.model import Accuracy, Receipt
from recibo.lib.moving_average import MovingAverage
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import FailureCode
from recibo.services.reading import fair_queue, readings
from recibo.services.reading.extraction import Enqueuer
from recibo.services.reading.fair_queue import Job
from recibo.services.reading.readings import Order, Refusal
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.store.pubsub import PubSub
from recibo.worker import metrics
from recibo.worker.shares import ReaderShares

log = structlog.get_logger(__name__)

# Some of these may come late, and the receipt stays in hand all the same.
_KEEP_SECONDS = readings.LEASE.total_seconds() / 4
_BREAKDOWNS = (FailureKind.CRASHED, FailureKind.TIMED_OUT, FailureKind.OUT_OF_MEMORY)
_ANY_NUMBER = 2**31
_FILE_GONE = Failure(FailureKind.BROKEN, "The file of this receipt is gone; upload it again.")


@dataclass(frozen=True, slots=True)
class Tasks:
    """What is worked off, and with what."""

    database: Database
    blobs: Blobs
    pubsub: PubSub
    reader: Reader
    #: Told how long readings take.
    pace: MovingAverage
    #: Given what the org of a reading that begins or ends owes next.
    carrier: Enqueuer
    #: Whether the payment provider is told of what is billed.
    is_metered: bool = False
    #: What orgs may use.
    plans: Plans = SOLD
    #: Who may use the readers of this process; as many as tasks come unless it is told.
    shares: ReaderShares = field(default_factory=lambda: ReaderShares(_ANY_NUMBER))

    async def read(self, receipt_id: ReceiptId) -> None:
        """Read a receipt that owes a reading, again while attempts are left; tell; add the next.

        A task that is cancelled leaves the receipt as it found it. One whose org has a reader
        already leaves the last one to others, and comes again when another is free.
        """
        async with self.database.read() as session:
            pending = await readings.whose(session, receipt_id)
        if pending is not None and not await self._may_begin(receipt_id, *pending):
            return
        try:
            while not await self._attempt(receipt_id):
                pass
        finally:
            if pending is not None:
                self.shares.free(pending[0])
            await self.pubsub.publish(receipt_id)
        following = await self._next_of(receipt_id)
        await self.carrier.add_readings(self.shares.returned(following))

    async def _may_begin(self, receipt_id: ReceiptId, org_id: OrgId, accuracy: Accuracy) -> bool:
        """Take a reader, or note the receipt as one that waits for it."""
        # Asked before it is taken: nothing may come between the two looks.
        is_last = self.shares.has_only_the_last
        has_one = is_last and await self._has_one_elsewhere(org_id)
        if (not has_one or not self.shares.has_only_the_last) and self.shares.take(org_id):
            return True
        self.shares.turn_away(Job(receipt_id, accuracy))
        return False

    async def _has_one_elsewhere(self, org_id: OrgId) -> bool:
        async with self.database.read() as session:
            return await readings.has_running(session, org_id)

    async def _attempt(self, receipt_id: ReceiptId) -> bool:
        """Make one attempt; True when nothing is owed any more."""
        beginning = asyncio.create_task(self._begin(receipt_id))
        try:
            # An attempt whose number got lost on the way here would be used up.
            order = await asyncio.shield(beginning)
            if order is None:
                return True
            bound = {"receipt_id": receipt_id, "attempt": order.attempt}
            with structlog.contextvars.bound_contextvars(**bound):
                async with self._in_hand(order):
                    return await self._work_off(order)
        except asyncio.CancelledError:
            await self._hand_back(await beginning)
            raise

    async def _begin(self, receipt_id: ReceiptId) -> Order | None:
        async with self.database.write() as session:
            return await readings.begin(session, receipt_id)

    @contextlib.asynccontextmanager
    async def _in_hand(self, order: Order) -> AsyncIterator[None]:
        done = asyncio.Event()
        keeping = asyncio.create_task(self._keep(order, done))
        try:
            yield
        finally:
            done.set()
            await keeping

    async def _keep(self, order: Order, done: asyncio.Event) -> None:
        with contextlib.suppress(Exception):
            # The clockwork does it soon, too.
            await self.carrier.add_readings(await self._next_of(order.receipt_id))
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), _KEEP_SECONDS)
            if done.is_set():
                return
            try:
                async with self.database.write() as session:
                    await readings.renew(session, order)
            except Exception:
                # Others may take it then: it is read twice, and ended once.
                log.exception("a reading may slip out of hand")

    async def _next_of(self, receipt_id: ReceiptId) -> list[Job]:
        """Return what the receipt's org has now room for in the queue."""
        async with self.database.read() as session:
            return await fair_queue.next_batch_of_org(session, receipt_id, plans=self.plans)

    async def _hand_back(self, order: Order | None) -> None:
        if order is None:
            return
        async with self.database.write() as session:
            await readings.retry(session, order)

    async def _work_off(self, order: Order) -> bool:
        started = time.perf_counter()
        try:
            answer = await self._answer(order)
        except Overloaded:
            # The storage is away, which is no document's fault either; what is owed comes again.
            log.warning("a reading waits for the storage")
            async with self.database.write() as session:
                await readings.defer(session, order)
            return True
        seconds = time.perf_counter() - started
        self.pace.note(seconds)
        metrics.READING_SECONDS.labels(order.accuracy).observe(seconds)
        if isinstance(answer, Failure):
            return await self._refuse(order, answer)
        async with self.database.write() as session:
            await readings.complete(
                session, order, answer, is_metered=self.is_metered, plans=self.plans
            )
        metrics.READINGS.labels(order.accuracy, "completed").inc()
        return True

    async def _answer(self, order: Order) -> Receipt | Failure:
        async with self.blobs.local_file(order.receipt_id) as path:
            if path is None:
                return _FILE_GONE
            return await self.reader.read(
                path, hint=order.hint, accuracy=order.accuracy, time_limit_s=order.time_limit_s
            )

    async def _refuse(self, order: Order, failure: Failure) -> bool:
        """End the order unless another attempt may help; tell whether it ended."""
        log.warning("reading failed", kind=failure.kind, detail=failure.detail)
        metrics.READINGS.labels(order.accuracy, failure.kind).inc()
        is_final = failure.kind.is_the_documents_fault or order.is_last or failure is _FILE_GONE
        async with self.database.write() as session:
            if is_final:
                await readings.fail(session, order, _refusal(failure))
            else:
                await readings.release(session, order, is_breakdown=failure.kind in _BREAKDOWNS)
        return is_final


def _refusal(failure: Failure) -> Refusal:
    is_breakdown = failure.kind in _BREAKDOWNS
    return Refusal(FailureCode(failure.kind.code), failure.message, is_breakdown)
