"""The Redis that processes share, where there is one."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

log = structlog.get_logger(__name__)

# Requests wait for it, and pass without it; an answer takes a fraction of a millisecond.
_PATIENCE_SECONDS = 0.25
# A connection that died in the pool is noticed when it is used.
_RETRIES = 1
# While it is out of reach only one request in so long finds out how long it takes to fail.
_PAUSE_SECONDS = 1.0
_LOG_EVERY_SECONDS = 60.0


class CircuitBreaker:
    """Whether Redis was out of reach a moment ago, so that not every request waits for it."""

    def __init__(self, told: str) -> None:
        #: What the log says of it.
        self._told = told
        self._ends_at = 0.0
        self._logs_again_at = 0.0

    @property
    def is_on(self) -> bool:
        """Whether it is too early to ask again."""
        return time.monotonic() < self._ends_at

    def begin(self, error: Exception) -> None:
        """Note that Redis failed just now."""
        now = time.monotonic()
        self._ends_at = now + _PAUSE_SECONDS
        if now >= self._logs_again_at:
            self._logs_again_at = now + _LOG_EVERY_SECONDS
            log.warning(self._told, error=str(error))


@asynccontextmanager
async def open_redis(url: str) -> AsyncIterator[Redis | None]:
    """Open a client for what a request cannot wait long for; None without a URL.

    Nothing is asked yet: it may be out of reach, now or later.
    """
    if not url:
        yield None
        return
    client = Redis.from_url(
        url,
        socket_timeout=_PATIENCE_SECONDS,
        socket_connect_timeout=_PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), _RETRIES),
    )
    try:
        yield client
    finally:
        await client.aclose()
