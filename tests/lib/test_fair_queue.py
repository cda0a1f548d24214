"""The fair queue: its limits, and which requests it rejects."""

import asyncio

import pytest

from recibo.lib.fair_queue import FairQueue, QueueFullError


class Bench:
    """Clients of a queue whose slots the test gives back."""

    def __init__(self, *, slots: int = 1, capacity: int = 4, longest_wait_s: float = 60) -> None:
        self.queue = FairQueue(
            slots, longest_wait_s=longest_wait_s, assumed_s=longest_wait_s * slots / capacity
        )
        #: The clients that got a slot, in order.
        self.served = list[str]()
        #: The refused clients, with the seconds to wait.
        self.refused = dict[str, int]()
        self._ends = dict[str, asyncio.Event]()
        self._tasks = list[asyncio.Task[None]]()

    async def come(self, *names: str) -> None:
        """Have requests come one after the other; of `a1` the client is `a`."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks.append(asyncio.create_task(self._request(name)))
            await _settled()

    async def end(self, *names: str) -> None:
        """Give the slots of requests back."""
        for name in names:
            self._ends[name].set()
            await _settled()

    async def leave(self, name: str) -> None:
        """Cancel a request."""
        self._tasks[list(self._ends).index(name)].cancel()
        await _settled()

    async def end_and_leave(self, ended: str, cancelled: str, *, at_once: bool = False) -> None:
        """Give a slot back and cancel the request that gets it, before it runs on."""
        self._ends[ended].set()
        if not at_once:
            await asyncio.sleep(0)
        await self.leave(cancelled)

    async def gone(self, name: str) -> None:
        """Wait until a request has ended."""
        await self._tasks[list(self._ends).index(name)]

    async def over(self) -> None:
        """End all that there is."""
        for event in self._ends.values():
            event.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _request(self, name: str) -> None:
        try:
            async with self.queue.slot(name[0]):
                self.served.append(name)
                await self._ends[name].wait()
        except QueueFullError as e:
            self.refused[name] = e.retry_after_s


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_free_slots_are_granted_at_once() -> None:
    bench = Bench(slots=2)

    await bench.come("a1", "a2", "a3")

    assert ["a1", "a2"] == bench.served
    await bench.end("a1")
    assert ["a1", "a2", "a3"] == bench.served
    await bench.over()


async def test_clients_take_turns_and_the_newest_of_each_goes_first() -> None:
    bench = Bench(capacity=10)
    await bench.come("a0", "a1", "a2", "a3", "b1", "c1", "b2")

    await bench.over()

    assert ["a0", "a3", "b2", "c1", "a2", "b1", "a1"] == bench.served


async def test_oldest_of_the_client_with_the_most_gives_way() -> None:
    bench = Bench(capacity=4)
    await bench.come("a0", "a1", "a2", "a3", "a4", "a5", "b1", "c1")

    assert ["a1", "a2", "a3"] == list(bench.refused)
    await bench.over()
    assert {"a0", "a4", "a5", "b1", "c1"} == set(bench.served)


async def test_new_client_is_refused_if_no_other_has_more() -> None:
    bench = Bench(capacity=3)
    await bench.come("a0", "a1", "b1", "c1", "d1")

    assert ["d1"] == list(bench.refused)
    await bench.over()


async def test_refusal_says_when_the_queue_is_likely_to_be_empty() -> None:
    bench = Bench(capacity=4, longest_wait_s=60)
    await bench.come("a0", "a1", "b1", "c1", "d1", "e1")

    assert {"e1": 60} == bench.refused
    await bench.over()


async def test_wait_is_bounded() -> None:
    bench = Bench(longest_wait_s=0.01)
    await bench.come("a0", "a1")

    await bench.gone("a1")

    assert {"a1": 1} == bench.refused
    await bench.end("a0")
    await bench.come("a2")
    assert ["a0", "a2"] == bench.served
    await bench.over()


async def test_request_that_is_cancelled_leaves_its_place_and_its_slot() -> None:
    bench = Bench()
    await bench.come("a0", "b1", "c1")

    await bench.leave("b1")
    await bench.leave("a0")

    assert ["a0", "c1"] == bench.served
    await bench.end("c1")
    await bench.come("d1")
    assert ["a0", "c1", "d1"] == bench.served
    await bench.over()


async def test_slot_that_comes_as_its_request_is_cancelled_is_passed_on() -> None:
    bench = Bench()
    await bench.come("a0", "b1", "c1")

    await bench.end_and_leave("a0", "b1")

    assert "c1" in bench.served
    await bench.over()


async def test_slot_goes_past_a_request_that_is_cancelled_at_that_moment() -> None:
    bench = Bench()
    await bench.come("a0", "b1", "c1")

    await bench.end_and_leave("a0", "b1", at_once=True)

    assert ["a0", "c1"] == bench.served
    await bench.end("c1")
    await bench.come("d1")
    assert ["a0", "c1", "d1"] == bench.served
    await bench.over()


async def test_failure_gives_the_slot_back() -> None:
    queue = FairQueue(1, longest_wait_s=1, assumed_s=1)
    with pytest.raises(ZeroDivisionError):
        async with queue.slot("a"):
            raise ZeroDivisionError

    async with asyncio.timeout(60), queue.slot("a"):
        pass


async def test_slow_work_makes_the_queue_shorter() -> None:
    queue = FairQueue(1, longest_wait_s=1, assumed_s=0.001)
    before = queue.capacity
    async with queue.slot("a"):
        await asyncio.sleep(0.05)

    assert before == 1000
    assert queue.capacity < 300
