"""Requests per minute of each subject, counted in this process or, for several processes, in Redis.

A bucket of twice the figure, refilled at the figure per minute, decides (GCRA, the generic cell
rate algorithm: https://brandur.org/rate-limiting). The headers report an exact count of the last 60
seconds, kept per second.
"""

import itertools
import math
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from redis.asyncio import Redis

from recibo.lib import clock
from recibo.store.redis_client import CircuitBreaker

_WINDOW_SECONDS = 60
# At 200 bytes each this is 20 MB. Beyond it, a full bucket is evicted first, else the fullest of
# the least recently used: many addresses cannot evict, and so refill, an empty bucket.
_MAX_BUCKETS = 100_000
_EVICTION_CANDIDATES = 16
# Windows only report; evicting one neither refuses nor admits a request.
_MAX_WINDOWS = 100_000
_PREFIX = "recibo:limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """How many requests a subject may make; each figure is counted separately."""

    subject: str
    per_minute: int
    #: Whether it refuses requests; else it is only counted and reported.
    is_binding: bool = True

    @property
    def key(self) -> str:
        """The key of its counts."""
        return f"{self.subject}:{self.per_minute}"


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """What is left of a limit after a request."""

    limit: int
    #: Of the last 60 seconds; a burst continues at 0.
    remaining: int
    #: The Unix second at which the oldest counted request leaves the window.
    reset: int
    #: Seconds; None when the request passes.
    retry_after: int | None = None
    #: False when Redis is down and the request passes uncounted.
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Window:
    """The requests of the last 60 seconds."""

    count: int
    #: The second of the first request; None without one.
    oldest: int | None


class Limits(Protocol):
    """Counts requests and decides which are too many."""

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against all limits or, if one refuses it, against none.

        Return the status of the first limit that refuses; when none does, of the one with the
        least left, the last of equals.
        """

    async def is_alive(self) -> bool:
        """Return whether the counts can be reached; if not, every request passes."""


class Buckets(Protocol):
    """The buckets that decide."""

    async def draw(self, limit: Limit, *, cost: int = 1) -> float | None:
        """Take a request from a bucket, or put one back with a negative cost.

        Return None, or how many seconds to wait when the bucket is empty.
        """


