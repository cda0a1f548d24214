"""Locks by name, within this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class KeyedLock:
    """One lock per name; waiters get it in the order of their arrival."""

    def __init__(self) -> None:
        # A lock exists only while it is held or waited for.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, *names: str) -> AsyncIterator[None]:
        """Hold the locks of all these names while the block lasts."""
        # Lock in sorted order to prevent deadlocks.
        locks = [self._locks.setdefault(name, asyncio.Lock()) for name in sorted(set(names))]
        async with AsyncExitStack() as stack:
            for lock in locks:
                await stack.enter_async_context(lock)
            yield
