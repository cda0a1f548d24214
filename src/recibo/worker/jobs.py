"""Periodic jobs: each has a loop, a schedule, a lock and a time budget of its own.

So one that takes long, or fails, delays none of the others. Of all processes one at a time runs a
job, unless each process must; a job stops when its budget is spent, and goes on at its next run.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from recibo.store.db import Database
from recibo.worker import metrics

log = structlog.get_logger(__name__)

# A statement that is cancelled leaves its connection in the middle of it.
_LAST_RUN_SECONDS = 10


@dataclass(slots=True)
class Budget:
    """How much time a run of a job has left."""

    seconds: float
    _started: float = field(default_factory=time.monotonic)
    _is_ended: bool = False

    @property
    def is_spent(self) -> bool:
        """Whether the job has to stop; what is left waits for the next run."""
        return self._is_ended or time.monotonic() - self._started >= self.seconds

    def end(self) -> None:
        """Have the job stop after the portion that it is at."""
        self._is_ended = True


@dataclass(frozen=True, slots=True)
class Job:
    """Something that is due every so often."""

    #: What its metrics and its lock go by.
    name: str
    every_seconds: float
    work: Callable[[Budget], Awaitable[None]]
    budget_seconds: float = 10
    #: Whether one process at a time runs it, whichever comes first; else every process does.
    is_shared: bool = True

    async def run_once(self, database: Database, budget: Budget | None = None) -> None:
        """Run it now, unless another process does; a failure is logged and counted."""
        budget = budget or Budget(self.budget_seconds)
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
            # The next run tries again.
            metrics.JOB_FAILURES.labels(self.name).inc()
            log.exception("a periodic job failed", job=self.name)
        else:
            metrics.JOB_SUCCESS.labels(self.name).set_to_current_time()
        metrics.JOB_SECONDS.labels(self.name).observe(time.perf_counter() - started)

    @contextlib.asynccontextmanager
    async def running(self, database: Database) -> AsyncIterator[None]:
        """Run it now and then while the block lasts; a run under way is ended, if it ends soon."""
        stopping = asyncio.Event()
        budgets = list[Budget]()
        loop = asyncio.create_task(self._run(database, stopping, budgets))
        try:
            yield
        finally:
            stopping.set()
            for budget in budgets:
                budget.end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(loop, _LAST_RUN_SECONDS)

    async def _run(
        self, database: Database, stopping: asyncio.Event, budgets: list[Budget]
    ) -> None:
        while not stopping.is_set():
            budgets[:] = [Budget(self.budget_seconds)]
            await self.run_once(database, budgets[0])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), self.every_seconds)
