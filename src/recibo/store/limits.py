"""How many requests each may make in a minute, counted in this process or, for many, in Redis.

A bucket of twice the figure, refilled at the figure a minute, decides (throttled-py's GCRA; its
token bucket rounds down and let only 60 through where 100 were due). What is told beside it is an
exact count of the last 60 seconds, kept by second: throttled-py's sliding window approximates.
"""

import itertools
import math
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError
from throttled.asyncio.rate_limiter.gcra import GCRARateLimiter
from throttled.asyncio.store import BaseStore, MemoryStore, RedisStore
from throttled.asyncio.store.memory import MemoryStoreBackend
from throttled.asyncio.store.redis import RedisStoreBackend
from throttled.exceptions import BaseThrottledError
from throttled.rate_limiter.base import per_min

from recibo.lib import clock
from recibo.store.redis_client import CircuitBreaker

_WINDOW_SECONDS = 60
# At 200 bytes each this is 20 MB. Beyond them a bucket that is full again goes first, and else the
# fullest of those unused for longest: no crowd of addresses washes away a bucket that is empty.
_MOST_BUCKETS = 100_000
_LOOKED_AT = 16
# Windows of 60 seconds refuse nothing, they are only told.
_MOST_WINDOWS = 100_000
_PREFIX = "recibo:limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """Who may make how many requests; the counts of each figure are their own."""

    subject: str
    a_minute: int
    #: Whether it refuses; else it is only counted and told.
    is_binding: bool = True

    @property
    def key(self) -> str:
        """What its counts are kept under."""
        return f"{self.subject}:{self.a_minute}"


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """Where somebody stands after a request."""

    limit: int
    #: Of the last 60 seconds; a burst goes on at 0.
    remaining: int
    #: The Unix second at which the oldest request counted leaves the window.
    reset: int
    #: Seconds; None when the request may pass.
    retry_after: int | None = None
    #: False when nobody could be asked, and the request passes.
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Window:
    """What was counted in the last 60 seconds."""

    count: int
    #: The second of the first request; None when none is counted.
    oldest: int | None


class Limits(Protocol):
    """Counts requests and decides which are too many."""

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against several limits, all or none, the first to refuse being told.

        When none refuses, the one with the least left is told; of equals the last.
        """

    async def is_alive(self) -> bool:
        """Tell whether the counts are at hand; where they are not, every request passes."""


