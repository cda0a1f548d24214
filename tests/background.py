"""Runs background work as a worker process does: a sweeper, and a queue in memory."""

import contextlib
from collections.abc import AsyncIterator, Sequence

import pytest

from recibo.lib import ids
from recibo.store.db import Database
from recibo.worker import task_queue
from recibo.worker.jobs import Job
from recibo.worker.task_queue import BackgroundWork


@contextlib.asynccontextmanager
async def running(
    database: Database, *kinds: BackgroundWork, upkeep: Sequence[Job] = (), url: str = ""
) -> AsyncIterator[None]:
    """Run these kinds of work and periodic jobs while the block runs."""
    url = url or f"memory://{ids.new('queue')}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(task_queue, "_SWEEP_SECONDS", 0.05)
        async with (
            task_queue.open_background_queue(url) as queue,
            queue.working_in_background(kinds, upkeep, database),
        ):
            yield
