"""The webhook dispatcher, with receivers that fail and processes that die."""

import asyncio
import contextlib
import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import event, select

from recibo.adapters.fake_webhook_client import FakeWebhookClient, PostedWebhook
from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Actor
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries
from recibo.store import db, tables
from recibo.store.db import Database
from recibo.worker import webhook_dispatcher
from recibo.worker.webhook_dispatcher import WebhookDispatcher
from tests import events, make
from tests.fake_clock import FakeClock

KEYRING = Keyring("a secret")
OK = WebhookResponse(0.02, status=200)
DOWN = WebhookResponse(0.02, error="connection refused")
LEASE_S = deliveries.LEASE.total_seconds()


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock that the tests move."""
    return FakeClock(monkeypatch)


@pytest.fixture
def webhook_client() -> FakeWebhookClient:
    """What posts."""
    return FakeWebhookClient()


@pytest.fixture
def dispatcher(database: Database, webhook_client: FakeWebhookClient) -> WebhookDispatcher:
    """A dispatcher with a small capacity."""
    return WebhookDispatcher(database, webhook_client, KEYRING, capacity=32, gather_s=0)


async def deliver(dispatcher: WebhookDispatcher) -> int:
    """Deliver once and record the outcomes; return the number of attempts."""
    begun = await dispatcher.start_due()
    await asyncio.gather(*begun)
    await dispatcher.record_finished()
    return len(begun)


async def states(database: Database) -> list[str]:
    """Return the states of all deliveries, the oldest event first."""
    return [one.state for one in await events.deliveries(database)]


async def settled(database: Database, is_settled: Callable[[list[str]], bool]) -> list[str]:
    """Wait until the states of all deliveries fulfill a condition; return them."""
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()
    engine = database._writer.sync_engine  # noqa: SLF001 - the only source of commit events

    def hear(*_: object) -> None:
        loop.call_soon_threadsafe(heard.set)

    # A connection is checked in after its commit; the "commit" event comes before it.
    event.listen(engine, "checkin", hear)
    try:
        while not is_settled(found := await states(database)):
            await asyncio.wait_for(heard.wait(), 60)
            heard.clear()
        return found
    finally:
        event.remove(engine, "checkin", hear)


def all_delivered(found: list[str]) -> bool:
    """Return whether all events are delivered."""
    return set(found) == {DeliveryState.DELIVERED}


def by_url(posted: list[PostedWebhook]) -> Mapping[str, int]:
    """Count posts by where they went."""
    return Counter(one.url for one in posted)


async def test_pending_webhook_is_posted_and_recorded(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    assert 1 == await deliver(dispatcher)

    (posted,) = webhook_client.posts
    (event_body,) = await events.event_bodies(database)
    assert (events.OWN_URL, event_id) == (posted.url, posted.headers["webhook-id"])
    assert event_body["id"].encode() in posted.body
    assert [DeliveryState.DELIVERED] == await states(database)
    assert 0 == await deliver(dispatcher)


async def test_webhook_is_posted_as_soon_as_its_event_is_committed(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A poll without a wakeup would come too late.
    monkeypatch.setattr(webhook_dispatcher, "_PERIOD_SECONDS", 3600)
    async with dispatcher.running():
        for count in range(1, 4):
            await events.emit_event(database, actor.org_id)
            await asyncio.wait_for(webhook_client.received(count), 60)
        await settled(database, all_delivered)


async def test_event_of_another_process_is_found_by_polling(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(db, "notify_on_commit", lambda _: None)
    async with dispatcher.running():
        await events.emit_event(database, actor.org_id)
        await asyncio.wait_for(webhook_client.received(1), 60)


async def test_failed_delivery_is_retried_when_it_is_due(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    await events.emit_event(database, actor.org_id)
    webhook_client.outcome = DOWN

    first = await deliver(dispatcher)
    at_once = await deliver(dispatcher)
    await fake_clock.move(6)
    webhook_client.outcome = OK
    later = await deliver(dispatcher)

    assert [1, 0, 1] == [first, at_once, later]
    one, two = webhook_client.posts
    assert (one.body, one.headers["webhook-id"]) == (two.body, two.headers["webhook-id"])
    assert one.headers["webhook-signature"] != two.headers["webhook-signature"]


async def test_of_several_webhook_dispatcher_one_posts_each(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient
) -> None:
    for _ in range(12):
        await events.emit_event(database, actor.org_id)
    some = [WebhookDispatcher(database, webhook_client, KEYRING, gather_s=0) for _ in range(4)]

    await asyncio.gather(*(deliver(one) for one in some))
    await deliver(some[0])

    assert (
        12
        == len(webhook_client.posts)
        == len({one.headers["webhook-id"] for one in webhook_client.posts})
    )


async def test_deliveries_of_a_killed_dispatcher_are_retried_after_their_lease(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()
    for task in await dispatcher.start_due():
        await webhook_client.received(1)
        task.cancel()
    webhook_client.gate.set()
    other = WebhookDispatcher(database, webhook_client, KEYRING)

    before = await deliver(other)
    await fake_clock.move(LEASE_S)
    after = await deliver(other)

    assert (0, 1) == (before, after)
    assert [event_id] * 2 == [one.headers["webhook-id"] for one in webhook_client.posts]
    assert [DeliveryState.DELIVERED] == await states(database)


async def test_one_org_has_sixteen_under_way_at_most(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient
) -> None:
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING)
    for _ in range(20):
        await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    first = await dispatcher.start_due()
    second = await dispatcher.start_due()
    webhook_client.gate.set()
    await asyncio.gather(*first)

    assert (16, 0) == (len(first), len(second))
    assert 4 == await deliver(dispatcher)


async def test_org_with_many_events_does_not_starve_others(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient
) -> None:
    orgs = [actor.org_id, *[await make.org(database) for _ in range(5)]]
    for org_id in orgs:
        for _ in range(12):
            await events.emit_event(database, org_id, url=f"https://{org_id}.test/")
    webhook_client.gate.clear()
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING, capacity=24)

    begun = await dispatcher.start_due()
    await webhook_client.received(len(begun))
    under_way = by_url(webhook_client.posts)
    webhook_client.gate.set()
    await asyncio.gather(*begun)
    seen = set(under_way)
    while await deliver(dispatcher):
        seen |= set(by_url(webhook_client.posts))

    assert 24 >= len(begun)
    assert 5 <= len(under_way)
    assert 6 == len(seen)
    assert 72 == len(webhook_client.posts)


async def test_endpoint_that_fails_has_one_under_way(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    await events.endpoint(database, actor)
    webhook_client.outcomes[events.URL] = DOWN
    await events.emit_event(database, actor.org_id, url=None)
    await deliver(dispatcher)
    for _ in range(10):
        await events.emit_event(database, actor.org_id, url=None)
    await fake_clock.move(1)

    failing = [await deliver(dispatcher) for _ in range(3)]
    webhook_client.outcomes[events.URL] = OK
    recovered = [await deliver(dispatcher) for _ in range(3)]

    assert [1, 1, 1] == failing
    assert [1, 6, 0] == recovered


async def test_dead_endpoint_holds_up_nothing_that_goes_elsewhere(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
) -> None:
    await events.endpoint(database, actor)
    webhook_client.outcomes[events.URL] = DOWN
    for _ in range(3):
        await events.emit_event(database, actor.org_id, url=None)
    await deliver(dispatcher)
    for _ in range(100):
        await events.emit_event(database, actor.org_id, url=None)
    for _ in range(5):
        await events.emit_event(database, actor.org_id)

    assert 6 == await deliver(dispatcher)
    assert 5 == by_url(webhook_client.posts)[events.OWN_URL]


async def test_failed_receivers_use_at_most_half_of_the_capacity(
    database: Database, webhook_client: FakeWebhookClient, fake_clock: FakeClock
) -> None:
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING, capacity=16, gather_s=0)
    orgs = [await make.org(database) for _ in range(20)]
    webhook_client.outcome = DOWN
    for org_id in orgs:
        await events.emit_event(database, org_id, url=f"https://{org_id}.test/")
    while await deliver(dispatcher):
        pass
    await fake_clock.move(10)
    webhook_client.gate.clear()

    suspect = await dispatcher.start_due()
    living = await make.org(database)
    for _ in range(8):
        await events.emit_event(database, living)
    others = await dispatcher.start_due()
    webhook_client.gate.set()
    await asyncio.gather(*suspect, *others)

    assert 8 == len(suspect)
    assert 0 < len(others)
    assert {events.OWN_URL} == set(by_url(webhook_client.posts[-len(others) :]))


async def test_backlog_is_delivered_without_waiting_for_the_next_poll(
    database: Database,
    actor: Actor,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(100):
        await events.emit_event(database, actor.org_id)
    monkeypatch.setattr(webhook_dispatcher, "_PERIOD_SECONDS", 3600)

    async with WebhookDispatcher(database, webhook_client, KEYRING).running():
        await asyncio.wait_for(webhook_client.received(100), 60)
        await settled(database, all_delivered)

    assert webhook_client.most_under_way <= 16


async def test_outcomes_are_recorded_in_one_transaction(
    database: Database, actor: Actor, dispatcher: WebhookDispatcher
) -> None:
    for _ in range(16):
        await events.emit_event(database, actor.org_id)
    begun = await dispatcher.start_due()
    await asyncio.gather(*begun)
    commits = list[object]()
    engine = database._writer.sync_engine  # noqa: SLF001 - the only source of commit events
    event.listen(engine, "commit", commits.append)

    await dispatcher.record_finished()

    assert all_delivered(await states(database))
    assert 1 == len(commits)


async def test_posts_in_flight_at_the_end_are_finished_and_recorded(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
) -> None:
    await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    async with dispatcher.running():
        await webhook_client.received(1)
        asyncio.get_running_loop().call_later(0.05, webhook_client.gate.set)

    assert [DeliveryState.DELIVERED] == await states(database)


async def test_posts_that_do_not_end_are_left_at_the_end(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook_dispatcher, "_LAST_POSTS_SECONDS", 0.05)
    await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    async with dispatcher.running():
        await webhook_client.received(1)

    assert [DeliveryState.PENDING] == await states(database)
    assert 0 == webhook_client.under_way


async def test_post_that_raises_does_not_block_the_others(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
) -> None:
    class Broken(FakeWebhookClient):
        async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
            if url == "https://broken.test/":
                raise RuntimeError(url)
            return await super().post(url, body, headers)

    dispatcher = WebhookDispatcher(database, Broken(), KEYRING)
    await events.emit_event(database, actor.org_id, url="https://broken.test/")
    await events.emit_event(database, actor.org_id)

    assert 2 == await deliver(dispatcher)
    assert [DeliveryState.PENDING, DeliveryState.DELIVERED] == await states(database)
    assert [] == webhook_client.posts


async def test_outcome_that_cannot_be_stored_does_not_block_the_others(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient, fake_clock: FakeClock
) -> None:
    dispatcher = WebhookDispatcher(database, webhook_client, KEYRING, gather_s=0)
    url = "https://odd.test/"
    webhook_client.outcomes[url] = WebhookResponse(0.1, answer=None)  # type: ignore[arg-type]
    odd = await events.emit_event(database, actor.org_id, url=url)
    for _ in range(3):
        await events.emit_event(database, actor.org_id)
    begun = await dispatcher.start_due()
    await asyncio.gather(*begun)
    with pytest.raises(AttributeError):
        await dispatcher.record_finished()
    recorded = 1
    while recorded:
        # It may be recorded with another once more: outcomes arrive in any order.
        with contextlib.suppress(AttributeError):
            recorded = await dispatcher.record_finished()

    found = {one.event_id: one.state for one in await events.deliveries(database)}
    assert DeliveryState.PENDING == found.pop(odd)
    assert {DeliveryState.DELIVERED} == set(found.values())
    # The next attempt comes after the usual pause.
    errors = [one.error for one in await events.attempts(database)]
    assert ["the answer could not be stored"] == [one for one in errors if one]
    webhook_client.outcomes.clear()
    await fake_clock.move(6)
    assert 1 == await deliver(dispatcher)
    assert all_delivered(await states(database))


async def test_dispatcher_survives_database_failures(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook_dispatcher, "_RETRY_SECONDS", 0)
    failures = dict.fromkeys(("lease", "record"), 2)

    def failing(name: str) -> Callable[..., Any]:
        real = getattr(deliveries, name)

        async def call(*arguments: object) -> Any:
            if failures[name]:
                failures[name] -= 1
                raise OSError(name)
            return await real(*arguments)

        return call

    for name in failures:
        monkeypatch.setattr(deliveries, name, failing(name))
    await events.emit_event(database, actor.org_id)

    async with dispatcher.running():
        await settled(database, all_delivered)

    assert 1 == len(webhook_client.posts)
    assert {"lease": 0, "record": 0} == failures


async def test_tries_are_counted_by_how_they_ended(
    database: Database,
    actor: Actor,
    dispatcher: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
) -> None:
    def counted() -> list[float]:
        name = "recibo_deliveries_total"
        outcomes = ("delivered", "deferred", "given_up")
        return [REGISTRY.get_sample_value(name, {"outcome": one}) or 0 for one in outcomes]

    before = counted()
    for outcome in (OK, DOWN, DOWN, WebhookResponse(0.1, status=410)):
        webhook_client.outcome = outcome
        await events.emit_event(database, actor.org_id)
        await deliver(dispatcher)

    assert [1, 2, 1] == [round(now - then) for now, then in zip(counted(), before, strict=True)]


async def test_attempts_record_their_start(
    database: Database, actor: Actor, dispatcher: WebhookDispatcher
) -> None:
    before = clock.now()
    await events.emit_event(database, actor.org_id)
    await deliver(dispatcher)

    async with database.read() as session:
        (one,) = await session.scalars(select(tables.DeliveryAttempt))
    assert before <= one.started_at <= clock.now() + dt.timedelta(0)
