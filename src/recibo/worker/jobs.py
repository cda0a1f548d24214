"""Periodic jobs: each has its own loop, schedule, lock and time budget.

So a slow or failing job does not delay the others. A shared job runs in one process at a time. A
job stops when its budget is used up and continues at its next run.
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

# The last run may finish: cancelling a statement leaves its connection in an unknown state.
_LAST_RUN_SECONDS = 10


@dataclass(slots=True)
class Budget:
    """The time that is left for one run of a job."""

    seconds: float
    _started: float = field(default_factory=time.monotonic)
    _is_ended: bool = False

    @property
    def is_spent(self) -> bool:
        """Whether the job must stop; the next run does the rest."""
        return self._is_ended or time.monotonic() - self._started >= self.seconds

    def end(self) -> None:
        """Stop the job after its current batch."""
        self._is_ended = True


@dataclass(frozen=True, slots=True)
class Job:
    """A function that runs at a fixed interval."""

    #: The label in metrics and the name of the lock.
    name: str
    every_seconds: float
    work: Callable[[Budget], Awaitable[None]]
    budget_seconds: float = 10
    #: Whether only one process at a time runs it; otherwise every process does.
    is_shared: bool = True

    async def run_once(self, database: Database, budget: Budget | None = None) -> None:
        """Run the job now unless another process is running it; log and count a failure."""
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
            metrics.JOB_FAILURES.labels(self.name).inc()
            log.exception("a periodic job failed", job=self.name)
        else:
            metrics.JOB_SUCCESS.labels(self.name).set_to_current_time()
        metrics.JOB_SECONDS.labels(self.name).observe(time.perf_counter() - started)

    @contextlib.asynccontextmanager
    async def running(self, database: Database) -> AsyncIterator[None]:
        """Run the job at its interval while the block runs; wait briefly for the last run."""
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
