"""The Redis client, and a circuit breaker for calls to it."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

# Requests wait for Redis, which answers in a fraction of a millisecond, and continue without it.
_TIMEOUT_SECONDS = 0.25
# A dead connection in the pool is noticed only when it is used.
_RETRIES = 1
# After a failure, requests skip the call for this long.
_OPEN_SECONDS = 1.0
_LOG_EVERY_SECONDS = 60.0


class CircuitBreaker:
    """Skips calls to a dependency for a second after one failed, so not every request waits."""

    def __init__(self, log_message: str) -> None:
        self._log_message = log_message
        self._open_until = 0.0
        self._logs_again_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are to be skipped."""
        return time.monotonic() < self._open_until

    def trip(self, error: Exception) -> None:
        """Record a failed call; log it at most once a minute."""
        now = time.monotonic()
        self._open_until = now + _OPEN_SECONDS
        if now >= self._logs_again_at:
            self._logs_again_at = now + _LOG_EVERY_SECONDS
            log.warning(self._log_message, error=str(error))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record that Redis failed in the block, and go on after the block."""
        try:
            yield
        except (RedisError, OSError) as e:
            self.trip(e)


@asynccontextmanager
async def open_redis(url: str) -> AsyncIterator[Redis | None]:
    """Open a client with short timeouts, for use in requests; None without a URL.

    This does not connect: Redis may be unreachable now or later.
    """
    if not url:
        yield None
        return
    client = Redis.from_url(
        url,
        socket_timeout=_TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), _RETRIES),
    )
    try:
        yield client
    finally:
        await client.aclose()
