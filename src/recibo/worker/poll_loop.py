"""Rounds: what is owed as rows is tried every second, in every process that works."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 1
# A statement that is cancelled leaves its connection in the middle of it.
_LAST_ROUND_SECONDS = 10

#: Makes one round, beginning nothing once it is stopping; tells whether more may be due already.
PollFunction = Callable[[asyncio.Event], Awaitable[bool]]


@contextlib.asynccontextmanager
async def poll(who: str, make_round: PollFunction) -> AsyncIterator[None]:
    """Make rounds while the block lasts; what is under way at its end is ended, if it ends soon."""
    stopping = asyncio.Event()
    loop = asyncio.create_task(_run(who, make_round, stopping))
    try:
        yield
    finally:
        stopping.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(loop, _LAST_ROUND_SECONDS)


async def _run(who: str, make_round: PollFunction, stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        if await _tried(who, make_round, stopping):
            continue
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _PERIOD_SECONDS)


async def _tried(who: str, make_round: PollFunction, stopping: asyncio.Event) -> bool:
    try:
        return await make_round(stopping)
    except Exception:
        # What is owed stays so, and the next round comes soon.
        log.exception("a round failed", who=who)
        return False
