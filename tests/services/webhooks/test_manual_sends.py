"""Test events and resends, and who may request them."""

import json
from collections.abc import Awaitable

import pytest
from sqlalchemy import select, update

from recibo.errors import Conflict, InsufficientScope, NotFound, RateLimitExceeded, ServiceError
from recibo.lib import clock
from recibo.schemas.actor import Actor, Member
from recibo.schemas.states import AuditAction, DeliveryState, Role
from recibo.services.webhooks import endpoints, manual_sends
from recibo.store import tables
from recibo.store.db import Database
from tests import events, make
from tests.fake_clock import FakeClock

ASKED_FOR = 60
UNKNOWN = "evt_" + "0" * 32


@pytest.fixture
async def member(database: Database, actor: Actor) -> Member:
    """A developer of the org."""
    return await make.member(database, actor.org_id, Role.DEVELOPER)


async def send_test(database: Database, member: Member) -> str:
    """Send a test event in a separate transaction."""
    async with database.write() as session:
        return await manual_sends.send_test(session, member)


async def resend(database: Database, member: Member, event_id: str) -> None:
    """Resend an event in a separate transaction."""
    async with database.write() as session:
        await manual_sends.resend(session, member, event_id)


async def switch_off(database: Database) -> None:
    """Disable all endpoints, as the dispatcher does when they fail too long."""
    async with database.write() as session:
        now = clock.now()
        values = {"disabled_at": now, "failing_since": now}
        await session.execute(update(tables.WebhookEndpoint).values(values))


async def change(database: Database, event_id: str, **columns: object) -> None:
    """Change the state of a delivery."""
    async with database.write() as session:
        statement = update(tables.Delivery).where(tables.Delivery.event_id == event_id)
        await session.execute(statement.values(columns))


async def audited(database: Database) -> list[tuple[str, str, str | None, str | None]]:
    """Return action and resource of each entry of the log, and who acted."""
    async with database.read() as session:
        query = select(tables.AuditEvent).order_by(tables.AuditEvent.id)
        return [
            (row.action, row.resource_type, row.resource_id, row.actor_user_id)
            for row in (await session.execute(query)).scalars()
            if row.action.startswith("webhook_event.")
        ]


async def test_test_event_is_enqueued_for_the_endpoint(database: Database, member: Member) -> None:
    endpoint_id = await events.endpoint(database, member)
    event_id = await send_test(database, member)

    (event,) = await events.event_bodies(database)
    (delivery,) = await events.deliveries(database)
    assert (event_id, "webhook.test", member.org_id, {}) == (
        event["id"],
        event["type"],
        event["org_id"],
        event["data"],
    )
    assert (event_id, endpoint_id, None) == (
        delivery.event_id,
        delivery.endpoint_id,
        delivery.url,
    )
    assert (DeliveryState.PENDING, 0) == (delivery.state, delivery.tries)
    assert [(AuditAction.WEBHOOK_EVENT_TESTED, "webhook_event", event_id, member.user_id)] == (
        await audited(database)
    )


async def test_test_without_an_endpoint_is_refused(database: Database, member: Member) -> None:
    await events.endpoint(database, await make.actor(database))
    with pytest.raises(NotFound, match="set its URL first"):
        await send_test(database, member)

    assert [] == await events.event_bodies(database)


async def test_test_to_an_endpoint_that_is_off_is_refused(
    database: Database, member: Member
) -> None:
    await events.endpoint(database, member)
    await switch_off(database)
    with pytest.raises(Conflict, match="switch it on first"):
        await send_test(database, member)

    assert ([], []) == (await events.event_bodies(database), await audited(database))


@pytest.mark.parametrize("state", [DeliveryState.DELIVERED, DeliveryState.FAILED])
async def test_resent_event_is_enqueued_unchanged(
    database: Database, member: Member, state: DeliveryState
) -> None:
    event_id = await events.emit_event(database, member.org_id)
    (before,) = await bodies(database)
    await change(database, event_id, state=state, due_at=None, tries=10)
    asked_at = clock.now()
    await resend(database, member, event_id)

    (delivery,) = await events.deliveries(database)
    assert [before] == await bodies(database)
    assert event_id == json.loads(before)["id"]
    assert (DeliveryState.PENDING, 0, events.OWN_URL, None) == (
        delivery.state,
        delivery.tries,
        delivery.url,
        delivery.endpoint_id,
    )
    assert delivery.due_at is not None
    assert asked_at <= delivery.due_at <= clock.now()
    assert [(AuditAction.WEBHOOK_EVENT_RESENT, "webhook_event", event_id, member.user_id)] == (
        await audited(database)
    )


