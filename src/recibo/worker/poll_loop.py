"""A poll loop: calls a function every second until its block ends."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 1
# The last run may finish: cancelling a statement leaves its connection in an unknown state.
_LAST_RUN_SECONDS = 10

#: Runs once, starting nothing new when the event is set; returns whether more may be due already.
PollFunction = Callable[[asyncio.Event], Awaitable[bool]]


@contextlib.asynccontextmanager
async def poll(name: str, run_once: PollFunction) -> AsyncIterator[None]:
    """Call `run_once` every second while the block runs; wait briefly for the last call."""
    stopping = asyncio.Event()
    loop = asyncio.create_task(_run(name, run_once, stopping))
    try:
        yield
    finally:
        stopping.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(loop, _LAST_RUN_SECONDS)


async def _run(name: str, run_once: PollFunction, stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        if await _try(name, run_once, stopping):
            continue
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _PERIOD_SECONDS)


async def _try(name: str, run_once: PollFunction, stopping: asyncio.Event) -> bool:
    try:
        return await run_once(stopping)
    except Exception:
        # Pending rows stay pending, and the next run follows soon.
        log.exception("a poll failed", loop=name)
        return False
