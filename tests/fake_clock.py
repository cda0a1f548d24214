"""A clock that tests move, for rate limits and other times."""

import datetime as dt

import pytest
from redis.asyncio import Redis

from recibo.lib import clock

# Not a whole second, like most times.
START_SECONDS = 1_800_000_000.25


class FakeClock:
    """A clock that only tests move, for this process and for limits in Redis."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, client: Redis | None = None) -> None:
        self.seconds = START_SECONDS
        self._client = client
        self._moved_at: float | None = None
        monkeypatch.setattr(clock, "now", self._now)
        monkeypatch.setattr(clock, "monotonic", lambda: self.seconds)

    async def move(self, seconds: float) -> None:
        """Move the clock forward."""
        self.seconds += seconds
        if self._client is not None:
            await _age(self._client, seconds - await self._elapsed(self._client))

    async def _elapsed(self, client: Redis) -> float:
        """Return the seconds since the last move by the clock of Redis, which no test stops."""
        seconds, microseconds = await client.time()
        now = seconds + microseconds / 1e6
        began, self._moved_at = self._moved_at, now
        return 0.0 if began is None else now - began

    def _now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.seconds, dt.UTC)


async def _age(client: Redis, seconds: float) -> None:
    """Make buckets older, because Redis uses the time of its machine."""
    for name in await client.keys("recibo:limits:bucket:*"):
        full_at = await client.get(name)
        await client.set(name, float(full_at or 0) - seconds, keepttl=True)
