"""A bounded queue for slots that are few: fair between clients, and nobody waits long.

Clients take turns. Of one client the newest request goes first, and the oldest gives way when the
queue is full: under a flood, somebody who just arrived is still served, while in first-in first-out
order all would wait until nobody cares any more.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib.moving_average import MovingAverage


class QueueFullError(Exception):
    """There is no room, or no slot became free in time."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class FairQueue:
    """Hands out slots; for one event loop.

    It holds no more requests than the slots can serve within the longest wait, at their present
    pace.
    """

    def __init__(self, slots: int, *, longest_wait_s: float, assumed_s: float) -> None:
        self._slots = slots
        self._free = slots
        self._longest_wait_s = longest_wait_s
        self._pace = MovingAverage(assumed_s)
        # In the order of their turns; none is empty.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def capacity(self) -> int:
        """How many may wait."""
        return max(self._slots, int(self._longest_wait_s * self._slots / self._pace.mean_seconds))

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, client: str) -> AsyncIterator[None]:
        """Hold a slot while the block lasts.

        Raises:
            QueueFullError: the queue is full, or this request gave way, or waited too long.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(client)
        started = time.perf_counter()
        try:
            yield
        finally:
            self._pace.note(time.perf_counter() - started)
            self._pass_on()

    async def _wait(self, client: str) -> None:
        self._make_room(client)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await turn
        except BaseException as e:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                # The slot came at the very moment in which this request was given up.
                self._pass_on()
            else:
                self._forget(client, turn)
            if isinstance(e, TimeoutError):
                raise self._full() from None
            raise

    def _make_room(self, client: str) -> None:
        """Have the oldest request of the client with the most give way when the queue is full."""
        if self.waiting < self.capacity:
            return
        longest = max(self._waiting, key=lambda one: len(self._waiting[one]))
        own = len(self._waiting.get(client, ()))
        if len(self._waiting[longest]) <= own + 1:
            longest = client
        if longest not in self._waiting:
            raise self._full()
        oldest = self._waiting[longest][0]
        self._forget(longest, oldest)
        # It may have been cancelled, and not have run since.
        if not oldest.done():
            oldest.set_exception(self._full())

    def _pass_on(self) -> None:
        """Give a slot to the next client, or keep it free."""
        while self._waiting:
            client = next(iter(self._waiting))
            newest = self._waiting[client][-1]
            self._waiting.move_to_end(client)
            self._forget(client, newest)
            if not newest.done():
                newest.set_result(None)
                return
        self._free += 1

    def _forget(self, client: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(client)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        if not turns:
            del self._waiting[client]

    def _full(self) -> QueueFullError:
        wait_s = self.waiting * self._pace.mean_seconds / self._slots
        return QueueFullError(max(1, math.ceil(wait_s)))
