"""A periodic job: its schedule, lock, time budget and metrics.

A shared job runs in one process at a time. A job stops when its budget is used up, or its process
stops, and continues at its next run.
"""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import structlog

from recibo.store.db import Database
from recibo.worker import loops, metrics

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Budget:
    """The time that is left for one run of a job."""

    seconds: float
    #: Ends the run early.
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _started: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        """Whether the job must stop; the next run does the rest."""
        return self.stopping.is_set() or time.monotonic() - self._started >= self.seconds


@dataclass(frozen=True, slots=True)
class Job:
    """A function that runs at a fixed interval."""

    #: The label in metrics, and the name of the lock and of the task.
    name: str
    every_seconds: float
    work: Callable[[Budget], Awaitable[None]]
    budget_seconds: float = 10
    #: Whether only one process at a time runs it; otherwise every process does.
    is_shared: bool = True

    async def run_once(self, database: Database, stopping: asyncio.Event | None = None) -> None:
        """Run the job now unless another process is running it; log and count a failure."""
        budget = Budget(self.budget_seconds, stopping or asyncio.Event())
        started = time.perf_counter()
        try:
            if not self.is_shared:
                await self.work(budget)
            else:
                async with database.advisory_lock(f"job:{self.name}") as is_acquired:
                    if not is_acquired:
                        return
                    await self.work(budget)
        except Exception:
            metrics.JOB_FAILURES.labels(self.name).inc()
            log.exception("a periodic job failed", job=self.name)
        else:
            metrics.JOB_SUCCESS.labels(self.name).set_to_current_time()
        metrics.JOB_SECONDS.labels(self.name).observe(time.perf_counter() - started)

    def repeating(
        self, database: Database, *, is_run_at_start: bool = False
    ) -> AbstractAsyncContextManager[None]:
        """Run the job at its interval while the block runs, in this process and without a queue."""
        run = functools.partial(self.run_once, database)
        return loops.repeating(run, self.every_seconds, is_run_at_start=is_run_at_start)
