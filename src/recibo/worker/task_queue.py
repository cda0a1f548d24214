"""The task queue: docket, in this process's memory or over Redis.

The database is the source of truth for pending work. So docket's retries are off, and what the
queue loses is enqueued again. Only this module calls docket; `json_messages.py` replaces its
serializer.

There are two queues: readings, as many at once as a process has readers, and background work.
Neither waits for the other, and a slow mail server keeps no reader from its next document.
"""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Protocol

import structlog
from docket import Docket, Perpetual, Worker
from docket.execution import TaskCall

from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import readings
from recibo.services.reading.fair_queue import Job
from recibo.store.db import Database
from recibo.store.redis_client import CircuitBreaker
from recibo.worker import jobs, json_messages, loops

log = structlog.get_logger(__name__)

_READ = "read"
_NAME = "recibo"
_BACKGROUND_NAME = "recibo-background"
# With docket's default of 250 ms a busy worker starts only four tasks per second and slot; an idle
# one that looks every 10 ms takes 5% of a core.
_CHECK_INTERVAL = dt.timedelta(milliseconds=25)
# Workers of background work are never busy: this is how long one that stops waits for messages.
_BACKGROUND_CHECK_INTERVAL = dt.timedelta(milliseconds=50)
# Each queue starts scheduled tasks this often; only periodic jobs are scheduled.
_SCHEDULING_INTERVAL = dt.timedelta(seconds=1)
# How often the rows that are due are enqueued; a key that is queued or running does not change.
_SWEEP_SECONDS = 1
# More than a sweep enqueues, so that no kind of work waits for another.
_BACKGROUND_CONCURRENCY = 512
# A dead worker's task is redelivered after this time; a live worker renews it. It is longer than
# the lease of the reading: a task that came sooner would find nothing to start.
_REDELIVERY = readings.LEASE + dt.timedelta(seconds=1)
# How long background work in progress may take to end when a worker stops.
_LAST_RUN_SECONDS = 10
_HASTENING_SECONDS = 0.005
_RESTART_DELAY_SECONDS = 1
_RECONNECTION_DELAY = dt.timedelta(seconds=_RESTART_DELAY_SECONDS)
# Uploads wait for the queue, and docket itself has no timeout for a Redis that hangs.
_TIMEOUT_SECONDS = 2.0


class BackgroundWork(Protocol):
    """One kind of background work, whose pending rows are in the database."""

    #: The name of its tasks.
    name: ClassVar[str]

    async def due_keys(self) -> Sequence[str]:
        """Return the keys of the tasks that are due."""

    async def work(self, key: str, stopping: asyncio.Event) -> None:
        """Run one task; start nothing new once the event is set."""


class TaskQueue:
    """Enqueues tasks and, in a worker process, runs them."""

    def __init__(self, docket: Docket, url: str) -> None:
        self._docket = docket
        self._is_in_memory = url.startswith("memory:")
        # A queue in memory is always reachable; on a busy machine a timeout would only do harm.
        self._timeout_seconds = None if self._is_in_memory else _TIMEOUT_SECONDS
        self._breaker = CircuitBreaker("the queue is unreachable; pending work waits")

    async def add_readings(self, jobs: Sequence[Job]) -> None:
        """Enqueue readings; one that is queued or running is not added again.

        While the queue is unreachable nothing is added; the periodic jobs enqueue them later.
        """
        await self._add([self._reading(one) for one in jobs])

    async def is_alive(self) -> bool:
        """Return whether the queue answers."""
        async with self._docket.redis() as redis:
            await redis.exists(_NAME)
        return True

    @contextlib.asynccontextmanager
    async def working(
        self, read: Callable[[ReceiptId], Awaitable[None]], *, concurrency: int
    ) -> AsyncIterator[None]:
        """Read documents while the block runs, then cancel and enqueue again those in progress."""
        run, unfinished = _Run(), list[Job]()

        async def task(receipt_id: str, accuracy: str) -> None:
            job = Job(ReceiptId(receipt_id), Accuracy(accuracy))
            if not await run.finish(lambda: read(job.receipt_id)):
                unfinished.append(job)

        self._docket.register(task, names=[_READ])
        async with self._worker(run, concurrency=concurrency, check_interval=_CHECK_INTERVAL):
            yield
        await self.add_readings(unfinished)

    @contextlib.asynccontextmanager
    async def working_in_background(
        self, kinds: Sequence[BackgroundWork], upkeep: Iterable[jobs.Job], database: Database
    ) -> AsyncIterator[None]:
        """Run background work and periodic jobs while the block runs; wait briefly for the last."""

        async def sweep() -> None:
            for kind in kinds:
                keys = await kind.due_keys()
                await self._add(
                    [self._docket.call(kind.name, key=f"{kind.name}:{key}")(key) for key in keys]
                )

        run = _Run(_LAST_RUN_SECONDS)
        for kind in kinds:
            self._docket.register(_work_task(kind, run), names=[kind.name])
        for job in upkeep:
            self._docket.register(_job_task(job, run, database))
        worker = self._worker(
            run, concurrency=_BACKGROUND_CONCURRENCY, check_interval=_BACKGROUND_CHECK_INTERVAL
        )
        # The worker ends first: it starts nothing more while the last sweep goes on.
        async with loops.repeating(sweep, _SWEEP_SECONDS), worker:
            yield

    def _reading(self, job: Job) -> TaskCall:
        # With the accuracy: a second reading may be ordered before the first task has ended.
        key = f"{_READ}:{job.receipt_id}:{job.accuracy}"
        if job.repetition:
            key += f":{job.repetition}"
        return self._docket.call(_READ, key=key)(job.receipt_id, job.accuracy.value)

    async def _add(self, calls: Sequence[TaskCall]) -> None:
        if not calls or self._breaker.is_open:
            return
        with self._breaker.watching():
            async with asyncio.timeout(self._timeout_seconds):
                added = await self._docket.add_many(calls)
            for refusal in (one.schedule_exception for one in added):
                if isinstance(refusal, Exception):
                    self._breaker.trip(refusal)

    @contextlib.asynccontextmanager
    async def _worker(
        self, run: "_Run", *, concurrency: int, check_interval: dt.timedelta
    ) -> AsyncIterator[None]:
        async with Worker(
            self._docket,
            concurrency=concurrency,
            minimum_check_interval=check_interval,
            scheduling_resolution=_SCHEDULING_INTERVAL,
            redelivery_timeout=_REDELIVERY,
            reconnection_delay=_RECONNECTION_DELAY,
        ) as worker:
            runner = asyncio.create_task(_run(worker, run))
            try:
                yield
            finally:
                # Leaving its context stops the worker: its in-memory queue ignores a cancel.
                await run.end()
                hastening = asyncio.create_task(self._hasten(runner))
        await runner
        await hastening

    async def _hasten(self, runner: asyncio.Task[None]) -> None:
        """Wake docket's listener for cancellations, which looks for the end every 100 ms only."""
        while self._is_in_memory and not runner.done():
            await self._docket.cancel("nothing")
            await asyncio.sleep(_HASTENING_SECONDS)


