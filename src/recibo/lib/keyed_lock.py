"""One after another, by name, within this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class KeyedLock:
    """Lets one holder of a name at a time go on; the others wait in the order they came."""

    def __init__(self) -> None:
        # A lock lives as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, *names: str) -> AsyncIterator[None]:
        """Hold all of these names while the block lasts."""
        # In one order, or two who want the same two would wait for each other.
        locks = [self._locks.setdefault(name, asyncio.Lock()) for name in sorted(set(names))]
        async with AsyncExitStack() as stack:
            for lock in locks:
                await stack.enter_async_context(lock)
            yield
