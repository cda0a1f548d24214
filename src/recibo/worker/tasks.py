"""The reading task: lease a receipt, read it outside any transaction, store the result, notify.

The task renews its lease while it reads. A cancelled task releases the receipt unread.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import structlog

from recibo.adapters.reader import Failure, FailureKind, Reader
from recibo.errors import Overloaded
from recibo.extract.model import Receipt
from recibo.lib.moving_average import MovingAverage
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import FailureCode
from recibo.services.reading import fair_queue, readings
from recibo.services.reading.extraction import Enqueuer
from recibo.services.reading.fair_queue import Job
from recibo.services.reading.readings import Order, Pending, Refusal
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.store.pubsub import PubSub
from recibo.worker import metrics
from recibo.worker.shares import ReaderShares

log = structlog.get_logger(__name__)

# A quarter of the lease, so that several late renewals do not lose it.
_RENEWAL_SECONDS = readings.LEASE.total_seconds() / 4
_BREAKDOWNS = (FailureKind.CRASHED, FailureKind.TIMED_OUT, FailureKind.OUT_OF_MEMORY)
_UNLIMITED = 2**31
_FILE_GONE = Failure(FailureKind.BROKEN, "The file of this receipt is gone; upload it again.")


@dataclass(frozen=True, slots=True)
class Tasks:
    """The reading task and what it needs."""

    database: Database
    blobs: Blobs
    pubsub: PubSub
    reader: Reader
    #: How long readings take.
    reading_time: MovingAverage
    #: Gets the org's next pending readings when one starts or ends.
    enqueuer: Enqueuer
    #: Whether usage is reported to the payment provider.
    is_metered: bool = False
    #: What orgs may use.
    plans: Plans = SOLD
    #: Assigns this process's readers to orgs; unlimited by default.
    shares: ReaderShares = field(default_factory=lambda: ReaderShares(_UNLIMITED))

    async def read(self, receipt_id: ReceiptId) -> None:
        """Read a pending receipt, retrying while attempts are left; notify; enqueue the next.

        A cancelled task leaves the receipt unchanged. If only the reserved reader is free and the
        receipt's org is using another, the task ends and is enqueued again when a reader is free.
        """
        pending = await readings.find_pending(self.database, receipt_id)
        if pending is not None and not await self._acquire_reader(receipt_id, pending):
            return
        try:
            # The periodic jobs and other uploads also enqueue, so a count that is old does no harm.
            has_others = pending is not None and pending.of_org > 1
            while not await self._attempt(receipt_id, has_others=has_others):
                pass
        finally:
            if pending is not None:
                self.shares.release(pending.org_id)
            await self.pubsub.publish(receipt_id)
        following = await self._next_of_org(receipt_id)
        await self.enqueuer.add_readings(self.shares.take_waiting(following))

    async def _acquire_reader(self, receipt_id: ReceiptId, pending: Pending) -> bool:
        """Take a reader, or postpone the receipt until one is free."""
        # Checked again after the query: other tasks may have taken a reader meanwhile.
        is_scarce = self.shares.has_only_reserved
        has_another = is_scarce and await self._has_running(pending.org_id)
        is_free = not has_another or not self.shares.has_only_reserved
        if is_free and self.shares.acquire(pending.org_id):
            return True
        self.shares.postpone(Job(receipt_id, pending.accuracy))
        return False

    async def _has_running(self, org_id: OrgId) -> bool:
        async with self.database.read() as session:
            return await readings.has_running(session, org_id)

    async def _attempt(self, receipt_id: ReceiptId, *, has_others: bool) -> bool:
        """Make one attempt; return True when the receipt is no longer pending."""
        starting = asyncio.create_task(self._start(receipt_id))
        try:
            # Shielded: a cancel here would use up an attempt whose number is unknown.
            order = await asyncio.shield(starting)
            if order is None:
                return True
            bound = {"receipt_id": receipt_id, "attempt": order.attempt}
            with structlog.contextvars.bound_contextvars(**bound):
                async with self._renewing_lease(order, has_others=has_others):
                    return await self._process(order)
        except asyncio.CancelledError:
            await self._return_unread(await starting)
            raise

    async def _start(self, receipt_id: ReceiptId) -> Order | None:
        async with self.database.write() as session:
            return await readings.start(session, receipt_id)

    @contextlib.asynccontextmanager
    async def _renewing_lease(self, order: Order, *, has_others: bool) -> AsyncIterator[None]:
        done = asyncio.Event()
        renewal = asyncio.create_task(self._renew_until(order, done, has_others=has_others))
        try:
            yield
        finally:
            done.set()
            await renewal

    async def _renew_until(self, order: Order, done: asyncio.Event, *, has_others: bool) -> None:
        with contextlib.suppress(Exception):
            # If this fails, a periodic job enqueues them soon.
            if has_others:
                await self.enqueuer.add_readings(await self._next_of_org(order.receipt_id))
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), _RENEWAL_SECONDS)
            if done.is_set():
                return
            try:
                async with self.database.write() as session:
                    await readings.renew(session, order)
            except Exception:
                # Another worker may lease it then: it is read twice, but completed once.
                log.exception("failed to renew the lease of a reading")

    async def _next_of_org(self, receipt_id: ReceiptId) -> list[Job]:
        """Return the pending readings of the receipt's org that fit into the queue now."""
        return await fair_queue.next_batch_of_org(self.database, receipt_id, plans=self.plans)

    async def _return_unread(self, order: Order | None) -> None:
        if order is None:
            return
        async with self.database.write() as session:
            await readings.retry(session, order)

    async def _process(self, order: Order) -> bool:
        """Read the document and record the result; return whether the reading has ended."""
        started = time.perf_counter()
        try:
            result = await self._read_file(order)
        except Overloaded:
            # The file storage is unreachable, so the attempt does not count.
            log.warning("a reading waits for the file storage")
            async with self.database.write() as session:
                await readings.defer(session, order)
            return True
        seconds = time.perf_counter() - started
        self.reading_time.add(seconds)
        metrics.READING_SECONDS.labels(order.accuracy).observe(seconds)
        if isinstance(result, Failure):
            return await self._record_failure(order, result)
        async with self.database.write() as session:
            await readings.complete(
                session, order, result, is_metered=self.is_metered, plans=self.plans
            )
        metrics.READINGS.labels(order.accuracy, "completed").inc()
        return True

    async def _read_file(self, order: Order) -> Receipt | Failure:
        async with self.blobs.local_file(order.receipt_id) as path:
            if path is None:
                return _FILE_GONE
            return await self.reader.read(
                path, hint=order.hint, accuracy=order.accuracy, time_limit_s=order.time_limit_s
            )

    async def _record_failure(self, order: Order, failure: Failure) -> bool:
        """End the order unless another attempt may help; return whether it ended."""
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
