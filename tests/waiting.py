"""Waits for what sets no event, such as the work of another process."""

import asyncio
from collections.abc import Awaitable, Callable

# Short enough to delay no test; polling all the time would starve what is waited for.
_POLL_SECONDS = 0.05


async def until(has_happened: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the function returns true."""
    while not await has_happened():  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(_POLL_SECONDS)
