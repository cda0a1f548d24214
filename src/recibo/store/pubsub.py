"""Wake whoever waits for a receipt, once its change is committed, in this process or in all."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from redis.asyncio import Redis
from redis.asyncio.client import PubSub as RedisPubSub
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from recibo.schemas.ids import ReceiptId
from recibo.store.redis_client import CircuitBreaker

_CHANNEL = "recibo:signals"
# A connection that hears nothing for so long is asked whether it lives; one that then says
# nothing for as long is dead, whatever the kernel believes.
_SILENCE_SECONDS = 5
_RESTART_DELAY_SECONDS = 1
# Nobody waits longer than this for the first subscription; what needs no signals is served.
_START_SECONDS = 1


class Subscription(Protocol):
    """One waiter's place."""

    async def wait(self) -> object:
        """Return when the receipt has been told of since the place was taken, once a time."""


class PubSub(Protocol):
    """Tells waiters that a receipt changed; a signal may be lost, so waiters also look."""

    async def tell(self, receipt_id: ReceiptId) -> None:
        """Wake all who wait for this receipt; to be called once its change is committed."""

    def waiting(self, receipt_id: ReceiptId) -> AbstractContextManager[Subscription]:
        """Take a place before looking at the row, so that no change slips in between."""

    def listening(self) -> AbstractAsyncContextManager[None]:
        """Hear what other processes tell while the block lasts."""


class InProcess:
    """Signals within one event loop."""

    def __init__(self) -> None:
        self._events: defaultdict[ReceiptId, set[asyncio.Event]] = defaultdict(set)

    async def tell(self, receipt_id: ReceiptId) -> None:
        """Wake the waiters of this process."""
        self.wake(receipt_id)

    def wake(self, receipt_id: ReceiptId) -> None:
        """Wake them at once."""
        for event in self._events.get(receipt_id, ()):
            event.set()

    @contextlib.contextmanager
    def waiting(self, receipt_id: ReceiptId) -> Iterator[Subscription]:
        """Take a place."""
        event = asyncio.Event()
        self._events[receipt_id].add(event)
        try:
            yield _Place(event)
        finally:
            self._events[receipt_id].discard(event)
            if not self._events[receipt_id]:
                del self._events[receipt_id]

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Hear nobody else: there is no other process."""
        yield


class InRedis:
    """Signals of all processes that share a Redis, each with one subscription for all its waiters.

    Without Redis they are lost, and waiters see the change when they look again.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._here = InProcess()
        self._outage = CircuitBreaker("signals are lost; waiters look by themselves")
        self._deafness = CircuitBreaker("no signals from other processes; subscribing again")

    async def tell(self, receipt_id: ReceiptId) -> None:
        """Wake the waiters of this process, then those of all others."""
        self._here.wake(receipt_id)
        if self._outage.is_on:
            return
        try:
            await self._client.publish(_CHANNEL, receipt_id)
        except (RedisError, OSError) as e:
            self._outage.begin(e)

    def waiting(self, receipt_id: ReceiptId) -> AbstractContextManager[Subscription]:
        """Take a place."""
        return self._here.waiting(receipt_id)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Subscribe, and again whenever the subscription is lost."""
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
            try:
                async with self._client.pubsub() as pubsub:
                    await self._hear(pubsub, subscribed)
            except (RedisError, OSError) as e:
                self._deafness.begin(e)
            await asyncio.sleep(_RESTART_DELAY_SECONDS)

    async def _hear(self, pubsub: RedisPubSub, subscribed: asyncio.Event) -> None:
        await pubsub.subscribe(_CHANNEL)
        is_asked = False
        while True:
            message = await pubsub.get_message(timeout=_SILENCE_SECONDS)
            if message is None:
                if is_asked:
                    raise RedisConnectionError("the subscription is silent")
                await pubsub.ping()
            elif message["type"] == "subscribe":
                subscribed.set()
            elif message["type"] == "message":
                self._here.wake(ReceiptId(message["data"].decode()))
            is_asked = message is None


class _Place:
    """Hears each signal once: a waiter whose receipt is not done waits again, and does not spin."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()


def of(client: Redis | None) -> PubSub:
    """Return the signals of all processes that share a Redis, or of this one alone."""
    return InProcess() if client is None else InRedis(client)
