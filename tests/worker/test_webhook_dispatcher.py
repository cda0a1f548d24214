"""The courier: webhooks on their way, with receivers that fail and processes that die."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import event, select

from recibo.adapters.fake_webhook_client import FakeWebhookClient, Posted
from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Actor
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries
from recibo.store import db, tables
from recibo.store.db import Database
from recibo.worker import webhook_dispatcher as couriers
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
def courier(database: Database, webhook_client: FakeWebhookClient) -> WebhookDispatcher:
    """A courier with few hands."""
    return WebhookDispatcher(database, webhook_client, KEYRING, capacity=32, gather_s=0)


async def deliver(courier: WebhookDispatcher) -> int:
    """Make one round, and write down how it ended; return how many were tried."""
    begun = await courier.begin()
    await asyncio.gather(*begun)
    await courier.write_down()
    return len(begun)


async def states(database: Database) -> list[str]:
    """Return how all deliveries stand, the oldest event first."""
    return [one.state for one in await events.deliveries(database)]


async def settled(database: Database, is_settled: Callable[[list[str]], bool]) -> list[str]:
    """Return how deliveries stand as soon as they stand so."""
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()
    engine = database._writer.sync_engine  # noqa: SLF001 - whose commits nobody else tells of

    def hear(*_: object) -> None:
        loop.call_soon_threadsafe(heard.set)

    # A connection comes back when its commit is over; "commit" itself is told before.
    event.listen(engine, "checkin", hear)
    try:
        while not is_settled(found := await states(database)):
            await asyncio.wait_for(heard.wait(), 60)
            heard.clear()
        return found
    finally:
        event.remove(engine, "checkin", hear)


def all_delivered(found: list[str]) -> bool:
    """Tell whether nothing is owed any more."""
    return set(found) == {DeliveryState.DELIVERED}


def by_url(posted: list[Posted]) -> Mapping[str, int]:
    """Count posts by where they went."""
    return Counter(one.url for one in posted)


async def test_owed_webhook_is_posted_with_its_bytes_and_written_down(
    database: Database, actor: Actor, courier: WebhookDispatcher, webhook_client: FakeWebhookClient
) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    assert 1 == await deliver(courier)

    (posted,) = webhook_client.posts
    (told,) = await events.event_bodies(database)
    assert (events.OWN_URL, event_id) == (posted.url, posted.headers["webhook-id"])
    assert told["id"].encode() in posted.body
    assert [DeliveryState.DELIVERED] == await states(database)
    assert 0 == await deliver(courier)


async def test_webhook_is_posted_as_soon_as_its_event_is_committed(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever looks by himself only comes too late.
    monkeypatch.setattr(couriers, "_PERIOD_SECONDS", 3600)
    async with courier.running():
        for count in range(1, 4):
            await events.emit_event(database, actor.org_id)
            await asyncio.wait_for(webhook_client.received(count), 60)
        await settled(database, all_delivered)


async def test_what_another_process_owes_is_found_within_a_second_or_so(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(db, "notify_on_commit", lambda _: None)
    async with courier.running():
        await events.emit_event(database, actor.org_id)
        await asyncio.wait_for(webhook_client.received(1), 60)


async def test_what_failed_comes_again_when_it_is_due(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    await events.emit_event(database, actor.org_id)
    webhook_client.outcome = DOWN

    first = await deliver(courier)
    at_once = await deliver(courier)
    await fake_clock.move(6)
    webhook_client.outcome = OK
    later = await deliver(courier)

    assert [1, 0, 1] == [first, at_once, later]
    one, two = webhook_client.posts
    assert (one.body, one.headers["webhook-id"]) == (two.body, two.headers["webhook-id"])
    assert one.headers["webhook-signature"] != two.headers["webhook-signature"]


async def test_of_several_couriers_one_posts_each(
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


async def test_what_a_killed_courier_had_in_hand_comes_again_when_its_lease_is_over(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()
    for task in await courier.begin():
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
    courier = WebhookDispatcher(database, webhook_client, KEYRING)
    for _ in range(20):
        await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    first = await courier.begin()
    second = await courier.begin()
    webhook_client.gate.set()
    await asyncio.gather(*first)

    assert (16, 0) == (len(first), len(second))
    assert 4 == await deliver(courier)


async def test_orgs_have_their_turn_though_one_is_owed_much(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient
) -> None:
    orgs = [actor.org_id, *[await make.org(database) for _ in range(5)]]
    for org_id in orgs:
        for _ in range(12):
            await events.emit_event(database, org_id, url=f"https://{org_id}.test/")
    webhook_client.gate.clear()
    courier = WebhookDispatcher(database, webhook_client, KEYRING, capacity=24)

    begun = await courier.begin()
    await webhook_client.received(len(begun))
    under_way = by_url(webhook_client.posts)
    webhook_client.gate.set()
    await asyncio.gather(*begun)
    seen = set(under_way)
    while await deliver(courier):
        seen |= set(by_url(webhook_client.posts))

    assert 24 >= len(begun)
    assert 5 <= len(under_way)
    assert 6 == len(seen)
    assert 72 == len(webhook_client.posts)


async def test_endpoint_that_fails_has_one_under_way(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    fake_clock: FakeClock,
) -> None:
    await events.endpoint(database, actor)
    webhook_client.outcomes[events.URL] = DOWN
    await events.emit_event(database, actor.org_id, url=None)
    await deliver(courier)
    for _ in range(10):
        await events.emit_event(database, actor.org_id, url=None)
    await fake_clock.move(1)

    failing = [await deliver(courier) for _ in range(3)]
    webhook_client.outcomes[events.URL] = OK
    recovered = [await deliver(courier) for _ in range(3)]

    assert [1, 1, 1] == failing
    assert [1, 6, 0] == recovered


async def test_dead_endpoint_holds_up_nothing_that_goes_elsewhere(
    database: Database, actor: Actor, courier: WebhookDispatcher, webhook_client: FakeWebhookClient
) -> None:
    await events.endpoint(database, actor)
    webhook_client.outcomes[events.URL] = DOWN
    for _ in range(3):
        await events.emit_event(database, actor.org_id, url=None)
    await deliver(courier)
    for _ in range(100):
        await events.emit_event(database, actor.org_id, url=None)
    for _ in range(5):
        await events.emit_event(database, actor.org_id)

    assert 6 == await deliver(courier)
    assert 5 == by_url(webhook_client.posts)[events.OWN_URL]


async def test_receivers_that_failed_hold_half_of_the_hands_at_most(
    database: Database, webhook_client: FakeWebhookClient, fake_clock: FakeClock
) -> None:
    courier = WebhookDispatcher(database, webhook_client, KEYRING, capacity=16, gather_s=0)
    orgs = [await make.org(database) for _ in range(20)]
    webhook_client.outcome = DOWN
    for org_id in orgs:
        await events.emit_event(database, org_id, url=f"https://{org_id}.test/")
    while await deliver(courier):
        pass
    await fake_clock.move(10)
    webhook_client.gate.clear()

    doubtful = await courier.begin()
    living = await make.org(database)
    for _ in range(8):
        await events.emit_event(database, living)
    others = await courier.begin()
    webhook_client.gate.set()
    await asyncio.gather(*doubtful, *others)

    assert 8 == len(doubtful)
    assert 0 < len(others)
    assert {events.OWN_URL} == set(by_url(webhook_client.posts[-len(others) :]))


async def test_backlog_is_worked_off_without_waiting_for_the_next_second(
    database: Database,
    actor: Actor,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(100):
        await events.emit_event(database, actor.org_id)
    monkeypatch.setattr(couriers, "_PERIOD_SECONDS", 3600)

    async with WebhookDispatcher(database, webhook_client, KEYRING).running():
        await asyncio.wait_for(webhook_client.received(100), 60)
        await settled(database, all_delivered)

    assert webhook_client.most_under_way <= 16


async def test_many_are_written_down_in_one_transaction(
    database: Database, actor: Actor, courier: WebhookDispatcher
) -> None:
    for _ in range(16):
        await events.emit_event(database, actor.org_id)
    begun = await courier.begin()
    await asyncio.gather(*begun)
    commits = list[object]()
    engine = database._writer.sync_engine  # noqa: SLF001 - whose commits nobody else tells of
    event.listen(engine, "commit", commits.append)

    await courier.write_down()

    assert all_delivered(await states(database))
    assert 1 == len(commits)


async def test_posts_under_way_at_the_end_are_ended_and_written_down(
    database: Database, actor: Actor, courier: WebhookDispatcher, webhook_client: FakeWebhookClient
) -> None:
    await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    async with courier.running():
        await webhook_client.received(1)
        asyncio.get_running_loop().call_later(0.05, webhook_client.gate.set)

    assert [DeliveryState.DELIVERED] == await states(database)


async def test_posts_that_do_not_end_are_left_at_the_end(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(couriers, "_LAST_POSTS_SECONDS", 0.05)
    await events.emit_event(database, actor.org_id)
    webhook_client.gate.clear()

    async with courier.running():
        await webhook_client.received(1)

    assert [DeliveryState.OWED] == await states(database)
    assert 0 == webhook_client.under_way


async def test_post_that_raises_keeps_none_of_the_others(
    database: Database, actor: Actor, courier: WebhookDispatcher, webhook_client: FakeWebhookClient
) -> None:
    class Broken(FakeWebhookClient):
        async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
            if url == "https://broken.test/":
                raise RuntimeError(url)
            return await super().post(url, body, headers)

    courier = WebhookDispatcher(database, Broken(), KEYRING)
    await events.emit_event(database, actor.org_id, url="https://broken.test/")
    await events.emit_event(database, actor.org_id)

    assert 2 == await deliver(courier)
    assert [DeliveryState.OWED, DeliveryState.DELIVERED] == await states(database)
    assert [] == webhook_client.posts


async def test_outcome_that_cannot_be_written_down_keeps_none_of_the_others(
    database: Database, actor: Actor, webhook_client: FakeWebhookClient, fake_clock: FakeClock
) -> None:
    courier = WebhookDispatcher(database, webhook_client, KEYRING, gather_s=0)
    url = "https://odd.test/"
    webhook_client.outcomes[url] = WebhookResponse(0.1, answer=None)  # type: ignore[arg-type]
    odd = await events.emit_event(database, actor.org_id, url=url)
    for _ in range(3):
        await events.emit_event(database, actor.org_id)
    begun = await courier.begin()
    await asyncio.gather(*begun)
    with pytest.raises(AttributeError):
        await courier.write_down()
    while await courier.write_down():
        pass

    found = {one.event_id: one.state for one in await events.deliveries(database)}
    assert DeliveryState.OWED == found.pop(odd)
    assert {DeliveryState.DELIVERED} == set(found.values())
    # A try like any other: the next one comes after the usual pause.
    errors = [one.error for one in await events.attempts(database)]
    assert ["the answer could not be stored"] == [one for one in errors if one]
    webhook_client.outcomes.clear()
    await fake_clock.move(6)
    assert 1 == await deliver(courier)
    assert all_delivered(await states(database))


async def test_database_that_fails_is_ridden_out(
    database: Database,
    actor: Actor,
    courier: WebhookDispatcher,
    webhook_client: FakeWebhookClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(couriers, "_RETRY_SECONDS", 0)
    failures = dict.fromkeys(("take", "record"), 2)

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

    async with courier.running():
        await settled(database, all_delivered)

    assert 1 == len(webhook_client.posts)
    assert {"take": 0, "record": 0} == failures


async def test_tries_are_counted_by_how_they_ended(
    database: Database, actor: Actor, courier: WebhookDispatcher, webhook_client: FakeWebhookClient
) -> None:
    def counted() -> list[float]:
        name = "recibo_deliveries_total"
        outcomes = ("delivered", "put_off", "given_up")
        return [REGISTRY.get_sample_value(name, {"outcome": one}) or 0 for one in outcomes]

    before = counted()
    for outcome in (OK, DOWN, DOWN, WebhookResponse(0.1, status=410)):
        webhook_client.outcome = outcome
        await events.emit_event(database, actor.org_id)
        await deliver(courier)

    assert [1, 2, 1] == [round(now - then) for now, then in zip(counted(), before, strict=True)]


async def test_attempts_tell_when_they_began(
    database: Database, actor: Actor, courier: WebhookDispatcher
) -> None:
    before = clock.now()
    await events.emit_event(database, actor.org_id)
    await deliver(courier)

    async with database.read() as session:
        (one,) = await session.scalars(select(tables.DeliveryAttempt))
    assert before <= one.started_at <= clock.now() + dt.timedelta(0)


async def test_backlog_goes_slower_while_documents_are_read(
    database: Database, webhook_client: FakeWebhookClient
) -> None:
    courier = WebhookDispatcher(database, webhook_client, KEYRING)
    read, may_end = list[str](), asyncio.Event()

    async def reading(name: str) -> None:
        read.append(name)
        await may_end.wait()
        if name == "bad":
            raise ValueError(name)

    before = courier.pause_s(16)
    tasks = [asyncio.create_task(_run(courier.beside(reading), one)) for one in ("good", "bad")]
    await asyncio.sleep(0)
    during = courier.pause_s(16)
    may_end.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert ["good", "bad"] == read
    assert 5 * before < during
    assert (before, 0) == (courier.pause_s(16), courier.pause_s(0))
    assert courier.pause_s(1) <= before


async def _run(read: Callable[[str], Awaitable[None]], name: str) -> None:
    await read(name)
