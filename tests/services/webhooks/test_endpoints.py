"""The endpoint of an org: set, changed, switched on again, removed; its secrets rotated."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import select, update

from recibo.errors import InsufficientScope, NotFound, ServiceError, ValidationFailed
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.lib.webhook_urls import Policy
from recibo.schemas.actor import Actor, Member
from recibo.schemas.ids import EndpointId
from recibo.schemas.states import DeliveryState, Role
from recibo.schemas.webhooks import Endpoint, SigningSecrets
from recibo.services.webhooks import endpoints, signing
from recibo.services.webhooks.endpoints import Secrets
from recibo.store import tables
from recibo.store.db import Database, Session
from tests import events, make

POLICY = Policy(https_only=False, private_allowed=False)
KEYRING = Keyring("k" * 40)
WRITERS = {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
OTHER_URL = "https://other.acme.test/hook"
# Of a request.
URL = "https://till.acme.test/done"
MINUTE, HOUR = dt.timedelta(minutes=1), dt.timedelta(hours=1)


@pytest.fixture
async def member(database: Database, actor: Actor) -> Member:
    """A developer of the org."""
    return await make.member(database, actor.org_id, Role.DEVELOPER)


async def put(database: Database, member: Member, url: str = events.URL) -> Endpoint:
    """Set the endpoint in a separate transaction."""
    async with database.write() as session:
        return await endpoints.put(session, member, url, policy=POLICY)


async def get(database: Database, member: Member) -> Endpoint | None:
    """Return the endpoint."""
    async with database.read() as session:
        return await endpoints.get(session, member)


async def secrets(database: Database, member: Member) -> Secrets:
    """Return the two secrets."""
    async with database.write() as session:
        return await endpoints.secrets(session, KEYRING, member)


async def rotate(database: Database, member: Member, *, of_endpoint: bool) -> None:
    """Rotate one of the two in a separate transaction."""
    async with database.write() as session:
        await endpoints.rotate(session, KEYRING, member, of_endpoint=of_endpoint)


async def remove(database: Database, member: Member) -> None:
    """Remove the endpoint in a separate transaction."""
    async with database.write() as session:
        await endpoints.remove(session, member)


async def switch_off(database: Database) -> None:
    """Switch it off, as failing for too long does."""
    async with database.write() as session:
        values = {"disabled_at": clock.now(), "failing_since": clock.now()}
        await session.execute(update(tables.WebhookEndpoint).values(values))


async def audited(database: Database) -> Sequence[tables.AuditEvent]:
    """Return the audit entries of endpoints."""
    async with database.read() as session:
        query = select(tables.AuditEvent).where(tables.AuditEvent.action.contains("endpoint"))
        return (await session.execute(query.order_by(tables.AuditEvent.id))).scalars().all()


async def test_endpoint_is_created_then_changed(database: Database, member: Member) -> None:
    created = await put(database, member)
    changed = await put(database, member, f" {OTHER_URL}\n")

    assert (created.id, OTHER_URL) == (changed.id, changed.url)
    assert changed == await get(database, member)
    first, second = await audited(database)
    off = {"description": "", "event_types": None, "disabled_at": None}
    assert ("webhook_endpoint.created", None, {"url": events.URL, **off}) == (
        first.action,
        first.before,
        first.after,
    )
    assert (
        "webhook_endpoint.updated",
        {"url": events.URL, **off},
        {"url": OTHER_URL, **off},
    ) == (second.action, second.before, second.after)
    assert {("webhook_endpoint", created.id, member.user_id)} == {
        (row.resource_type, row.resource_id, row.actor_user_id) for row in (first, second)
    }


@pytest.mark.parametrize("url", ["", "ftp://a.test", "http://127.0.0.1/", "https://u:p@a.test/"])
async def test_url_that_webhooks_are_not_sent_to_is_refused(
    database: Database, member: Member, url: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        await put(database, member, url)

    assert ["url"] == [one.field for one in refusal.value.details]
    assert await get(database, member) is None


async def test_endpoint_that_was_off_is_on_with_another_url(
    database: Database, member: Member
) -> None:
    await put(database, member)
    await switch_off(database)

    changed = await put(database, member, OTHER_URL)

    assert (None, None) == (changed.disabled_at, changed.failing_since)
    before = (await audited(database))[-1].before
    assert before is not None
    assert before["disabled_at"].endswith("Z")


async def test_endpoint_is_switched_on_again_once(database: Database, member: Member) -> None:
    await put(database, member)
    await switch_off(database)
    for _ in range(2):
        async with database.write() as session:
            await endpoints.enable(session, member)

    endpoint = await get(database, member)
    assert endpoint is not None
    assert (None, None) == (endpoint.disabled_at, endpoint.failing_since)
    assert ["webhook_endpoint.created", "webhook_endpoint.enabled"] == [
        row.action for row in await audited(database)
    ]


async def test_same_url_again_changes_nothing(database: Database, member: Member) -> None:
    created = await put(database, member)

    assert created == await put(database, member)
    assert ["webhook_endpoint.created"] == [row.action for row in await audited(database)]


async def test_same_url_switches_on_what_was_off(database: Database, member: Member) -> None:
    await put(database, member)
    await switch_off(database)

    assert (await put(database, member)).disabled_at is None


async def test_what_waits_for_a_try_is_due_when_the_url_is_changed(
    database: Database, member: Member
) -> None:
    await put(database, member)
    waiting, tried, elsewhere, done = [
        await events.emit_event(database, member.org_id, url=url) for url in (None, None, URL, None)
    ]
    await events.attempt(database, done)
    later, soon = clock.now() + HOUR, clock.now() + MINUTE / 2
    for event_id, at in ((waiting, later), (tried, soon), (elsewhere, later)):
        async with database.write() as session:
            statement = update(tables.Delivery).where(tables.Delivery.event_id == event_id)
            await session.execute(statement.values(due_at=at))
    await put(database, member, OTHER_URL)

    due = {row.event_id: row.due_at for row in await events.deliveries(database)}
    due_at = due[waiting]
    assert due_at is not None
    assert due_at <= clock.now()
    # A dispatcher may have it in flight.
    assert [soon, later, None] == [due[tried], due[elsewhere], due[done]]


async def test_removed_endpoint_leaves_no_pending_delivery_and_no_secret(
    database: Database, member: Member
) -> None:
    await put(database, member)
    before = await secrets(database, member)
    await events.emit_event(database, member.org_id, url=None)
    to_request = await events.emit_event(database, member.org_id)
    delivered = await events.emit_event(database, member.org_id, url=None)
    await events.attempt(database, delivered)
    await remove(database, member)
    after = await secrets(database, member)

    states = {row.event_id: (row.state, row.due_at) for row in await events.deliveries(database)}
    assert (DeliveryState.PENDING, False) == (states[to_request][0], states[to_request][1] is None)
    assert [DeliveryState.DELIVERED, DeliveryState.DROPPED] == sorted(
        state for event_id, (state, _) in states.items() if event_id != to_request
    )
    assert (before.org, None) == (after.org, after.endpoint)
    assert await get(database, member) is None
    await put(database, member)
    assert before.endpoint != (await secrets(database, member)).endpoint


async def test_secrets_are_made_once_and_differ(database: Database, member: Member) -> None:
    await put(database, member)
    found = await asyncio.gather(*[secrets(database, member) for _ in range(4)])

    assert 1 == len(set(found))
    assert found[0].endpoint is not None
    assert found[0].org.current != found[0].endpoint.current


@pytest.mark.parametrize("of_endpoint", [True, False])
async def test_rotation_keeps_the_secret_before_for_a_day(
    database: Database, member: Member, *, of_endpoint: bool
) -> None:
    endpoint = await put(database, member)
    before = await secrets(database, member)
    await rotate(database, member, of_endpoint=of_endpoint)
    after = await secrets(database, member)
    with clock.moved(signing.OVERLAP):
        later = await secrets(database, member)

    (old, other), (new, still), (alone, again) = (
        parted(one, of_endpoint=of_endpoint) for one in (before, after, later)
    )
    assert old.current != new.current
    assert (new.current, old.current) == new.secrets
    assert (new.current,) == alone.secrets
    assert other == still == again
    last = (await audited(database))[-1]
    resource = ("webhook_endpoint", endpoint.id) if of_endpoint else ("org", member.org_id)
    assert "webhook_endpoint.secret_rotated" == last.action
    assert resource == (last.resource_type, last.resource_id)
    assert (None, None) == (last.before, last.after)


def parted(found: Secrets, *, of_endpoint: bool) -> tuple[SigningSecrets, SigningSecrets]:
    """Return the secret that a test is about, and the other one."""
    assert found.endpoint is not None
    return (found.endpoint, found.org) if of_endpoint else (found.org, found.endpoint)


async def test_each_replaced_secret_signs_along_for_its_own_day(
    database: Database, member: Member
) -> None:
    first = (await secrets(database, member)).org
    await rotate(database, member, of_endpoint=False)
    second = (await secrets(database, member)).org
    with clock.moved(HOUR):
        await rotate(database, member, of_endpoint=False)
        third = (await secrets(database, member)).org
    with clock.moved(24 * HOUR):
        later = (await secrets(database, member)).org

    assert (third.current, second.current, first.current) == third.secrets
    assert (third.current, second.current) == later.secrets


async def test_no_more_than_five_secrets_sign(database: Database, member: Member) -> None:
    for _ in range(6):
        await rotate(database, member, of_endpoint=False)

    assert 5 == len((await secrets(database, member)).org.secrets)


ACTS: dict[str, Callable[[Session, Member], Awaitable[Any]]] = {
    "enable": endpoints.enable,
    "remove": endpoints.remove,
    "rotate": lambda session, member: endpoints.rotate(session, KEYRING, member, of_endpoint=True),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_without_an_endpoint_there_is_nothing_to_change(
    database: Database, member: Member, act: Callable[[Session, Member], Awaitable[Any]]
) -> None:
    await put(database, await make.member(database, await make.org(database)))
    with pytest.raises(NotFound, match="set its URL first"):
        async with database.write() as session:
            await act(session, member)


@pytest.mark.parametrize("role", Role)
async def test_roles_are_those_held_now(database: Database, actor: Actor, role: Role) -> None:
    """The actor came in as an owner; the membership says otherwise by now."""
    member = await make.member(database, actor.org_id, Role.OWNER)
    await events.endpoint(database, actor)
    async with database.write() as session:
        await session.execute(update(tables.Membership).values(role=role))

    outcomes = [
        await outcome(database, act)
        for act in (
            lambda session: endpoints.put(session, member, events.URL, policy=POLICY),
            lambda session: endpoints.enable(session, member),
            lambda session: endpoints.rotate(session, KEYRING, member, of_endpoint=False),
            lambda session: endpoints.remove(session, member),
        )
    ]

    assert [None if role in WRITERS else InsufficientScope] * 4 == outcomes
    if role not in WRITERS:
        assert [] == await audited(database)


async def outcome(
    database: Database, act: Callable[[Session], Awaitable[Any]]
) -> type[ServiceError] | None:
    """Return how something ended in a separate transaction."""
    try:
        async with database.write() as session:
            await act(session)
    except ServiceError as e:
        return type(e)
    return None


async def test_endpoints_set_at_once_are_one(database: Database, member: Member) -> None:
    urls = [f"https://a{number}.test/" for number in range(4)]
    made = await asyncio.gather(*[put(database, member, url) for url in urls])

    assert 1 == len({one.id for one in made})
    last = await get(database, member)
    assert last is not None
    assert last.url in urls


async def test_secrets_lie_sealed_and_bound_to_their_owner(
    database: Database, member: Member
) -> None:
    await put(database, member)
    await secrets(database, member)
    await rotate(database, member, of_endpoint=True)
    found = await secrets(database, member)
    assert found.endpoint is not None
    async with database.read() as session:
        rows = (await session.execute(select(tables.SigningSecret))).scalars().all()

    written = [
        text for row in rows for text in (row.sealed, *(one["sealed"] for one in row.earlier))
    ]
    assert 3 == len(written)
    for secret in (*found.org.secrets, *found.endpoint.secrets):
        assert not any(secret.removeprefix("whsec_") in text for text in written)
    endpoint_row = next(row for row in rows if row.owner_id.startswith("whe_"))
    assert found.endpoint.current == KEYRING.unseal(
        endpoint_row.sealed, bound_to=EndpointId(endpoint_row.owner_id)
    )
