"""Semaphores for uploads in flight and locks for copies of one file, in memory or in Redis."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis

from recibo.store.redis_client import CircuitBreaker

_PREFIX = "recibo:slots"
# The slots of a killed process expire after this time; a running process renews them three times
# within it. If a renewal fails, two uploads may begin, and the database accepts one of them.
_LEASE_SECONDS = 10
_RENEW_SECONDS = 3
_POLL_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Limit:
    """How many slots a subject may hold at once; each limit has a separate set of slots."""

    subject: str
    at_once: int

    @property
    def key(self) -> str:
        """The key of its slots."""
        return f"{self.subject}:{self.at_once}"


class Semaphores(Protocol):
    """Slots of uploads in flight, and locks that serialize copies of one file."""

    async def take(self, slot: str, limits: Sequence[Limit]) -> bool:
        """Take a slot of each limit, all or none; return False if a limit has none left."""

    async def free(self, slot: str, limits: Sequence[Limit]) -> None:
        """Release a slot if it is still held."""

    async def begin(self, work: str) -> bool:
        """Lock some work and return True, or wait for its holder and return False."""

    async def end(self, work: str) -> None:
        """Release a lock."""

    def renewing(self) -> AbstractAsyncContextManager[None]:
        """Renew what this process holds until the block ends; without renewal it expires."""


class InMemory:
    """Slots and locks of one process."""

    def __init__(self) -> None:
        self._slots = defaultdict[str, set[str]](set)
        self._turns = dict[str, asyncio.Event]()

    async def take(self, slot: str, limits: Sequence[Limit]) -> bool:
        """Take a slot of each limit, all or none."""
        if any(len(self._slots.get(limit.key, ())) >= limit.at_once for limit in limits):
            return False
        for limit in limits:
            self._slots[limit.key].add(slot)
        return True

    async def free(self, slot: str, limits: Sequence[Limit]) -> None:
        """Release a slot."""
        for limit in limits:
            held = self._slots[limit.key]
            held.discard(slot)
            if not held:
                del self._slots[limit.key]

    async def begin(self, work: str) -> bool:
        """Lock the work, or wait until its holder ends."""
        if (turn := self._turns.get(work)) is not None:
            await turn.wait()
            return False
        self._turns[work] = asyncio.Event()
        return True

    async def end(self, work: str) -> None:
        """Release a lock."""
        if (turn := self._turns.pop(work, None)) is not None:
            turn.set()

    def renewing(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: the slots end with the process."""
        return nullcontext()


class InRedis:
    """Slots and locks of all processes that share a Redis; if it is down, all are granted."""

    # The score of a slot is the time at which it expires.
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
    # The keys are sorted sets, one for each slot, followed by locks.
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
        # What Redis may hold; a slot granted without Redis needs no call to release it.
        self._held = dict[str, Sequence[str]]()
        self._turns = set[str]()

    async def take(self, slot: str, limits: Sequence[Limit]) -> bool:
        """Take a slot of each limit, all or none."""
        if self._breaker.is_open:
            return True
        figures = [limit.at_once for limit in limits]
        with self._breaker.watching():
            if not await self._take(_names(limits), [slot, _LEASE_SECONDS, *figures]):
                return False
        # After a failure, too: the slot may be taken, and only the response lost.
        self._held[slot] = _names(limits)
        return True

    async def free(self, slot: str, limits: Sequence[Limit]) -> None:
        """Release a slot."""
        if self._held.pop(slot, None) is None:
            return
        with self._breaker.watching():
            for name in _names(limits):
                await self._client.zrem(name, slot)

    async def begin(self, work: str) -> bool:
        """Lock the work, or wait until its holder ends."""
        if self._breaker.is_open:
            return True
        name = _turn(work)
        with self._breaker.watching():
            if not await self._client.set(name, "", nx=True, ex=_LEASE_SECONDS):
                # A blocking wait in Redis would take a connection for each waiter.
                while await self._client.exists(name):  # noqa: ASYNC110 - waits without a connection
                    await asyncio.sleep(_POLL_SECONDS)
                return False
        self._turns.add(name)
        return True

    async def end(self, work: str) -> None:
        """Release a lock."""
        name = _turn(work)
        if name not in self._turns:
            return
        self._turns.discard(name)
        with self._breaker.watching():
            await self._client.delete(name)

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew what this process holds until the block ends."""
        task = asyncio.create_task(self._renew_until_cancelled())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def renew(self) -> None:
        """Renew what this process holds for another lease."""
        pairs = [(name, slot) for slot, names in self._held.items() for name in names]
        keys = [name for name, _ in pairs] + sorted(self._turns)
        if not keys or self._breaker.is_open:
            return
        with self._breaker.watching():
            await self._renew(keys, [_LEASE_SECONDS, *(slot for _, slot in pairs)])

    async def _renew_until_cancelled(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            await self.renew()


def create(client: Redis | None) -> Semaphores:
    """Return semaphores in Redis, or in this process without one."""
    return InMemory() if client is None else InRedis(client)


def _names(limits: Sequence[Limit]) -> list[str]:
    return [f"{_PREFIX}:{limit.key}" for limit in limits]


def _turn(work: str) -> str:
    return f"{_PREFIX}:turn:{work}"
