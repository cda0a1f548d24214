"""Tells all processes, each second, that this one reads: how many at once, and how fast."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib import ids
from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import WorkerRegistry, WorkerStats
from recibo.worker import poll_loop


@asynccontextmanager
async def sending_heartbeats(
    crews: WorkerRegistry, *, readers: int, pace: MovingAverage
) -> AsyncIterator[None]:
    """Be counted as a crew while the block lasts."""
    name = ids.new("crew")

    async def tell(*_: object) -> bool:
        await crews.tell(name, WorkerStats(readers, pace.mean_seconds))
        return False

    # Before anything is served: an upload that comes first knows of it, too.
    await tell()
    try:
        async with poll_loop.poll("presence", tell):
            yield
    finally:
        await crews.leave(name)
