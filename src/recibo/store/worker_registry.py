"""The registry of worker processes: how many readers each has and how fast they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis

from recibo.store.redis_client import CircuitBreaker

# Not "recibo:workers": docket keeps its own workers there.
_KEY = "recibo:worker-registry"
# Workers report every second. A killed one expires after this time; one on a busy machine may miss
# some reports.
TTL_SECONDS = 10


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """The readers of one process, or of all processes combined."""

    readers: int
    #: The mean time that a reader takes for a document.
    mean_seconds: float


#: The default while no worker is known.
NO_WORKERS = WorkerStats(1, 2.0)


class WorkerRegistry(Protocol):
    """Knows the active workers."""

    async def report(self, name: str, stats: WorkerStats) -> None:
        """Add or update a worker; repeat within `TTL_SECONDS`."""

    async def remove(self, name: str) -> None:
        """Remove a worker."""

    async def combined_stats(self) -> WorkerStats:
        """Return the combined capacity of all workers; `NO_WORKERS` if there are none."""


class InMemory:
    """The workers within one process."""

    def __init__(self) -> None:
        self._workers = dict[str, WorkerStats]()

    async def report(self, name: str, stats: WorkerStats) -> None:
        """Add or update a worker."""
        self._workers[name] = stats

    async def remove(self, name: str) -> None:
        """Remove a worker."""
        self._workers.pop(name, None)

    async def combined_stats(self) -> WorkerStats:
        """Return the combined capacity of all workers."""
        return _combined(self._workers.values())


class InRedis:
    """The workers of all processes that share a Redis; while it is unreachable, the last known."""

    _REPORT = """
    local ends = redis.call("TIME")[1] + ARGV[2]
    redis.call("HSET", KEYS[1], ARGV[1], ends .. " " .. ARGV[3] .. " " .. ARGV[4])
    redis.call("EXPIRE", KEYS[1], ARGV[2])
    """
    _ACTIVE = """
    local now = tonumber(redis.call("TIME")[1])
    local found = {}
    local fields = redis.call("HGETALL", KEYS[1])
    for i = 1, #fields, 2 do
        local ends, stats = string.match(fields[i + 1], "(%S+) (.+)")
        if tonumber(ends) <= now then
            redis.call("HDEL", KEYS[1], fields[i])
        else
            found[#found + 1] = stats
        end
    end
    return found
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._report = client.register_script(self._REPORT)
        self._active = client.register_script(self._ACTIVE)
        self._breaker = CircuitBreaker("Redis is unreachable; using the last known workers")
        self._last = NO_WORKERS

    async def report(self, name: str, stats: WorkerStats) -> None:
        """Add or update a worker until its report expires."""
        if self._breaker.is_open:
            return
        with self._breaker.watching():
            await self._report([_KEY], [name, TTL_SECONDS, stats.readers, stats.mean_seconds])

    async def remove(self, name: str) -> None:
        """Remove a worker."""
        if self._breaker.is_open:
            return
        with self._breaker.watching():
            await self._client.hdel(_KEY, name)

    async def combined_stats(self) -> WorkerStats:
        """Return the combined capacity of all workers."""
        if not self._breaker.is_open:
            with self._breaker.watching():
                self._last = _combined(map(_parse, await self._active([_KEY])))
        return self._last


def create(client: Redis | None) -> WorkerRegistry:
    """Return the registry in Redis, or of this process without a client."""
    return InMemory() if client is None else InRedis(client)


def _parse(stats: bytes) -> WorkerStats:
    readers, mean_seconds = stats.split()
    return WorkerStats(int(readers), float(mean_seconds))


def _combined(workers: Iterable[WorkerStats]) -> WorkerStats:
    """Combine workers: readers add up, and speed is weighted by throughput."""
    known = list(workers)
    readers = sum(one.readers for one in known)
    # A coarse clock may report zero seconds.
    per_second = sum(one.readers / max(one.mean_seconds, 1e-6) for one in known)
    return WorkerStats(readers, readers / per_second) if readers else NO_WORKERS
