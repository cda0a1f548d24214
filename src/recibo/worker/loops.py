"""Repeats a function at an interval: for what must also run while the queue is unreachable."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

# The last run may finish: cancelling a statement leaves its connection in an unknown state.
_LAST_RUN_SECONDS = 10


@contextlib.asynccontextmanager
async def repeating(
    function: Callable[[], Awaitable[None]],
    every_seconds: float,
    *,
    is_run_at_start: bool = False,
    is_run_at_end: bool = False,
) -> AsyncIterator[None]:
    """Call a function at an interval while the block runs; wait briefly for the last call.

    A call that fails is logged, and the next one follows as usual.
    """
    stopping = asyncio.Event()

    async def loop() -> None:
        if is_run_at_start:
            await _try(function)
        while not stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), every_seconds)
            if is_run_at_end or not stopping.is_set():
                await _try(function)

    running = asyncio.create_task(loop())
    try:
        yield
    finally:
        stopping.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(running, _LAST_RUN_SECONDS)


async def _try(function: Callable[[], Awaitable[None]]) -> None:
    try:
        await function()
    except Exception:
        log.exception("a periodic call failed")
