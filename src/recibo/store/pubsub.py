"""Publish/subscribe for changes of receipts, within a process or between processes over Redis."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from redis.asyncio import Redis
from redis.asyncio.client import PubSub as RedisPubSub
from redis.exceptions import ConnectionError as RedisConnectionError

from recibo.schemas.ids import ReceiptId
from recibo.store.redis_client import CircuitBreaker

_CHANNEL = "recibo:signals"
# A connection that is silent for this long is pinged; if it stays silent for as long again, it is
# dead, even if the kernel has not noticed.
_SILENCE_SECONDS = 5
_RESTART_DELAY_SECONDS = 1
# The start waits at most this long for the subscription; requests that need no messages are served.
_START_SECONDS = 1


class Subscription(Protocol):
    """A subscription to the changes of one receipt."""

    async def wait(self) -> object:
        """Wait for the next message; each one is returned once."""


class PubSub(Protocol):
    """Notifies waiters that a receipt changed. Messages can be lost, so waiters poll as well."""

    async def publish(self, receipt_id: ReceiptId) -> None:
        """Notify all subscribers of a receipt; call it after the change is committed."""

    def subscribe(self, receipt_id: ReceiptId) -> AbstractContextManager[Subscription]:
        """Subscribe to a receipt; do it before reading the row, so that no change is missed."""

    def listen(self) -> AbstractAsyncContextManager[None]:
        """Receive messages of other processes while the block lasts."""


class InProcess:
    """Messages within one event loop."""

    def __init__(self) -> None:
        self._events: defaultdict[ReceiptId, set[asyncio.Event]] = defaultdict(set)

    async def publish(self, receipt_id: ReceiptId) -> None:
        """Notify the subscribers of this process."""
        self.wake(receipt_id)

    def wake(self, receipt_id: ReceiptId) -> None:
        """Notify the subscribers of this process."""
        for event in self._events.get(receipt_id, ()):
            event.set()

    @contextlib.contextmanager
    def subscribe(self, receipt_id: ReceiptId) -> Iterator[Subscription]:
        """Subscribe to a receipt."""
        event = asyncio.Event()
        self._events[receipt_id].add(event)
        try:
            yield _Subscription(event)
        finally:
            self._events[receipt_id].discard(event)
            if not self._events[receipt_id]:
                del self._events[receipt_id]

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[None]:
        """Do nothing: there is no other process."""
        yield


class InRedis:
    """Messages between all processes that share a Redis, with one Redis subscription per process.

    While Redis is unreachable, messages are lost and waiters see the change when they poll.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._local = InProcess()
        self._breaker = CircuitBreaker("Redis is unreachable; waiters poll instead")
        self._subscription_breaker = CircuitBreaker(
            "the subscription to Redis was lost; subscribing again"
        )

    async def publish(self, receipt_id: ReceiptId) -> None:
        """Notify the subscribers of this process, then those of all others."""
        self._local.wake(receipt_id)
        if self._breaker.is_open:
            return
        with self._breaker.watching():
            await self._client.publish(_CHANNEL, receipt_id)

    def subscribe(self, receipt_id: ReceiptId) -> AbstractContextManager[Subscription]:
        """Subscribe to a receipt."""
        return self._local.subscribe(receipt_id)

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[None]:
        """Subscribe to Redis, and again whenever the subscription is lost."""
        subscribed = asyncio.Event()
        loop = asyncio.create_task(self._run(subscribed))
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(subscribed.wait(), _START_SECONDS)
            yield
        finally:
            loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await loop

    async def _run(self, subscribed: asyncio.Event) -> None:
        while True:
            with self._subscription_breaker.watching():
                async with self._client.pubsub() as pubsub:
                    await self._receive(pubsub, subscribed)
            await asyncio.sleep(_RESTART_DELAY_SECONDS)

    async def _receive(self, pubsub: RedisPubSub, subscribed: asyncio.Event) -> None:
        await pubsub.subscribe(_CHANNEL)
        is_pinged = False
        while True:
            message = await pubsub.get_message(timeout=_SILENCE_SECONDS)
            if message is None:
                if is_pinged:
                    raise RedisConnectionError("the subscription is silent")
                await pubsub.ping()
            elif message["type"] == "subscribe":
                subscribed.set()
            elif message["type"] == "message":
                self._local.wake(ReceiptId(message["data"].decode()))
            is_pinged = message is None


class _Subscription:
    """Returns each message once, so that a waiter whose receipt is still pending does not spin."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()


def create(client: Redis | None) -> PubSub:
    """Return pub/sub over Redis, or within this process without a client."""
    return InProcess() if client is None else InRedis(client)
