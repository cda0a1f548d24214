"""What a task does: begin, read outside any transaction, end, tell."""

import time
from dataclasses import dataclass

import structlog

from recibo.extract.model import Receipt
from recibo.kit.pace import Pace
from recibo.outside.reader import Failure, FailureKind, Reader
from recibo.services.reading import readings
from recibo.services.reading.readings import Order, Refusal
from recibo.shapes.ids import ReceiptId
from recibo.shapes.states import FailureCode
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.store.signals import Signals
from recibo.worker import metrics

log = structlog.get_logger(__name__)

_FILE_GONE = Failure(FailureKind.BROKEN, "The file of this receipt is gone; upload it again.")


@dataclass(frozen=True, slots=True)
class Tasks:
    """What is worked off, and with what."""

    database: Database
    blobs: Blobs
    signals: Signals
    reader: Reader
    #: Told how long readings take.
    pace: Pace
    #: Whether the payment provider is told of what is billed.
    is_metered: bool = False

    async def read(self, receipt_id: ReceiptId) -> None:
        """Read a receipt that owes a reading, again while attempts are left; then tell."""
        try:
            while not await self._attempt(receipt_id):
                pass
        finally:
            await self.signals.tell(receipt_id)

    async def _attempt(self, receipt_id: ReceiptId) -> bool:
        """Make one attempt; True when nothing is owed any more."""
        async with self.database.write() as session:
            order = await readings.begin(session, receipt_id)
        if order is None:
            return True
        with structlog.contextvars.bound_contextvars(receipt_id=receipt_id, attempt=order.attempt):
            return await self._work_off(order)

    async def _work_off(self, order: Order) -> bool:
        started = time.perf_counter()
        answer = await self._answer(order)
        seconds = time.perf_counter() - started
        self.pace.note(seconds)
        metrics.READING_SECONDS.labels(order.accuracy).observe(seconds)
        if isinstance(answer, Failure):
            return await self._refuse(order, answer)
        async with self.database.write() as session:
            await readings.complete(session, order, answer, is_metered=self.is_metered)
        metrics.READINGS.labels(order.accuracy, "completed").inc()
        return True

    async def _answer(self, order: Order) -> Receipt | Failure:
        path = await self.blobs.path(order.receipt_id)
        if path is None:
            return _FILE_GONE
        return await self.reader.read(
            path, hint=order.hint, accuracy=order.accuracy, time_limit_s=order.time_limit_s
        )

    async def _refuse(self, order: Order, failure: Failure) -> bool:
        """End the order unless another attempt may help; tell whether it ended."""
        log.warning("reading failed", kind=failure.kind, detail=failure.detail)
        metrics.READINGS.labels(order.accuracy, failure.kind).inc()
        if not (failure.kind.is_the_documents_fault or order.is_last or failure is _FILE_GONE):
            return False
        async with self.database.write() as session:
            await readings.fail(session, order, _refusal(failure))
        return True


def _refusal(failure: Failure) -> Refusal:
    return Refusal(FailureCode(failure.kind.code), failure.message)
