"""The courier: exceptions on this side are tries that failed, and never go on for ever."""

import pytest

from recibo.adapters.fake_webhook_client import FakeWebhookClient
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Actor
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries
from recibo.services.webhooks.deliveries import LeasedDelivery
from recibo.store.db import Database
from recibo.worker.webhook_dispatcher import WebhookDispatcher
from tests import events
from tests.fake_clock import FakeClock

KEYRING = Keyring("a secret")
URL = "https://receiver.test/"
FAILED = "internal error: the request could not be sent"
# Longer than any pause between two tries.
PAUSE_S = 30 * 60 * 60


async def deliver(courier: WebhookDispatcher) -> int:
    """Try what is due, and write down how that ended; return how many there were."""
    begun = await courier.begin()
    for post in begun:
        await post
    while await courier.write_down():
        pass
    return len(begun)


async def states(database: Database) -> list[str]:
    """Return how the deliveries stand."""
    return [one.state for one in await events.deliveries(database)]


async def test_try_that_always_raises_is_made_as_often_as_any_and_given_up(
    database: Database, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: LeasedDelivery) -> dict[str, str]:
        raise RuntimeError

    monkeypatch.setattr(deliveries, "headers", broken)
    fake_clock, webhook_client = FakeClock(monkeypatch), FakeWebhookClient()
    courier = WebhookDispatcher(database, webhook_client, KEYRING)
    await events.emit_event(database, actor.org_id, url=URL)

    tries = 0
    while await deliver(courier):
        tries += 1
        await fake_clock.move(PAUSE_S)

    assert len(deliveries.PAUSES) + 1 == tries
    assert [DeliveryState.FAILED] == await states(database)
    made = await events.attempts(database)
    assert [(FAILED, None)] * tries == [(one.error, one.status) for one in made]
    assert [] == webhook_client.posts


async def test_secret_that_cannot_be_opened_is_a_try_that_failed(
    database: Database, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeClock(monkeypatch)
    webhook_client = FakeWebhookClient()
    for keyring in (KEYRING, Keyring("another secret")):
        await events.emit_event(database, actor.org_id, url=URL)
        assert 1 == await deliver(WebhookDispatcher(database, webhook_client, keyring))

    assert 1 == len(webhook_client.posts)
    _, failed = await events.attempts(database)
    assert FAILED == failed.error
    assert [DeliveryState.DELIVERED, DeliveryState.OWED] == await states(database)
