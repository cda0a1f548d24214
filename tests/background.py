"""Runs background work as a worker process does: a sweeper, and a queue in memory."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Sequence

import pytest

from recibo.lib import ids
from recibo.store.db import Database
from recibo.worker import task_queue
from recibo.worker.jobs import Job
from recibo.worker.task_queue import BackgroundWork

# What is due is looked for as often; a service does so every second.
_SOON = dt.timedelta(seconds=0.05)


@contextlib.asynccontextmanager
async def running(
    database: Database, *kinds: BackgroundWork, upkeep: Sequence[Job] = (), url: str = ""
) -> AsyncIterator[None]:
    """Run these kinds of work and periodic jobs while the block runs."""
    url = url or f"memory://{ids.new('queue')}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(task_queue, "_SWEEP_SECONDS", _SOON.total_seconds())
        patched.setattr(task_queue, "_SCHEDULING_INTERVAL", _SOON)
        async with (
            task_queue.open_background_queue(url) as queue,
            queue.working_in_background(kinds, upkeep, database),
        ):
            yield
