"""The task queue: docket, in this process's memory or over Redis.

The database is the source of truth for pending work. So docket's retries are off, and the periodic
jobs enqueue again what the queue loses. Only this module calls docket; `json_messages.py`
replaces its serializer.
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
# With docket's default of 250 ms a busy worker starts only four tasks per second and slot.
_CHECK_INTERVAL = dt.timedelta(milliseconds=10)
# A dead worker's task is redelivered after this time; a live worker renews it. It is longer than
# the lease of the reading: a task that came sooner would find nothing to start.
_REDELIVERY = readings.LEASE + dt.timedelta(seconds=1)
_RESTART_DELAY_SECONDS = 1
_RECONNECTION_DELAY = dt.timedelta(seconds=_RESTART_DELAY_SECONDS)
# Uploads wait for the queue, and docket itself has no timeout for a Redis that hangs.
_TIMEOUT_SECONDS = 2.0


class TaskQueue:
    """Enqueues tasks and, in a worker process, runs them."""

    def __init__(self, docket: Docket, *, timeout_seconds: float | None = None) -> None:
        self._docket = docket
        self._timeout_seconds = timeout_seconds
        self._breaker = CircuitBreaker("the queue is unreachable; pending work waits")

    async def add_readings(self, jobs: Sequence[Job]) -> None:
        """Enqueue readings; one that is queued or running is not added again.

        While the queue is unreachable nothing is added; the periodic jobs enqueue them later.
        """
        if not jobs or self._breaker.is_open:
            return
        try:
            async with asyncio.timeout(self._timeout_seconds):
                added = await self._docket.add_many(self._call(one) for one in jobs)
        except (RedisError, OSError) as e:
            self._breaker.trip(e)
            return
        for refusal in (one.schedule_exception for one in added):
            if isinstance(refusal, Exception):
                self._breaker.trip(refusal)

    def _call(self, job: Job) -> TaskCall:
        # With the accuracy: a second reading may be ordered before the first task has ended.
        key = f"{_READ}:{job.receipt_id}:{job.accuracy}"
        if job.repetition:
            key += f":{job.repetition}"
        return self._docket.call(_READ, key=key)(job.receipt_id, job.accuracy.value)

    async def is_alive(self) -> bool:
        """Return whether the queue answers."""
        async with self._docket.redis() as redis:
            await redis.exists(_NAME)
        return True

    @contextlib.asynccontextmanager
    async def working(
        self, read: Callable[[ReceiptId], Awaitable[None]], *, concurrency: int
    ) -> AsyncIterator[None]:
        """Run tasks while the block runs, then cancel and enqueue again those still running."""
        run = _Run(read)
        self._docket.register(run.task, names=[_READ])
        async with Worker(
            self._docket,
            concurrency=concurrency,
            minimum_check_interval=_CHECK_INTERVAL,
            scheduling_resolution=_CHECK_INTERVAL,
            redelivery_timeout=_REDELIVERY,
            reconnection_delay=_RECONNECTION_DELAY,
        ) as worker:
            runner = asyncio.create_task(_run(worker, run))
            try:
                yield
            finally:
                # Leaving its context stops the worker: its in-memory queue ignores a cancel.
                run.end()
        await runner
        await self.add_readings(run.unfinished)


@contextlib.asynccontextmanager
async def open_queue(url: str) -> AsyncIterator[TaskQueue]:
    """Open the queue at a URL: `memory://NAME` or `redis://…`."""
    json_messages.use_json()
    async with Docket(name=_NAME, url=url) as docket:
        # A process that only enqueues tasks must register their name, too.
        docket.register(_Run(_read_elsewhere).task, names=[_READ])
        # A queue in memory is always reachable; on a busy machine a timeout would only do harm.
        is_in_memory = url.startswith("memory:")
        yield TaskQueue(docket, timeout_seconds=None if is_in_memory else _TIMEOUT_SECONDS)


async def _read_elsewhere(receipt_id: ReceiptId) -> None:
    message = f"{receipt_id} reached a process that runs no worker"
    raise RuntimeError(message)


async def _run(worker: Worker, run: "_Run") -> None:
    """Run the worker until its context ends; docket itself survives failures of Redis."""
    while not run.has_ended.is_set():
        try:
            await worker.run_forever()
        except Exception:
            log.exception("the queue failed; restarting")
            await asyncio.sleep(_RESTART_DELAY_SECONDS)
        else:
            return


class _Run:
    """The tasks of one worker, from its start to its end."""

    def __init__(self, read: Callable[[ReceiptId], Awaitable[None]]) -> None:
        self._read = read
        self._running = set[asyncio.Task[None]]()
        self.has_ended = asyncio.Event()
        #: Jobs that arrived after the end, or were cancelled by it.
        self.unfinished = list[Job]()

    def end(self) -> None:
        """Cancel running tasks and start no more."""
        self.has_ended.set()
        for task in self._running:
            task.cancel()

    async def task(self, receipt_id: str, accuracy: str) -> None:
        """Run one task; hide a cancellation from docket, which would keep the task otherwise."""
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - a coroutine always runs in a task
        job = Job(ReceiptId(receipt_id), Accuracy(accuracy))
        if self.has_ended.is_set():
            self.unfinished.append(job)
            return
        self._running.add(this)
        try:
            await self._read(job.receipt_id)
        except asyncio.CancelledError:
            if not self.has_ended.is_set():
                raise
            this.uncancel()
            self.unfinished.append(job)
        finally:
            self._running.discard(this)
