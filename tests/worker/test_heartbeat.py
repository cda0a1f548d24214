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

    async def tell(self, name: str, crew: WorkerStats) -> None:
        await super().tell(name, crew)
        self.word.set()


async def test_crew_counts_from_the_start_to_the_end_at_its_pace_of_the_moment() -> None:
    crews, pace = Listening(), MovingAverage(2)
    async with heartbeat.sending_heartbeats(crews, readers=3, pace=pace):
        at_first = await crews.at_work()
        pace.note(12)
        # The word that was under way may be of before.
        for _ in range(2):
            crews.word.clear()
            await crews.word.wait()
        later = await crews.at_work()

    assert WorkerStats(3, 2) == at_first
    assert WorkerStats(3, 3) == later
    assert NO_WORKERS == await crews.at_work()


async def test_processes_count_each() -> None:
    crews = InMemory()
    async with (
        heartbeat.sending_heartbeats(crews, readers=3, pace=MovingAverage(2)),
        heartbeat.sending_heartbeats(crews, readers=1, pace=MovingAverage(2)),
    ):
        assert WorkerStats(4, 2) == await crews.at_work()
