"""Heartbeats of processes that read documents."""

import asyncio
from dataclasses import dataclass, field

from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import NO_WORKERS, InMemory, WorkerStats
from recibo.worker import heartbeat


@dataclass
class ListeningRegistry(InMemory):
    """A registry that sets an event at each heartbeat."""

    received: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        super().__init__()

    async def report(self, name: str, stats: WorkerStats) -> None:
        await super().report(name, stats)
        self.received.set()


async def test_worker_is_counted_while_it_runs_at_its_current_speed() -> None:
    registry, reading_time = ListeningRegistry(), MovingAverage(2)
    async with heartbeat.sending_heartbeats(registry, readers=3, reading_time=reading_time):
        at_first = await registry.combined_stats()
        reading_time.add(12)
        # The first heartbeat may have been sent before.
        for _ in range(2):
            registry.received.clear()
            await registry.received.wait()
        later = await registry.combined_stats()

    assert WorkerStats(3, 2) == at_first
    assert WorkerStats(3, 3) == later
    assert NO_WORKERS == await registry.combined_stats()


async def test_each_process_is_counted() -> None:
    registry = InMemory()
    async with (
        heartbeat.sending_heartbeats(registry, readers=3, reading_time=MovingAverage(2)),
        heartbeat.sending_heartbeats(registry, readers=1, reading_time=MovingAverage(2)),
    ):
        assert WorkerStats(4, 2) == await registry.combined_stats()
