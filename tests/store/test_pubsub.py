"""Pub/sub within a process and between processes that share a Redis."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest

from recibo.schemas.ids import ReceiptId
from recibo.store import pubsub as pubsub_
from recibo.store import redis_client
from recibo.store.pubsub import PubSub
from tests import mail_servers, servers

ONE, OTHER = ReceiptId("rcp_1"), ReceiptId("rcp_2")
# For a loaded machine; only a failing test waits this long.
TIMEOUT = 60

Open = Callable[[str], Coroutine[Any, Any, PubSub]]


@pytest.fixture
async def process() -> AsyncIterator[Open]:
    """Return a function that opens the pub/sub of one more process."""
    async with AsyncExitStack() as stack:

        async def open_pubsub(url: str) -> PubSub:
            pubsub = pubsub_.create(await stack.enter_async_context(redis_client.open_redis(url)))
            await stack.enter_async_context(pubsub.listen())
            return pubsub

        yield open_pubsub


@pytest.fixture(params=["memory", "redis"])
async def pubsub(request: pytest.FixtureRequest, process: Open) -> PubSub:
    """Return pub/sub in memory and over Redis."""
    return await process(request.getfixturevalue("redis_url") if request.param == "redis" else "")


async def publish_until_received(publisher: PubSub, subscriber: PubSub) -> None:
    """Publish until the subscriber of another process receives it."""
    with subscriber.subscribe(ONE) as subscription:
        received = asyncio.create_task(subscription.wait())
        while not received.done():
            await publisher.publish(ONE)
            await asyncio.wait([received], timeout=0.05)


async def test_message_between_subscribing_and_waiting_is_not_lost(pubsub: PubSub) -> None:
    with pubsub.subscribe(ONE) as subscription:
        await pubsub.publish(ONE)

        await subscription.wait()


async def test_all_subscribers_of_a_receipt_and_no_others_are_notified(pubsub: PubSub) -> None:
    with (
        pubsub.subscribe(ONE) as first,
        pubsub.subscribe(ONE) as second,
        pubsub.subscribe(OTHER) as other,
    ):
        waiting = asyncio.create_task(other.wait())
        await pubsub.publish(ONE)
        await first.wait()
        await second.wait()

        assert not waiting.done()
        await pubsub.publish(OTHER)
        await waiting


async def test_each_message_is_received_once() -> None:
    pubsub = pubsub_.create(None)
    with pubsub.subscribe(ONE) as subscription:
        await pubsub.publish(ONE)
        await subscription.wait()
        again = asyncio.create_task(subscription.wait())
        await asyncio.sleep(0)

        assert not again.done()
        await pubsub.publish(ONE)
        await again


async def test_publishing_without_subscribers_is_harmless(pubsub: PubSub) -> None:
    with pubsub.subscribe(ONE):
        pass

    await pubsub.publish(ONE)


async def test_subscribers_of_other_processes_are_notified(redis_url: str, process: Open) -> None:
    publisher, subscriber = await process(redis_url), await process(redis_url)

    with subscriber.subscribe(OTHER) as other, subscriber.subscribe(ONE) as subscription:
        await publisher.publish(ONE)
        await asyncio.wait_for(subscription.wait(), TIMEOUT)
        waiting = asyncio.create_task(other.wait())
        await asyncio.sleep(0)

        assert not waiting.done()
        waiting.cancel()


async def test_lost_subscription_is_restored(process: Open) -> None:
    async with asyncio.timeout(TIMEOUT):
        with servers.run_redis() as server:
            publisher, subscriber = await process(server.url), await process(server.url)
            await publish_until_received(publisher, subscriber)
        # Publishing does not raise while Redis is down.
        await publisher.publish(ONE)
        with servers.run_redis(server.port):
            await publish_until_received(publisher, subscriber)


async def test_redis_down_at_the_start_is_used_once_it_is_up(process: Open) -> None:
    port = servers.free_port()
    url = f"redis://127.0.0.1:{port}/0"

    async with asyncio.timeout(TIMEOUT):
        publisher, subscriber = await process(url), await process(url)
        with servers.run_redis(port):
            await publish_until_received(publisher, subscriber)


async def test_silent_subscription_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection to a vanished peer looks alive for hours."""
    monkeypatch.setattr(pubsub_, "_SILENCE_SECONDS", 0.05)
    monkeypatch.setattr(pubsub_, "_RESTART_DELAY_SECONDS", 0)
    accepted = asyncio.Semaphore(0)

    class Silent(asyncio.Protocol):
        def connection_made(self, _: asyncio.BaseTransport) -> None:
            accepted.release()

    async with (
        asyncio.timeout(TIMEOUT),
        mail_servers.listening(Silent) as port,
        redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client,
        pubsub_.create(client).listen(),
    ):
        for _ in range(3):
            await accepted.acquire()
