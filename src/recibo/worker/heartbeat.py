"""Reports to all processes, every second, how many readers this one has and how fast they are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib import ids
from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import WorkerRegistry, WorkerStats
from recibo.worker import loops

_PERIOD_SECONDS = 1


@asynccontextmanager
async def sending_heartbeats(
    registry: WorkerRegistry, *, readers: int, reading_time: MovingAverage
) -> AsyncIterator[None]:
    """Keep this process in the registry while the block runs."""
    name = ids.new("worker")

    async def send() -> None:
        await registry.report(name, WorkerStats(readers, reading_time.mean_seconds))

    # Sent before the first request is served, so that the first upload counts these readers.
    await send()
    try:
        async with loops.repeating(send, _PERIOD_SECONDS):
            yield
    finally:
        await registry.remove(name)
