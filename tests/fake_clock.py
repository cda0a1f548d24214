"""The hands of the clock that limits go by: tests move them, and nobody waits."""

import datetime as dt

import pytest
from redis.asyncio import Redis

from recibo.lib import clock

# Somewhere within a second, as most times are.
START_SECONDS = 1_800_000_000.25


class FakeClock:
    """A clock that stands until it is moved, for what this process counts and what Redis does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, client: Redis | None = None) -> None:
        self.seconds = START_SECONDS
        self._client = client
        monkeypatch.setattr(clock, "now", self._now)
        monkeypatch.setattr(clock, "monotonic", lambda: self.seconds)

    async def move(self, seconds: float) -> None:
        """Let time pass."""
        self.seconds += seconds
        if self._client is not None:
            await _age(self._client, seconds)

    def _now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.seconds, dt.UTC)


async def _age(client: Redis, seconds: float) -> None:
    """Make buckets older: Redis takes the time of its own machine."""
    for name in await client.keys("recibo:limits:bucket:*"):
        full_at = await client.get(name)
        await client.set(name, float(full_at or 0) - seconds, keepttl=True)
