"""The engine that carries tasks: docket, in this process's memory or over Redis.

The database holds what is owed; the engine only carries it. So its own retries are off, and what
it loses is added again by the clockwork. All calls to docket stand in this file; how it writes its
messages, in `queue_messages.py`.
"""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog
from docket import Docket, Worker
from docket.execution import TaskCall
from redis.exceptions import RedisError

from recibo.extract.model import Accuracy
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import readings
from recibo.services.reading.fair_queue import Job
from recibo.store.redis_client import CircuitBreaker
from recibo.worker import json_messages

log = structlog.get_logger(__name__)

_READ = "read"
_NAME = "recibo"
# Docket's default of 250 ms lets a busy worker start only four tasks a second and slot.
_CHECK_INTERVAL = dt.timedelta(milliseconds=10)
# A dead worker's task comes again after so long; a living one renews it. By then its reading is out
# of hand as well: sooner, the task would find nothing to begin, and wait for the clockwork.
_REDELIVERY = readings.LEASE + dt.timedelta(seconds=1)
_RESTART_DELAY_SECONDS = 1
_RECONNECTION_DELAY = dt.timedelta(seconds=_RESTART_DELAY_SECONDS)
# An upload waits for it; docket would wait for a Redis that hangs as long as that hangs.
_PATIENCE_SECONDS = 2.0


class TaskQueue:
    """Adds tasks and, where this process works, runs them."""

    def __init__(self, docket: Docket, *, patience_seconds: float | None = None) -> None:
        self._docket = docket
        self._patience_seconds = patience_seconds
        self._breaker = CircuitBreaker("the queue is out of reach; what is owed waits")

    async def add_readings(self, owed: Sequence[Job]) -> None:
        """Have receipts read soon; a reading that is queued or under way is not added again.

        When the queue is out of reach they wait: what is owed is added again by itself.
        """
        if not owed or self._breaker.is_open:
            return
        try:
            async with asyncio.timeout(self._patience_seconds):
                added = await self._docket.add_many(self._call(one) for one in owed)
        except (RedisError, OSError) as e:
            self._breaker.trip(e)
            return
        for refusal in (one.schedule_exception for one in added):
            if isinstance(refusal, Exception):
                self._breaker.trip(refusal)

    def _call(self, owed: Job) -> TaskCall:
        # With the accuracy: a second reading may be owed before the task of the first has ended.
        key = f"{_READ}:{owed.receipt_id}:{owed.accuracy}"
        if owed.repetition:
            key += f":{owed.repetition}"
        return self._docket.call(_READ, key=key)(owed.receipt_id, owed.accuracy.value)

    async def is_alive(self) -> bool:
        """Tell whether the queue answers."""
        async with self._docket.redis() as redis:
            await redis.exists(_NAME)
        return True

    @contextlib.asynccontextmanager
    async def working(
        self, read: Callable[[ReceiptId], Awaitable[None]], *, concurrency: int
    ) -> AsyncIterator[None]:
        """Run tasks while the block lasts; those that run at its end are cancelled.

        What they were about is added again, for others that work.
        """
        shift = _Shift(read)
        self._docket.register(shift.task, names=[_READ])
        async with Worker(
            self._docket,
            concurrency=concurrency,
            minimum_check_interval=_CHECK_INTERVAL,
            scheduling_resolution=_CHECK_INTERVAL,
            redelivery_timeout=_REDELIVERY,
            reconnection_delay=_RECONNECTION_DELAY,
        ) as worker:
            runner = asyncio.create_task(_run(worker, shift))
            try:
                yield
            finally:
                # The worker is stopped by leaving it: its in-memory queue swallows a cancel.
                shift.end()
        await runner
        await self.add_readings(shift.left)


@contextlib.asynccontextmanager
async def open_queue(url: str) -> AsyncIterator[TaskQueue]:
    """Open the engine at a URL: `memory://NAME` or `redis://…`."""
    json_messages.use_json()
    async with Docket(name=_NAME, url=url) as docket:
        # A process that only adds tasks must know their name, too.
        docket.register(_Shift(_read_elsewhere).task, names=[_READ])
        # In memory nothing is out of reach, and a machine that is busy is no reason to give up.
        is_in_memory = url.startswith("memory:")
        yield TaskQueue(docket, patience_seconds=None if is_in_memory else _PATIENCE_SECONDS)


async def _read_elsewhere(receipt_id: ReceiptId) -> None:
    message = f"{receipt_id} came to a process that does not work"
    raise RuntimeError(message)


async def _run(worker: Worker, shift: "_Shift") -> None:
    """Work until the worker is left; it rides out failures of Redis itself."""
    while not shift.over.is_set():
        try:
            await worker.run_forever()
        except Exception:
            log.exception("the queue failed; starting again")
            await asyncio.sleep(_RESTART_DELAY_SECONDS)
        else:
            return


class _Shift:
    """What one worker runs between its start and its end."""

    def __init__(self, read: Callable[[ReceiptId], Awaitable[None]]) -> None:
        self._read = read
        self._running = set[asyncio.Task[None]]()
        self.over = asyncio.Event()
        #: What came too late, or was cancelled.
        self.left = list[Job]()

    def end(self) -> None:
        """Cancel what runs, and run nothing more."""
        self.over.set()
        for task in self._running:
            task.cancel()

    async def task(self, receipt_id: str, accuracy: str) -> None:
        """Run one task; docket is never told that one was cancelled, or it would keep it."""
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - a coroutine always runs in a task
        owed = Job(ReceiptId(receipt_id), Accuracy(accuracy))
        if self.over.is_set():
            self.left.append(owed)
            return
        self._running.add(this)
        try:
            await self._read(owed.receipt_id)
        except asyncio.CancelledError:
            if not self.over.is_set():
                raise
            this.uncancel()
            self.left.append(owed)
        finally:
            self._running.discard(this)
