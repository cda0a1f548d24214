"""Who has an upload in flight, and which file is being taken in, in this process or in Redis."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from recibo.store.shared import Outage

_PREFIX = "recibo:slots"
# Of a process that was killed. Whoever takes a file in decodes it first; longer than this, and
# another may begin: the database still lets one of them win.
_TURN_SECONDS = 30
_LOOK_AGAIN_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Cap:
    """Who may hold how many slots at once; the slots of each figure are their own."""

    subject: str
    at_once: int

    @property
    def key(self) -> str:
        """What its slots are kept under."""
        return f"{self.subject}:{self.at_once}"


class Slots(Protocol):
    """Holds slots while uploads are in flight, and gives turns to copies of one file."""

    async def take(self, slot: str, caps: Sequence[Cap], *, life_seconds: float) -> bool:
        """Take a slot of each, all or none; False when one has none left.

        A slot that is never freed, as its process died, ends with its life.
        """

    async def free(self, slot: str, caps: Sequence[Cap]) -> None:
        """Give a slot back, if it is still held."""

    async def begin(self, work: str) -> bool:
        """Take the turn to do some work, or return False once the turn of another is over."""

    async def end(self, work: str) -> None:
        """End a turn."""


class InMemory:
    """Slots and turns of one process."""

    def __init__(self) -> None:
        self._slots = defaultdict[str, set[str]](set)
        self._turns = dict[str, asyncio.Event]()

    async def take(
        self,
        slot: str,
        caps: Sequence[Cap],
        *,
        life_seconds: float,  # noqa: ARG002 - it dies with the process
    ) -> bool:
        """Take a slot of each, all or none."""
        if any(len(self._slots.get(cap.key, ())) >= cap.at_once for cap in caps):
            return False
        for cap in caps:
            self._slots[cap.key].add(slot)
        return True

    async def free(self, slot: str, caps: Sequence[Cap]) -> None:
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

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._take = client.register_script(self._TAKE)
        self._outage = Outage("slots are out of reach; uploads pass without one")
        # What may stand in Redis, so that what was passed without it costs no second wait.
        self._held = set[str]()

    async def take(self, slot: str, caps: Sequence[Cap], *, life_seconds: float) -> bool:
        """Take a slot of each, all or none."""
        if self._outage.is_on:
            return True
        figures = [cap.at_once for cap in caps]
        try:
            if not await self._take(_names(caps), [slot, life_seconds, *figures]):
                return False
        except (RedisError, OSError) as e:
            # It may have been taken all the same, and only the answer got lost.
            self._outage.begin(e)
        self._held.add(slot)
        return True

    async def free(self, slot: str, caps: Sequence[Cap]) -> None:
        """Give a slot back."""
        if slot not in self._held:
            return
        self._held.discard(slot)
        try:
            for name in _names(caps):
                await self._client.zrem(name, slot)
        except (RedisError, OSError) as e:
            self._outage.begin(e)

    async def begin(self, work: str) -> bool:
        """Take the turn, or wait for the end of another's."""
        if self._outage.is_on:
            return True
        name = _turn(work)
        try:
            if await self._client.set(name, "", nx=True, ex=_TURN_SECONDS):
                self._held.add(name)
                return True
            # Redis could tell when it ends, at the price of a connection for each who waits.
            while await self._client.exists(name):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        except (RedisError, OSError) as e:
            self._outage.begin(e)
            self._held.add(name)
            return True
        return False

    async def end(self, work: str) -> None:
        """End a turn."""
        name = _turn(work)
        if name not in self._held:
            return
        self._held.discard(name)
        try:
            await self._client.delete(name)
        except (RedisError, OSError) as e:
            self._outage.begin(e)


def of(client: Redis | None) -> Slots:
    """Return the slots of a Redis, or of this process alone."""
    return InMemory() if client is None else InRedis(client)


def _names(caps: Sequence[Cap]) -> list[str]:
    return [f"{_PREFIX}:{cap.key}" for cap in caps]


def _turn(work: str) -> str:
    return f"{_PREFIX}:turn:{work}"