class Windows(Protocol):
    """Counts of the last 60 seconds."""

    async def look(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add so many requests to each, and return what each has; `now` in Unix seconds."""


class _Throttled:
    """The rules, over wherever the counts are."""

    def __init__(self, store: BaseStore, windows: Windows) -> None:
        self._store = store
        self._windows = windows
        self._limiters = dict[int, GCRARateLimiter]()

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against several limits, all or none."""
        taken = list[Limit]()
        for limit in limits:
            if not limit.is_binding:
                continue
            result = await self._limiter(limit).limit(limit.key)
            if result.limited:
                # A refused request is not counted: those before get theirs back, but for the last
                # request's share of a bucket that was full, which refills by itself. Looking at
                # all of them first would let parallel requests spend what others then refuse.
                for earlier in taken:
                    await self._limiter(earlier).limit(earlier.key, -1)
                return await self._refused(limit, result.state.retry_after)
            taken.append(limit)
        now = _now()
        windows = await self._windows.look([one.key for one in limits], now=now, adding=1)
        standings = [_standing(*pair, now=now) for pair in zip(limits, windows, strict=True)]
        return min(reversed(standings), key=lambda one: one.remaining)

    async def _refused(self, limit: Limit, retry_after: float) -> LimitStatus:
        now = _now()
        (window,) = await self._windows.look([limit.key], now=now, adding=0)
        reset = _standing(limit, window, now=now).reset
        return LimitStatus(limit.a_minute, 0, reset, max(1, math.ceil(retry_after)))

    def _limiter(self, limit: Limit) -> GCRARateLimiter:
        figure = limit.a_minute
        if figure not in self._limiters:
            quota = per_min(max(1, figure), burst=2 * max(1, figure))
            self._limiters[figure] = GCRARateLimiter(quota, self._store, key_prefix=_PREFIX)
        return self._limiters[figure]


class InMemory(_Throttled):
    """Limits of one process."""

    def __init__(self) -> None:
        super().__init__(_BucketsInMemory(), _WindowsInMemory())

    async def is_alive(self) -> bool:
        """Say yes: they live and die with the process."""
        return True


class InRedis(_Throttled):
    """Limits of all processes that share a Redis; while it is out of reach, requests pass."""

    def __init__(self, client: Redis) -> None:
        super().__init__(_Store(client), _WindowsInRedis(client))
        self._client = client
        self._outage = CircuitBreaker("limits are out of reach; requests pass uncounted")

    async def take(self, limits: Sequence[Limit]) -> LimitStatus:
        """Count a request against several limits, or let it pass uncounted."""
        if not self._outage.is_on:
            try:
                return await super().take(limits)
            except (BaseThrottledError, RedisError, OSError) as e:
                self._outage.begin(e)
        figure = limits[-1].a_minute
        return LimitStatus(figure, figure, _now() + _WINDOW_SECONDS, is_known=False)

    async def is_alive(self) -> bool:
        """Tell whether Redis answers."""
        await self._client.exists(_PREFIX)
        return True


def of(client: Redis | None) -> Limits:
    """Return the limits of a Redis, or of this process alone."""
    return InMemory() if client is None else InRedis(client)


def _now() -> int:
    return int(clock.now().timestamp())


def _standing(limit: Limit, window: Window, *, now: int) -> LimitStatus:
    begun = now if window.oldest is None else window.oldest
    remaining = max(0, limit.a_minute - window.count)
    return LimitStatus(limit.a_minute, remaining, begun + _WINDOW_SECONDS)


class _Buckets(MemoryStoreBackend):
    """When each bucket will be full again, in seconds of the monotonic clock."""

    def __init__(self, server: str | None = None, options: dict[str, Any] | None = None) -> None:
        super().__init__(server, options)
        # Whichever was drawn on last stands last.
        self._full_at = OrderedDict[str, float]()

    def get(self, key: str) -> float | None:
        """Return when a bucket will be full; None when it is."""
        return self._full_at.get(key)

    def set(self, key: str, value: Any, timeout: int) -> None:  # noqa: ARG002 - the value tells
        """Note when a bucket will be full."""
        self._full_at[key] = float(value)
        self._full_at.move_to_end(key)
        if len(self._full_at) > _MOST_BUCKETS:
            self._forget_one()

    def _forget_one(self) -> None:
        looked_at = list(itertools.islice(self._full_at, _LOOKED_AT))
        del self._full_at[min(looked_at, key=self._full_at.__getitem__)]
        for key in looked_at:
            if key in self._full_at:
                self._full_at.move_to_end(key)


class _BucketsInMemory(MemoryStore):
    """The library's store over our buckets."""

    _BACKEND_CLASS = _Buckets


class _Counted:
    """The requests of one subject by second, the oldest first."""

    __slots__ = ("by_second", "count")

    def __init__(self) -> None:
        self.by_second = deque[tuple[int, int]]()
        self.count = 0

    def add(self, second: int, adding: int) -> None:
        self.count += adding
        # The clock may have been set back; seconds stay in order all the same.
        if self.by_second and self.by_second[-1][0] >= second:
            second, before = self.by_second.pop()
            adding += before
        self.by_second.append((second, adding))

    def drop_until(self, second: int) -> None:
        while self.by_second and self.by_second[0][0] <= second:
            self.count -= self.by_second.popleft()[1]


class _WindowsInMemory:
    """Windows of one process, those without requests forgotten."""

    def __init__(self) -> None:
        # Whoever was counted last stands last.
        self._counted = OrderedDict[str, _Counted]()

    async def look(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add so many requests to each, and return what each has."""
        self._forget(now - _WINDOW_SECONDS)
        return [self._look(key, now, adding) for key in keys]

    def _look(self, key: str, now: int, adding: int) -> Window:
        counted = self._counted.get(key)
        if counted is None:
            if not adding:
                return Window(0, None)
            counted = self._counted[key] = _Counted()
            if len(self._counted) > _MOST_WINDOWS:
                self._counted.popitem(last=False)
        counted.drop_until(now - _WINDOW_SECONDS)
        if adding:
            counted.add(now, adding)
            self._counted.move_to_end(key)
        return Window(counted.count, counted.by_second[0][0] if counted.by_second else None)

    def _forget(self, second: int) -> None:
        while self._counted:
            key, counted = next(iter(self._counted.items()))
            if counted.by_second and counted.by_second[-1][0] > second:
                return
            del self._counted[key]


class _WindowsInRedis:
    """Windows in Redis: a hash for each, of counts by second, in one call for all."""

    _SCRIPT = """
    local now, window, adding = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local told = {}
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
        told[#told + 1] = count
        told[#told + 1] = oldest
    end
    return told
    """

    def __init__(self, client: Redis) -> None:
        self._script = client.register_script(self._SCRIPT)

    async def look(self, keys: Sequence[str], *, now: int, adding: int) -> list[Window]:
        """Add so many requests to each, and return what each has."""
        names = [f"{_PREFIX}:window:{key}" for key in keys]
        told = await self._script(names, [now, _WINDOW_SECONDS, adding])
        pairs = zip(told[::2], told[1::2], strict=True)
        return [Window(count, oldest if oldest >= 0 else None) for count, oldest in pairs]


class _Backend(RedisStoreBackend):
    """The library's own way to a client keeps one for all event loops of the process."""

    def __init__(self, client: Redis) -> None:
        super().__init__()
        self._client = cast("Any", client)


class _Store(RedisStore):
    """The library's store over our client."""

    def __init__(self, client: Redis) -> None:
        super().__init__()
        self._backend = _Backend(client)