async def bodies(database: Database) -> list[str]:
    """Return the bytes of all events."""
    async with database.read() as session:
        query = select(tables.WebhookEvent).order_by(tables.WebhookEvent.id)
        return [row.body for row in (await session.execute(query)).scalars()]


async def test_event_that_waits_for_its_next_try_is_tried_now(
    database: Database, member: Member
) -> None:
    event_id = await events.emit_event(database, member.org_id)
    await change(database, event_id, due_at=clock.now().replace(year=2999), tries=7)
    await resend(database, member, event_id)

    (delivery,) = await events.deliveries(database)
    assert delivery.due_at is not None
    assert delivery.due_at <= clock.now()
    assert 0 == delivery.tries


async def test_event_of_a_removed_endpoint_goes_to_the_present_one(
    database: Database, member: Member
) -> None:
    await events.endpoint(database, member)
    event_id = await events.emit_event(database, member.org_id, url=None)
    async with database.write() as session:
        await endpoints.remove(session, member)
    with pytest.raises(NotFound, match="set its URL first"):
        await resend(database, member, event_id)
    present = await events.endpoint(database, member)
    await resend(database, member, event_id)

    (delivery,) = await events.deliveries(database)
    assert (present, DeliveryState.PENDING) == (delivery.endpoint_id, delivery.state)


async def test_event_to_an_endpoint_that_is_off_is_refused(
    database: Database, member: Member
) -> None:
    await events.endpoint(database, member)
    of_endpoint = await events.emit_event(database, member.org_id, url=None)
    of_request = await events.emit_event(database, member.org_id)
    await switch_off(database)

    with pytest.raises(Conflict, match="switch it on first"):
        await resend(database, member, of_endpoint)
    await resend(database, member, of_request)


@pytest.mark.parametrize("event_id", [UNKNOWN, "", "evt_1", "evt_\0", "x" * 5000])
async def test_unknown_event_is_not_found(
    database: Database, member: Member, event_id: str
) -> None:
    with pytest.raises(NotFound, match="no event"):
        await resend(database, member, event_id)


async def test_event_of_another_org_is_not_found(database: Database, member: Member) -> None:
    event_id = await events.deliver_event(database, (await make.actor(database)).org_id)
    with pytest.raises(NotFound, match="no event"):
        await resend(database, member, event_id)

    (delivery,) = await events.deliveries(database)
    assert DeliveryState.DELIVERED == delivery.state


@pytest.mark.parametrize("role", Role)
async def test_roles_are_those_held_now(database: Database, actor: Actor, role: Role) -> None:
    """The actor came in as an owner; the membership says otherwise by now."""
    member = await make.member(database, actor.org_id, Role.OWNER)
    await events.endpoint(database, actor)
    event_id = await events.emit_event(database, actor.org_id)
    async with database.write() as session:
        await session.execute(update(tables.Membership).values(role=role))
    may = role in {Role.OWNER, Role.ADMIN, Role.DEVELOPER}

    outcomes = [
        await outcome(send_test(database, member)),
        await outcome(resend(database, member, event_id)),
    ]

    assert [None if may else InsufficientScope] * 2 == outcomes
    assert (2 if may else 0) == len(await audited(database))


async def outcome(asked: Awaitable[object]) -> type[ServiceError] | None:
    """Return how something ended that was asked for."""
    try:
        await asked
    except ServiceError as e:
        return type(e)
    return None


async def test_sixty_a_minute_may_be_asked_for(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_clock = FakeClock(monkeypatch)
    event_id = await events.emit_event(database, member.org_id)
    for _ in range(ASKED_FOR):
        await resend(database, member, event_id)
    with pytest.raises(RateLimitExceeded) as refusal:
        await resend(database, member, event_id)
    other = await make.member(database, await make.org(database), Role.OWNER)
    await resend(database, other, await events.emit_event(database, other.org_id))
    await fake_clock.move(60)
    await resend(database, member, event_id)

    assert 60 == refusal.value.retry_after
