"""The Redis that processes share, where there is one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

# Requests wait for it, and pass without it; an answer takes a fraction of a millisecond.
_PATIENCE_SECONDS = 0.25
# A connection that died in the pool is noticed when it is used.
_RETRIES = 1


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Redis | None]:
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
