"""Endpoints that fail: since when, and when they are switched off."""

import datetime as dt

import pytest
from sqlalchemy import select

from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Actor
from recibo.schemas.states import DeliveryState, MailKind, Role
from recibo.services.webhooks import deliveries, endpoint_health, endpoints
from recibo.services.webhooks.deliveries import FinishedAttempt
from recibo.store import tables
from recibo.store.db import Database
from tests import events, make
from tests.fake_clock import FakeClock

KEYRING = Keyring("a secret")
OK = WebhookResponse(0.02, status=200)
DOWN = WebhookResponse(0.02, status=500)
GONE = WebhookResponse(0.02, status=410)
DAY = 86400.0
RESOURCE = "webhook_endpoint"


@pytest.fixture(autouse=True)
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock that the tests move."""
    return FakeClock(monkeypatch)


async def try_(
    database: Database, event_id: str, *outcomes: WebhookResponse, tries: int = 0
) -> None:
    """Try a delivery as though it had been tried so often, and write down all at once."""
    (delivery_id,) = await events.delivery_ids(database, event_id)
    async with database.write() as session:
        delivery = await session.get_one(tables.Delivery, delivery_id)
        delivery.due_at, delivery.tries, delivery.state = clock.now(), tries, DeliveryState.PENDING
    async with database.write() as session:
        (one,) = await deliveries.lease(session, KEYRING, [delivery_id])
    now = clock.now()
    async with database.write() as session:
        await deliveries.record(
            session, [FinishedAttempt(one, now, now, outcome) for outcome in outcomes]
        )


async def row(database: Database) -> tables.WebhookEndpoint:
    """Return the endpoint."""
    async with database.read() as session:
        return (await session.execute(select(tables.WebhookEndpoint))).scalar_one()


async def mails(database: Database) -> list[tables.Mail]:
    """Return the pending mails."""
    async with database.read() as session:
        return list(await session.scalars(select(tables.Mail).order_by(tables.Mail.recipient)))


@pytest.fixture
async def event_id(database: Database, actor: Actor) -> str:
    """An event with a pending delivery to the endpoint of an org."""
    await events.endpoint(database, actor)
    return await events.emit_event(database, actor.org_id, url=None)


async def test_endpoint_fails_since_its_first_failure(
    database: Database, event_id: str, fake_clock: FakeClock
) -> None:
    assert (await row(database)).failing_since is None
    first = clock.now()
    await try_(database, event_id, DOWN)
    await fake_clock.move(100)
    await try_(database, event_id, DOWN)

    assert first == (await row(database)).failing_since


@pytest.mark.parametrize(
    ("outcomes", "fails"),
    [
        ((OK,), False),
        ((DOWN, OK), False),
        ((OK, DOWN), True),
        ((DOWN, OK, DOWN), True),
    ],
)
async def test_success_ends_failing_and_the_last_try_of_many_decides(
    database: Database,
    event_id: str,
    fake_clock: FakeClock,
    outcomes: tuple[WebhookResponse, ...],
    *,
    fails: bool,
) -> None:
    await try_(database, event_id, DOWN)
    await fake_clock.move(100)

    await try_(database, event_id, *outcomes)

    assert (clock.now() if fails else None) == (await row(database)).failing_since


async def test_addresses_that_requests_named_say_nothing_of_the_endpoint(
    database: Database, actor: Actor
) -> None:
    await events.endpoint(database, actor)

    await try_(database, await events.emit_event(database, actor.org_id), DOWN)

    assert (await row(database)).failing_since is None


async def test_changed_url_resets_the_failing_time(database: Database, event_id: str) -> None:
    found = await events.delivery_ids(database, event_id)
    async with database.write() as session:
        (one,) = await deliveries.lease(session, KEYRING, found)
    async with database.write() as session:
        endpoint = (await session.execute(select(tables.WebhookEndpoint))).scalar_one()
        endpoint.url = "https://other.test/"
    now = clock.now()
    async with database.write() as session:
        await deliveries.record(session, [FinishedAttempt(one, now, now, DOWN)])

    assert (await row(database)).failing_since is None


async def test_endpoint_that_fails_for_five_days_is_switched_off(
    database: Database, actor: Actor, event_id: str, fake_clock: FakeClock
) -> None:
    people = [await make.member(database, actor.org_id, role) for role in Role]
    admins = {
        f"{one.user_id}@recibo.test" for one in people if one.role in (Role.OWNER, Role.ADMIN)
    }
    other = await events.emit_event(database, actor.org_id, url=None)
    own = await events.emit_event(database, actor.org_id)
    began = clock.now()
    await try_(database, event_id, DOWN)
    await fake_clock.move(5 * DAY - 1)
    await try_(database, event_id, DOWN, tries=5)
    before = await row(database)
    await fake_clock.move(1)
    await try_(database, event_id, DOWN, tries=6)

    assert before.disabled_at is None
    assert clock.now() == (await row(database)).disabled_at
    states = {one.event_id: (one.state, one.due_at) for one in await events.deliveries(database)}
    assert {(DeliveryState.DROPPED, None)} == {states[event_id], states[other]}
    assert DeliveryState.PENDING == states[own][0]
    pending = await mails(database)
    assert admins == {one.recipient for one in pending}
    assert {MailKind.WEBHOOKS_SWITCHED_OFF} == {one.kind for one in pending}
    assert {"org": actor.org_id, "host": "hooks.acme.test", "when": began.isoformat()} == (
        pending[0].names
    )


async def test_switching_off_is_audited_once_without_an_actor(
    database: Database, event_id: str, fake_clock: FakeClock
) -> None:
    await try_(database, event_id, DOWN)
    await fake_clock.move(5 * DAY)
    await try_(database, event_id, DOWN, DOWN, tries=6)

    async with database.read() as session:
        query = select(tables.AuditEvent).where(tables.AuditEvent.resource_type == RESOURCE)
        (entry,) = await session.scalars(query)
    endpoint = await row(database)
    assert ("webhook_endpoint.disabled", endpoint.id) == (entry.action, entry.resource_id)
    assert (None, None) == (entry.actor_user_id, entry.actor_api_key_id)
    assert {"url": events.URL, "disabled_at": None} == entry.before
    assert (entry.after or {})["disabled_at"] is not None


async def test_first_tries_after_a_long_silence_switch_nothing_off(
    database: Database, actor: Actor, event_id: str, fake_clock: FakeClock
) -> None:
    await try_(database, event_id, DOWN)
    await fake_clock.move(14 * DAY)
    event_id = await events.emit_event(database, actor.org_id, url=None)

    for tries in range(3):
        await try_(database, event_id, DOWN, tries=tries)

    assert (await row(database)).disabled_at is None
    await try_(database, event_id, DOWN, tries=3)
    assert (await row(database)).disabled_at is not None


async def test_endpoint_where_all_is_gone_is_switched_off_too(
    database: Database, actor: Actor, event_id: str, fake_clock: FakeClock
) -> None:
    await try_(database, event_id, GONE)
    await fake_clock.move(5 * DAY)
    event_id = await events.emit_event(database, actor.org_id, url=None)
    before = await row(database)
    await try_(database, event_id, GONE)

    assert before.disabled_at is None
    assert (await row(database)).disabled_at is not None


async def test_endpoint_that_succeeds_now_and_then_stays_on(
    database: Database, event_id: str, fake_clock: FakeClock
) -> None:
    for _ in range(4):
        await try_(database, event_id, DOWN, tries=5)
        await fake_clock.move(2 * DAY)
        await try_(database, event_id, DOWN, OK, DOWN, tries=5)

    assert (await row(database)).disabled_at is None


async def test_enabled_endpoint_has_another_five_days(
    database: Database, actor: Actor, event_id: str, fake_clock: FakeClock
) -> None:
    owner = await make.member(database, actor.org_id, Role.OWNER)
    await try_(database, event_id, DOWN)
    await fake_clock.move(5 * DAY)
    await try_(database, event_id, DOWN, tries=6)
    async with database.write() as session:
        await endpoints.enable(session, owner)

    event_id = await events.emit_event(database, actor.org_id, url=None)
    await try_(database, event_id, DOWN, tries=6)
    await fake_clock.move(endpoint_health.LIMIT.total_seconds() - 1)
    await try_(database, event_id, DOWN, tries=6)

    assert (await row(database)).disabled_at is None
    assert endpoint_health.LIMIT == dt.timedelta(days=5)
