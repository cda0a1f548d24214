"""A bounded queue for a few slots: fair between clients, with a bounded wait.

Clients are served round-robin. Within a client the newest request is served first, and the oldest
is rejected when the queue is full. So under overload new requests are still served in time, while
in first-in first-out order all of them would time out.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.lib.moving_average import MovingAverage


class QueueFullError(Exception):
    """The queue is full, or no slot became free in time."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class FairQueue:
    """Grants slots; for one event loop.

    It holds no more requests than the slots can serve within the longest wait at the current speed.
    """

    def __init__(self, slots: int, *, longest_wait_s: float, assumed_s: float) -> None:
        self._slots = slots
        self._free = slots
        self._longest_wait_s = longest_wait_s
        self._duration = MovingAverage(assumed_s)
        # In round-robin order; no entry is empty.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def capacity(self) -> int:
        """The number of requests that may wait."""
        return max(
            self._slots, int(self._longest_wait_s * self._slots / self._duration.mean_seconds)
        )

    @property
    def waiting(self) -> int:
        """The number of requests that wait now."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, client: str) -> AsyncIterator[None]:
        """Hold a slot while the block lasts.

        Raises:
            QueueFullError: the queue is full, or this request was rejected or waited too long.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(client)
        started = time.perf_counter()
        try:
            yield
        finally:
            self._duration.add(time.perf_counter() - started)
            self._grant_next()

    async def _wait(self, client: str) -> None:
        self._make_room(client)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await turn
        except BaseException as e:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                # The slot was granted at the moment when the request was canceled.
                self._grant_next()
            else:
                self._remove(client, turn)
            if isinstance(e, TimeoutError):
                raise self._full() from None
            raise

    def _make_room(self, client: str) -> None:
        """If the queue is full, reject the oldest request of the client that has the most."""
        if self.waiting < self.capacity:
            return
        longest = max(self._waiting, key=lambda one: len(self._waiting[one]))
        own = len(self._waiting.get(client, ()))
        if len(self._waiting[longest]) <= own + 1:
            longest = client
        if longest not in self._waiting:
            raise self._full()
        oldest = self._waiting[longest][0]
        self._remove(longest, oldest)
        # It may have been canceled and not have run since.
        if not oldest.done():
            oldest.set_exception(self._full())

    def _grant_next(self) -> None:
        """Grant the slot to the next client, or mark it as free."""
        while self._waiting:
            client = next(iter(self._waiting))
            newest = self._waiting[client][-1]
            self._waiting.move_to_end(client)
            self._remove(client, newest)
            if not newest.done():
                newest.set_result(None)
                return
        self._free += 1

    def _remove(self, client: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(client)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        if not turns:
            del self._waiting[client]

    def _full(self) -> QueueFullError:
        wait_s = self.waiting * self._duration.mean_seconds / self._slots
        return QueueFullError(max(1, math.ceil(wait_s)))
