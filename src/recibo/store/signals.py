"""Wake whoever waits for a receipt, once its change is committed."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from recibo.shapes.ids import ReceiptId


class Waiting(Protocol):
    """One waiter's place."""

    async def wait(self) -> object:
        """Return when the receipt has been told of since the place was taken, once a time."""


class Signals(Protocol):
    """Tells waiters that a receipt changed; a signal may be lost, so waiters also look."""

    def tell(self, receipt_id: ReceiptId) -> None:
        """Wake all who wait for this receipt."""

    def waiting(self, receipt_id: ReceiptId) -> AbstractContextManager[Waiting]:
        """Take a place before looking at the row, so that no change slips in between."""


class InProcess:
    """Signals within one event loop."""

    def __init__(self) -> None:
        self._events: defaultdict[ReceiptId, set[asyncio.Event]] = defaultdict(set)

    def tell(self, receipt_id: ReceiptId) -> None:
        """Wake the waiters of this process."""
        for event in self._events.get(receipt_id, ()):
            event.set()

    @contextmanager
    def waiting(self, receipt_id: ReceiptId) -> Iterator["_Place"]:
        """Take a place."""
        event = asyncio.Event()
        self._events[receipt_id].add(event)
        try:
            yield _Place(event)
        finally:
            self._events[receipt_id].discard(event)
            if not self._events[receipt_id]:
                del self._events[receipt_id]


class _Place:
    """Hears each signal once: a waiter whose receipt is not done waits again, and does not spin."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()
