"""Reports to all processes, every second, how many readers this one has and how fast they are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib import ids
from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import WorkerRegistry, WorkerStats
from recibo.worker import poll_loop


@asynccontextmanager
async def sending_heartbeats(
    registry: WorkerRegistry, *, readers: int, reading_time: MovingAverage
) -> AsyncIterator[None]:
    """Keep this process in the registry while the block runs."""
    name = ids.new("worker")

    async def send(*_: object) -> bool:
        await registry.report(name, WorkerStats(readers, reading_time.mean_seconds))
        return False

    # Sent before the first request is served, so that the first upload counts these readers.
    await send()
    try:
        async with poll_loop.poll("heartbeat", send):
            yield
    finally:
        await registry.remove(name)
