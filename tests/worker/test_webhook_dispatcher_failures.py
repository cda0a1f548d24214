"""Failures of the dispatcher itself count as failed attempts; those of a receiver stay its own."""

from collections import Counter

import pytest
from sqlalchemy import select

from recibo.adapters.fake_webhook_client import FakeWebhookClient
from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Actor
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries
from recibo.services.webhooks.deliveries import LeasedDelivery
from recibo.store import tables
from recibo.store.db import Database
from recibo.worker.webhook_dispatcher import WebhookDispatcher
from tests import events
from tests.fake_clock import FakeClock

KEYRING = Keyring("a secret")
URL = "https://receiver.test/"
FAILED = "internal error: the request could not be sent"
# Longer than any pause between two tries.
PAUSE_S = 30 * 60 * 60
DOWN = WebhookResponse(0.02, error="connection refused")


async def deliver(dispatcher: WebhookDispatcher) -> int:
    """Deliver what is due and record the outcomes; return the number of attempts."""
    begun = await dispatcher.start_due()
    for post in begun:
        await post
    while await dispatcher.record_finished():
        pass
    return len(begun)


async def states(database: Database) -> list[str]:
    """Return the states of all deliveries."""
    return [one.state for one in await events.deliveries(database)]


async def test_delivery_that_always_raises_is_given_up_after_the_usual_attempts(
    database: Database, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: LeasedDelivery) -> dict[str, str]:
        raise RuntimeError

    monkeypatch.setattr(deliveries, "headers", broken)
    fake_clock, webhook_client = FakeClock(monkeypatch), FakeWebhookClient()
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING)
    await events.emit_event(database, actor.org_id, url=URL)

    tries = 0
    while await deliver(dispatcher):
        tries += 1
        await fake_clock.move(PAUSE_S)

    assert len(deliveries.PAUSES) + 1 == tries
    assert [DeliveryState.FAILED] == await states(database)
    made = await events.attempts(database)
    assert [(FAILED, None)] * tries == [(one.error, one.status) for one in made]
    assert [] == webhook_client.posts


async def test_undecryptable_secret_is_a_failed_attempt(
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
    assert [DeliveryState.DELIVERED, DeliveryState.PENDING] == await states(database)


async def test_dead_endpoint_delays_no_other_endpoint_of_its_org(
    database: Database, actor: Actor
) -> None:
    dead, alive = "https://dead.acme.test/", "https://alive.acme.test/"
    webhook_client = FakeWebhookClient()
    webhook_client.outcomes = {dead: DOWN}
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING, capacity=32, gather_s=0)
    for url in (dead, alive):
        await events.endpoint(database, actor, url)
    for _ in range(40):
        await events.emit_event(database, actor.org_id, url=None)
    while DeliveryState.PENDING in await states_of(database, alive):
        await deliver(dispatcher)

    posted = Counter(one.url for one in webhook_client.posts)
    assert (40, {DeliveryState.DELIVERED}) == (posted[alive], await states_of(database, alive))
    assert DeliveryState.PENDING in await states_of(database, dead)
    # Sixteen at first, then one at a time while it fails.
    assert posted[dead] < 40


async def states_of(database: Database, url: str) -> set[str]:
    """Return the states of the deliveries to an endpoint."""
    async with database.read() as session:
        query = select(tables.WebhookEndpoint.id).where(tables.WebhookEndpoint.url == url)
        endpoint_id = (await session.execute(query)).scalar_one()
    found = await events.deliveries(database)
    return {one.state for one in found if one.endpoint_id == endpoint_id}