@contextlib.asynccontextmanager
async def open_queue(url: str) -> AsyncIterator[TaskQueue]:
    """Open the queue of readings at a URL: `memory://NAME` or `redis://…`."""
    async with _open(_NAME, url) as docket:
        # A process that only enqueues tasks must register their name, too.
        docket.register(_read_elsewhere, names=[_READ])
        yield TaskQueue(docket, url)


@contextlib.asynccontextmanager
async def open_background_queue(url: str) -> AsyncIterator[TaskQueue]:
    """Open the queue of background work at a URL: `memory://NAME` or `redis://…`."""
    async with _open(_BACKGROUND_NAME, url) as docket:
        yield TaskQueue(docket, url)


def _open(name: str, url: str) -> Docket:
    json_messages.use_json()
    return Docket(name=name, url=url)


async def _read_elsewhere(receipt_id: str, accuracy: str) -> None:
    message = f"{receipt_id} ({accuracy}) reached a process that runs no worker"
    raise RuntimeError(message)


def _work_task(kind: BackgroundWork, run: "_Run") -> Callable[[str], Awaitable[None]]:
    async def task(key: str) -> None:
        await run.finish(lambda: kind.work(key, run.has_ended))

    return task


class _AfterInterval(Perpetual):
    """Repeats a task; the first run comes after one interval, so that a start stays cheap."""

    @property
    def initial_when(self) -> dt.datetime:
        return clock.now() + self.every


def _job_task(job: jobs.Job, run: "_Run", database: Database) -> Callable[..., Awaitable[None]]:
    # docket adds the task at the start, and again every minute if Redis has lost it.
    schedule = _AfterInterval(dt.timedelta(seconds=job.every_seconds), automatic=True)

    async def task(_: Perpetual = schedule) -> None:
        await run.finish(partial(job.run_once, database, run.has_ended))

    task.__name__ = job.name
    return task


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

    def __init__(self, grace_seconds: float = 0) -> None:
        self._grace_seconds = grace_seconds
        self._running = set[asyncio.Task[None]]()
        self.has_ended = asyncio.Event()

    async def end(self) -> None:
        """Start no more tasks; cancel those that are still running after the grace period."""
        self.has_ended.set()
        if self._running and self._grace_seconds:
            await asyncio.wait(self._running, timeout=self._grace_seconds)
        for task in self._running:
            task.cancel()

    async def finish(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Run a task; False if it was not finished because the worker has ended.

        Hides the cancellation from docket, which would keep the task otherwise.
        """
        if self.has_ended.is_set():
            return False
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - a coroutine always runs in a task
        self._running.add(this)
        try:
            await work()
        except asyncio.CancelledError:
            if not self.has_ended.is_set():
                raise
            this.uncancel()
            return False
        finally:
            self._running.discard(this)
        return True
