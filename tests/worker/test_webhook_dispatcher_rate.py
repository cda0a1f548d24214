"""The webhook dispatcher slows down while documents are read."""

import asyncio
from collections.abc import Awaitable, Callable

from recibo.adapters.fake_webhook_client import FakeWebhookClient
from recibo.lib.keyring import Keyring
from recibo.store.db import Database
from recibo.worker.webhook_dispatcher import WebhookDispatcher

KEYRING = Keyring("a secret")


async def test_backlog_is_delivered_slower_while_documents_are_read(
    database: Database,
) -> None:
    dispatcher = WebhookDispatcher(database, FakeWebhookClient(), KEYRING)
    read, may_end = list[str](), asyncio.Event()

    async def reading(name: str) -> None:
        read.append(name)
        await may_end.wait()
        if name == "bad":
            raise ValueError(name)

    before = dispatcher.pause_s(16)
    tasks = [
        asyncio.create_task(_run(dispatcher.yielding_to(reading), one)) for one in ("good", "bad")
    ]
    await asyncio.sleep(0)
    during = dispatcher.pause_s(16)
    may_end.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert ["good", "bad"] == read
    assert 5 * before < during
    assert (before, 0) == (dispatcher.pause_s(16), dispatcher.pause_s(0))
    assert dispatcher.pause_s(1) <= before


async def _run(read: Callable[[str], Awaitable[None]], name: str) -> None:
    await read(name)
