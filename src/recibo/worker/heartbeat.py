"""Tells all processes, each second, that this one reads: how many at once, and how fast."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib import ids
from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import WorkerRegistry, WorkerStats
from recibo.worker import poll_loop


@asynccontextmanager
async def sending_heartbeats(
    workers: WorkerRegistry, *, readers: int, pace: MovingAverage
) -> AsyncIterator[None]:
    """Report the readers of this process while the block lasts."""
    name = ids.new("worker")

    async def report(*_: object) -> bool:
        await workers.report(name, WorkerStats(readers, pace.mean_seconds))
        return False

    # Before anything is served: an upload that comes first knows of it, too.
    await report()
    try:
        async with poll_loop.poll("heartbeat", report):
            yield
    finally:
        await workers.remove(name)
