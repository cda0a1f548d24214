"""Signals within one process, and between those that share a Redis."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest

from recibo.schemas.ids import ReceiptId
from recibo.store import pubsub as signals_
from recibo.store import redis_client
from recibo.store.pubsub import PubSub
from tests import mail_servers, servers

ONE, OTHER = ReceiptId("rcp_1"), ReceiptId("rcp_2")
# Of a loaded machine; no test waits for it unless it fails.
PATIENCE = 30

Open = Callable[[str], Coroutine[Any, Any, PubSub]]


@pytest.fixture
async def process() -> AsyncIterator[Open]:
    """Open what a process has that shares a Redis."""
    async with AsyncExitStack() as stack:

        async def opened(url: str) -> PubSub:
            signals = signals_.of(await stack.enter_async_context(redis_client.open_redis(url)))
            await stack.enter_async_context(signals.listening())
            return signals

        yield opened


@pytest.fixture(params=["memory", "redis"])
async def signals(request: pytest.FixtureRequest, process: Open) -> PubSub:
    """Signals at each place in turn."""
    return await process(request.getfixturevalue("redis_url") if request.param == "redis" else "")


async def heard(teller: PubSub, waiter: PubSub) -> None:
    """Tell until the waiter of another process hears it."""
    with waiter.waiting(ONE) as place:
        hearing = asyncio.create_task(place.wait())
        while not hearing.done():
            await teller.tell(ONE)
            await asyncio.wait([hearing], timeout=0.05)


async def test_signal_between_taking_a_place_and_waiting_is_not_lost(signals: PubSub) -> None:
    with signals.waiting(ONE) as place:
        await signals.tell(ONE)

        await place.wait()


async def test_all_who_wait_for_a_receipt_are_told_and_nobody_else(signals: PubSub) -> None:
    with (
        signals.waiting(ONE) as first,
        signals.waiting(ONE) as second,
        signals.waiting(OTHER) as other,
    ):
        waiting = asyncio.create_task(other.wait())
        await signals.tell(ONE)
        await first.wait()
        await second.wait()

        assert not waiting.done()
        await signals.tell(OTHER)
        await waiting


async def test_each_signal_is_heard_once() -> None:
    signals = signals_.of(None)
    with signals.waiting(ONE) as place:
        await signals.tell(ONE)
        await place.wait()
        again = asyncio.create_task(place.wait())
        await asyncio.sleep(0)

        assert not again.done()
        await signals.tell(ONE)
        await again


async def test_telling_when_nobody_waits_is_harmless(signals: PubSub) -> None:
    with signals.waiting(ONE):
        pass

    await signals.tell(ONE)


async def test_waiters_of_other_processes_are_told(redis_url: str, process: Open) -> None:
    teller, waiter = await process(redis_url), await process(redis_url)

    with waiter.waiting(OTHER) as other, waiter.waiting(ONE) as place:
        await teller.tell(ONE)
        await asyncio.wait_for(place.wait(), PATIENCE)
        waiting = asyncio.create_task(other.wait())
        await asyncio.sleep(0)

        assert not waiting.done()
        waiting.cancel()


async def test_lost_subscription_comes_back_by_itself(process: Open) -> None:
    async with asyncio.timeout(PATIENCE):
        with servers.run_redis() as server:
            teller, waiter = await process(server.url), await process(server.url)
            await heard(teller, waiter)
        # Nobody raises while it is away.
        await teller.tell(ONE)
        with servers.run_redis(server.port):
            await heard(teller, waiter)


async def test_redis_away_at_the_start_is_found_when_it_comes(process: Open) -> None:
    port = servers.free_port()
    url = f"redis://127.0.0.1:{port}/0"

    async with asyncio.timeout(PATIENCE):
        teller, waiter = await process(url), await process(url)
        with servers.run_redis(port):
            await heard(teller, waiter)


async def test_subscription_that_is_silent_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that vanished without a word leaves a connection that looks alive for hours."""
    monkeypatch.setattr(signals_, "_SILENCE_SECONDS", 0.05)
    monkeypatch.setattr(signals_, "_RESTART_DELAY_SECONDS", 0)
    accepted = asyncio.Semaphore(0)

    class Silent(asyncio.Protocol):
        def connection_made(self, _: asyncio.BaseTransport) -> None:
            accepted.release()

    async with (
        asyncio.timeout(PATIENCE),
        mail_servers.listening(Silent) as port,
        redis_client.open_redis(f"redis://127.0.0.1:{port}/0") as client,
        signals_.of(client).listening(),
    ):
        for _ in range(3):
            await accepted.acquire()