class Windows(Protocol):
    """Counts of the last 60 seconds."""

    async def count(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add requests to each key and return its count; `now` is in Unix seconds."""


class _CountingLimits:
    """Limits over any kind of buckets and windows."""

    def __init__(self, buckets: Buckets, windows: Windows) -> None:
        self._buckets = buckets
        self._windows = windows

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against all limits or, if one refuses it, against none."""
        taken = list[Limit]()
        for limit in limits:
            if not limit.is_binding:
                continue
            retry_after = await self._buckets.draw(limit)
            if retry_after is not None:
                # The limits before this one get their request back, except for the share that a
                # full bucket would have refilled. Checking all limits before drawing would let
                # parallel requests pass together.
                for earlier in taken:
                    await self._buckets.draw(earlier, cost=-1)
                return await self._refusal(limit, retry_after)
            taken.append(limit)
        now = _now()
        windows = await self._windows.count([one.key for one in limits], now=now, adding=1)
        statuses = [_status(*pair, now=now) for pair in zip(limits, windows, strict=True)]
        return min(reversed(statuses), key=lambda one: one.remaining)

    async def _refusal(self, limit: Limit, retry_after: float) -> LimitStatus:
        now = _now()
        (window,) = await self._windows.count([limit.key], now=now, adding=0)
        reset = _status(limit, window, now=now).reset
        return LimitStatus(limit.per_minute, 0, reset, max(1, math.ceil(retry_after)))


class InMemory(_CountingLimits):
    """Limits of one process."""

    def __init__(self) -> None:
        super().__init__(_BucketsInMemory(), _WindowsInMemory())

    async def is_alive(self) -> bool:
        """Return True: the counts are in this process."""
        return True


class InRedis(_CountingLimits):
    """Limits of all processes that share a Redis; while it is down, requests pass."""

    def __init__(self, client: Redis) -> None:
        super().__init__(_BucketsInRedis(client), _WindowsInRedis(client))
        self._client = client
        self._breaker = CircuitBreaker("Redis is unreachable; rate limits are not enforced")

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against all limits, or let it pass uncounted."""
        if not self._breaker.is_open:
            with self._breaker.watching():
                return await super().take(limits)
        figure = limits[-1].per_minute
        return LimitStatus(figure, figure, _now() + _WINDOW_SECONDS, is_known=False)

    async def is_alive(self) -> bool:
        """Return whether Redis answers."""
        await self._client.exists(_PREFIX)
        return True


def create(client: Redis | None) -> Limits:
    """Return the limits in a Redis, or of this process alone."""
    return InMemory() if client is None else InRedis(client)


def _now() -> int:
    return int(clock.now().timestamp())


def _status(limit: Limit, window: Window, *, now: int) -> LimitStatus:
    begun = now if window.oldest is None else window.oldest
    remaining = max(0, limit.per_minute - window.count)
    return LimitStatus(limit.per_minute, remaining, begun + _WINDOW_SECONDS)


def _interval_and_capacity(limit: Limit) -> tuple[float, int]:
    """Return the seconds that a bucket needs to refill by one request, and its size."""
    figure = max(1, limit.per_minute)
    return _WINDOW_SECONDS / figure, 2 * figure


class _BucketsInMemory:
    """For each bucket, when it will be full again, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        # The least recently used first.
        self._full_at = OrderedDict[str, float]()

    async def draw(self, limit: Limit, *, cost: int = 1) -> float | None:
        """Take a request from a bucket; return None, or how many seconds to wait."""
        interval, capacity = _interval_and_capacity(limit)
        now = clock.monotonic()
        full_at = max(now, self._full_at.get(limit.key, now))
        if capacity - cost + math.floor((now - full_at) / interval) < 0:
            return abs(now - full_at + (capacity - cost) * interval)
        full_at += cost * interval
        if full_at > now:
            self._full_at[limit.key] = full_at
            self._full_at.move_to_end(limit.key)
            if len(self._full_at) > _MAX_BUCKETS:
                self._evict_one()
        return None

    def _evict_one(self) -> None:
        candidates = list(itertools.islice(self._full_at, _EVICTION_CANDIDATES))
        del self._full_at[min(candidates, key=self._full_at.__getitem__)]
        for key in candidates:
            if key in self._full_at:
                self._full_at.move_to_end(key)


class _BucketsInRedis:
    """The same in Redis, by the clock of its server."""

    # Counted from 2025, so that fewer digits of a double are left for the whole seconds.
    _SCRIPT = """
    local interval, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local time = redis.call("TIME")
    local now = (time[1] - 1735660800) + (time[2] / 1000000)
    local full_at = math.max(now, tonumber(redis.call("GET", KEYS[1]) or now))
    if capacity - cost + math.floor((now - full_at) / interval) < 0 then
        return tostring(full_at - now - (capacity - cost) * interval)
    end
    full_at = full_at + cost * interval
    if full_at > now then
        redis.call("SET", KEYS[1], full_at, "EX", math.ceil(full_at - now))
    end
    return false
    """

    def __init__(self, client: Redis) -> None:
        self._script = client.register_script(self._SCRIPT)

    async def draw(self, limit: Limit, *, cost: int = 1) -> float | None:
        """Take a request from a bucket; return None, or how many seconds to wait."""
        interval, capacity = _interval_and_capacity(limit)
        name = f"{_PREFIX}:bucket:{limit.key}"
        wait = await self._script([name], [interval, capacity, cost])
        return None if wait is None else float(wait)


class _RequestsBySecond:
    """The requests of one subject by second, the oldest first."""

    __slots__ = ("by_second", "count")

    def __init__(self) -> None:
        self.by_second = deque[tuple[int, int]]()
        self.count = 0

    def add(self, second: int, adding: int) -> None:
        self.count += adding
        # Seconds stay in order even when the clock is set back.
        if self.by_second and self.by_second[-1][0] >= second:
            second, before = self.by_second.pop()
            adding += before
        self.by_second.append((second, adding))

    def drop_until(self, second: int) -> None:
        while self.by_second and self.by_second[0][0] <= second:
            self.count -= self.by_second.popleft()[1]


class _WindowsInMemory:
    """Windows of one process; those without requests are dropped."""

    def __init__(self) -> None:
        # The least recently counted first.
        self._counted = OrderedDict[str, _RequestsBySecond]()

    async def count(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add requests to each key and return its count."""
        self._drop_before(now - _WINDOW_SECONDS)
        return [self._count(key, now, adding) for key in keys]

    def _count(self, key: str, now: int, adding: int) -> Window:
        counted = self._counted.get(key)
        if counted is None:
            if not adding:
                return Window(0, None)
            counted = self._counted[key] = _RequestsBySecond()
            if len(self._counted) > _MAX_WINDOWS:
                self._counted.popitem(last=False)
        counted.drop_until(now - _WINDOW_SECONDS)
        if adding:
            counted.add(now, adding)
            self._counted.move_to_end(key)
        return Window(counted.count, counted.by_second[0][0] if counted.by_second else None)

    def _drop_before(self, second: int) -> None:
        while self._counted:
            key, counted = next(iter(self._counted.items()))
            if counted.by_second and counted.by_second[-1][0] > second:
                return
            del self._counted[key]


class _WindowsInRedis:
    """Windows in Redis: a hash for each, of counts by second, in one call for all."""

    _SCRIPT = """
    local now, window, adding = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local counts = {}
    for _, key in ipairs(KEYS) do
        if adding > 0 then
            redis.call("HINCRBY", key, now, adding)
            redis.call("EXPIRE", key, window + 1)
        end
        local count, oldest = 0, -1
        local fields = redis.call("HGETALL", key)
        for i = 1, #fields, 2 do
            local second = tonumber(fields[i])
            if second <= now - window then
                redis.call("HDEL", key, fields[i])
            else
                count = count + tonumber(fields[i + 1])
                if oldest < 0 or second < oldest then oldest = second end
            end
        end
        counts[#counts + 1] = count
        counts[#counts + 1] = oldest
    end
    return counts
    """

    def __init__(self, client: Redis) -> None:
        self._script = client.register_script(self._SCRIPT)

    async def count(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add requests to each key and return its count."""
        names = [f"{_PREFIX}:window:{key}" for key in keys]
        counts = await self._script(names, [now, _WINDOW_SECONDS, adding])
        pairs = zip(counts[::2], counts[1::2], strict=True)
        return [Window(count, oldest if oldest >= 0 else None) for count, oldest in pairs]
