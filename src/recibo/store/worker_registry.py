"""How many documents are read at once, and how fast: told by each process that reads to all."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis
from redis.exceptions import RedisError

from recibo.store.redis_client import CircuitBreaker

_KEY = "recibo:crews"
# A crew tells of itself each second. One that was killed counts for so long, and one whose machine
# is too busy to tell is there all the same.
LIFE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """The readers of one process, or of all together."""

    readers: int
    #: How long one of them takes for a document.
    mean_seconds: float


#: Counted with while nobody is known to read: what is owed waits for one at least.
NO_WORKERS = WorkerStats(1, 2.0)


class WorkerRegistry(Protocol):
    """Knows who reads at present."""

    async def tell(self, name: str, crew: WorkerStats) -> None:
        """Say that a crew is at work, and at what pace; to be said again within its life."""

    async def leave(self, name: str) -> None:
        """Say that a crew stops."""

    async def at_work(self) -> WorkerStats:
        """Return all crews as one that gets as much done; `NO_WORKERS` when there is none."""


class InMemory:
    """The crew of one process, which lives as long as that."""

    def __init__(self) -> None:
        self._crews = dict[str, WorkerStats]()

    async def tell(self, name: str, crew: WorkerStats) -> None:
        """Note a crew."""
        self._crews[name] = crew

    async def leave(self, name: str) -> None:
        """Forget a crew."""
        self._crews.pop(name, None)

    async def at_work(self) -> WorkerStats:
        """Return all crews as one."""
        return _together(self._crews.values())


class InRedis:
    """The crews of all processes that share a Redis; out of reach, those last heard of count."""

    _TELL = """
    local ends = redis.call("TIME")[1] + ARGV[2]
    redis.call("HSET", KEYS[1], ARGV[1], ends .. " " .. ARGV[3] .. " " .. ARGV[4])
    redis.call("EXPIRE", KEYS[1], ARGV[2])
    """
    _AT_WORK = """
    local now = tonumber(redis.call("TIME")[1])
    local told = {}
    local fields = redis.call("HGETALL", KEYS[1])
    for i = 1, #fields, 2 do
        local ends, crew = string.match(fields[i + 1], "(%S+) (.+)")
        if tonumber(ends) <= now then
            redis.call("HDEL", KEYS[1], fields[i])
        else
            told[#told + 1] = crew
        end
    end
    return told
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._tell = client.register_script(self._TELL)
        self._at_work = client.register_script(self._AT_WORK)
        self._outage = CircuitBreaker("who reads is not known; those last heard of count")
        self._last = NO_WORKERS

    async def tell(self, name: str, crew: WorkerStats) -> None:
        """Note a crew for as long as it may live unheard of."""
        if self._outage.is_on:
            return
        try:
            await self._tell([_KEY], [name, LIFE_SECONDS, crew.readers, crew.mean_seconds])
        except (RedisError, OSError) as e:
            self._outage.begin(e)

    async def leave(self, name: str) -> None:
        """Forget a crew."""
        if self._outage.is_on:
            return
        try:
            await self._client.hdel(_KEY, name)
        except (RedisError, OSError) as e:
            self._outage.begin(e)

    async def at_work(self) -> WorkerStats:
        """Return all crews as one."""
        if not self._outage.is_on:
            try:
                told = await self._at_work([_KEY])
            except (RedisError, OSError) as e:
                self._outage.begin(e)
            else:
                self._last = _together(_crew(one) for one in told)
        return self._last


def of(client: Redis | None) -> WorkerRegistry:
    """Return the crews of a Redis, or that of this process alone."""
    return InMemory() if client is None else InRedis(client)


def _crew(told: bytes) -> WorkerStats:
    readers, mean_seconds = told.split()
    return WorkerStats(int(readers), float(mean_seconds))


def _together(crews: Iterable[WorkerStats]) -> WorkerStats:
    """Return one crew for many; of two with equally many readers the quicker one gets more done."""
    known = list(crews)
    readers = sum(one.readers for one in known)
    # A clock may have been too coarse for what took no time.
    a_second = sum(one.readers / max(one.mean_seconds, 1e-6) for one in known)
    return WorkerStats(readers, readers / a_second) if readers else NO_WORKERS
