"""What a process that reads tells of itself."""

import asyncio
from dataclasses import dataclass, field

from recibo.lib.moving_average import MovingAverage
from recibo.store.worker_registry import NO_WORKERS, InMemory, WorkerStats
from recibo.worker import heartbeat


@dataclass
class Listening(InMemory):
    """Crews that wake whoever waits for the next word."""

    word: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        super().__init__()

    async def report(self, name: str, stats: WorkerStats) -> None:
        await super().report(name, stats)
        self.word.set()


async def test_crew_counts_from_the_start_to_the_end_at_its_pace_of_the_moment() -> None:
    workers, pace = Listening(), MovingAverage(2)
    async with heartbeat.sending_heartbeats(workers, readers=3, pace=pace):
        at_first = await workers.combined_stats()
        pace.note(12)
        # The word that was under way may be of before.
        for _ in range(2):
            workers.word.clear()
            await workers.word.wait()
        later = await workers.combined_stats()

    assert WorkerStats(3, 2) == at_first
    assert WorkerStats(3, 3) == later
    assert NO_WORKERS == await workers.combined_stats()


async def test_processes_count_each() -> None:
    workers = InMemory()
    async with (
        heartbeat.sending_heartbeats(workers, readers=3, pace=MovingAverage(2)),
        heartbeat.sending_heartbeats(workers, readers=1, pace=MovingAverage(2)),
    ):
        assert WorkerStats(4, 2) == await workers.combined_stats()
