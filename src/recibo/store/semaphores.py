"""Who has an upload in flight, and which file is being taken in, in this process or in Redis."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from recibo.store.redis_client import CircuitBreaker

_PREFIX = "recibo:slots"
# What a killed process held ends so soon; a living one renews it three times meanwhile. Should it
# fail to, another may begin: the database still lets one of them win.
_LEASE_SECONDS = 10
_RENEW_SECONDS = 3
_LOOK_AGAIN_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Limit:
    """Who may hold how many slots at once; the slots of each figure are their own."""

    subject: str
    at_once: int

    @property
    def key(self) -> str:
        """What its slots are kept under."""
        return f"{self.subject}:{self.at_once}"


class Semaphores(Protocol):
    """Holds slots while uploads are in flight, and gives turns to copies of one file."""

    async def take(self, slot: str, caps: Sequence[Limit]) -> bool:
        """Take a slot of each, all or none; False when one has none left."""

    async def free(self, slot: str, caps: Sequence[Limit]) -> None:
        """Give a slot back, if it is still held."""

    async def begin(self, work: str) -> bool:
        """Take the turn to do some work, or return False once the turn of another is over."""

    async def end(self, work: str) -> None:
        """End a turn."""

    def renewing(self) -> AbstractAsyncContextManager[None]:
        """Keep what this process holds while the block lasts; without it, it ends by itself."""


class InMemory:
    """Slots and turns of one process."""

    def __init__(self) -> None:
        self._slots = defaultdict[str, set[str]](set)
        self._turns = dict[str, asyncio.Event]()

    async def take(self, slot: str, caps: Sequence[Limit]) -> bool:
        """Take a slot of each, all or none."""
        if any(len(self._slots.get(cap.key, ())) >= cap.at_once for cap in caps):
            return False
        for cap in caps:
            self._slots[cap.key].add(slot)
        return True

    async def free(self, slot: str, caps: Sequence[Limit]) -> None:
        """Give a slot back."""
        for cap in caps:
            held = self._slots[cap.key]
            held.discard(slot)
            if not held:
                del self._slots[cap.key]

    async def begin(self, work: str) -> bool:
        """Take the turn, or wait for the end of another's."""
        if (turn := self._turns.get(work)) is not None:
            await turn.wait()
            return False
        self._turns[work] = asyncio.Event()
        return True

    async def end(self, work: str) -> None:
        """End a turn."""
        if (turn := self._turns.pop(work, None)) is not None:
            turn.set()

    def renewing(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: it dies with the process."""
        return nullcontext()


class InRedis:
    """Slots and turns of all processes that share a Redis; without it everybody gets them."""

    # Slots are ordered by the end of their life.
    _TAKE = """
    local time = redis.call("TIME")
    local now = time[1] + time[2] / 1000000
    for i, key in ipairs(KEYS) do
        redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
        if redis.call("ZCARD", key) >= tonumber(ARGV[2 + i]) then return 0 end
    end
    for _, key in ipairs(KEYS) do
        redis.call("ZADD", key, now + ARGV[2], ARGV[1])
        redis.call("EXPIRE", key, math.ceil(ARGV[2]))
    end
    return 1
    """
    # The keys are sorted sets, one for each slot, and after them turns.
    _RENEW = """
    local time = redis.call("TIME")
    local ends = time[1] + time[2] / 1000000 + ARGV[1]
    for i, key in ipairs(KEYS) do
        if ARGV[1 + i] then redis.call("ZADD", key, "XX", ends, ARGV[1 + i]) end
        redis.call("EXPIRE", key, ARGV[1])
    end
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._take = client.register_script(self._TAKE)
        self._renew = client.register_script(self._RENEW)
        self._breaker = CircuitBreaker("slots are out of reach; uploads pass without one")
        # What may stand in Redis, so that what was passed without it costs no second wait.
        self._held = dict[str, Sequence[str]]()
        self._turns = set[str]()

    async def take(self, slot: str, caps: Sequence[Limit]) -> bool:
        """Take a slot of each, all or none."""
        if self._breaker.is_open:
            return True
        figures = [cap.at_once for cap in caps]
        try:
            if not await self._take(_names(caps), [slot, _LEASE_SECONDS, *figures]):
                return False
        except (RedisError, OSError) as e:
            # It may have been taken all the same, and only the answer got lost.
            self._breaker.trip(e)
        self._held[slot] = _names(caps)
        return True

    async def free(self, slot: str, caps: Sequence[Limit]) -> None:
        """Give a slot back."""
        if self._held.pop(slot, None) is None:
            return
        try:
            for name in _names(caps):
                await self._client.zrem(name, slot)
        except (RedisError, OSError) as e:
            self._breaker.trip(e)

    async def begin(self, work: str) -> bool:
        """Take the turn, or wait for the end of another's."""
        if self._breaker.is_open:
            return True
        name = _turn(work)
        try:
            if await self._client.set(name, "", nx=True, ex=_LEASE_SECONDS):
                self._turns.add(name)
                return True
            # Redis could tell when it ends, at the price of a connection for each who waits.
            while await self._client.exists(name):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except (RedisError, OSError) as e:
            self._breaker.trip(e)
            self._turns.add(name)
            return True
        return False

    async def end(self, work: str) -> None:
        """End a turn."""
        name = _turn(work)
        if name not in self._turns:
            return
        self._turns.discard(name)
        try:
            await self._client.delete(name)
        except (RedisError, OSError) as e:
            self._breaker.trip(e)

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Keep what this process holds while the block lasts."""
        task = asyncio.create_task(self._renew_for_good())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def renew(self) -> None:
        """Keep what this process holds for another lease."""
        pairs = [(name, slot) for slot, names in self._held.items() for name in names]
        keys = [name for name, _ in pairs] + sorted(self._turns)
        if not keys or self._breaker.is_open:
            return
        try:
            await self._renew(keys, [_LEASE_SECONDS, *(slot for _, slot in pairs)])
        except (RedisError, OSError) as e:
            self._breaker.trip(e)

    async def _renew_for_good(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            await self.renew()


def create(client: Redis | None) -> Semaphores:
    """Return the slots of a Redis, or of this process alone."""
    return InMemory() if client is None else InRedis(client)


def _names(caps: Sequence[Limit]) -> list[str]:
    return [f"{_PREFIX}:{cap.key}" for cap in caps]


def _turn(work: str) -> str:
    return f"{_PREFIX}:turn:{work}"
