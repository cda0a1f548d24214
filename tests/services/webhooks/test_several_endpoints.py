"""Several endpoints of an org: each has its types, its deliveries and its own failures."""

import asyncio

import pytest
from sqlalchemy import select, update

from recibo.errors import Conflict, NotFound, ServiceError, ValidationFailed
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.lib.webhook_urls import Policy
from recibo.schemas.actor import Actor, Member
from recibo.schemas.ids import EndpointId
from recibo.schemas.states import DeliveryState, EventType, Role
from recibo.schemas.webhooks import Endpoint
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import delivery_log, endpoints, manual_sends
from recibo.services.webhooks import events as service
from recibo.services.webhooks.endpoints import MOST, Wanted
from recibo.store import tables
from recibo.store.db import Database
from tests import events, make

POLICY = Policy(https_only=False, private_allowed=False)
KEYRING = Keyring("k" * 40)
FIRST, SECOND, THIRD = (f"https://{name}.acme.test/" for name in ("a", "b", "c"))
PAGE = PageRequest(10, None, "key")
CORRECTED, COMPLETED = EventType.RECEIPT_CORRECTED, EventType.RECEIPT_COMPLETED


@pytest.fixture
async def member(database: Database, actor: Actor) -> Member:
    """A developer of the org."""
    return await make.member(database, actor.org_id, Role.DEVELOPER)


async def add(database: Database, member: Member, url: str, *types: EventType) -> Endpoint:
    """Add an endpoint in a separate transaction."""
    async with database.write() as session:
        wanted = Wanted(url, event_types=types or None)
        return await endpoints.add(session, member, wanted, policy=POLICY)


async def receivers(database: Database, event_id: str) -> set[str | None]:
    """Return the endpoints that an event goes to."""
    found = await events.deliveries(database)
    return {one.endpoint_id for one in found if one.event_id == event_id}


async def states(database: Database) -> dict[tuple[str, str | None], str]:
    """Return the state of each delivery, by event and endpoint."""
    return {(one.event_id, one.endpoint_id): one.state for one in await events.deliveries(database)}


async def test_event_is_stored_once_with_a_delivery_for_each_endpoint(
    database: Database, member: Member
) -> None:
    made = [await add(database, member, url) for url in (FIRST, SECOND)]
    event_id = await events.emit_event(database, member.org_id, url=None)

    assert 1 == len(await events.event_bodies(database))
    assert {one.id for one in made} == await receivers(database, event_id)
    assert [None, None] == [one.url for one in await events.deliveries(database)]


async def test_url_of_a_request_replaces_all_endpoints(database: Database, member: Member) -> None:
    for url in (FIRST, SECOND):
        await add(database, member, url)
    await events.emit_event(database, member.org_id)

    (delivery,) = await events.deliveries(database)
    assert (None, events.OWN_URL) == (delivery.endpoint_id, delivery.url)


async def test_endpoint_gets_only_the_types_that_it_chose(
    database: Database, member: Member
) -> None:
    all_types = await add(database, member, FIRST)
    chosen = await add(database, member, SECOND, CORRECTED)
    corrected = await events.emit_event(database, member.org_id, CORRECTED, url=None)
    completed = await events.emit_event(database, member.org_id, COMPLETED, url=None)

    assert {all_types.id, chosen.id} == await receivers(database, corrected)
    assert {all_types.id} == await receivers(database, completed)


async def test_event_that_no_endpoint_wants_is_not_stored(
    database: Database, member: Member
) -> None:
    await add(database, member, FIRST, CORRECTED)
    async with database.write() as session:
        found = await service.emit(session, member.org_id, COMPLETED, {})

    assert found is None
    assert [] == await events.event_bodies(database)


async def test_disabled_endpoint_gets_nothing_and_loses_what_was_pending(
    database: Database, member: Member
) -> None:
    kept, off = [await add(database, member, url) for url in (FIRST, SECOND)]
    before = await events.emit_event(database, member.org_id, url=None)
    async with database.write() as session:
        await endpoints.disable(session, member, off.id)
    after = await events.emit_event(database, member.org_id, url=None)

    found = await states(database)
    assert DeliveryState.DROPPED == found[before, off.id]
    assert DeliveryState.PENDING == found[before, kept.id]
    assert {kept.id} == await receivers(database, after)
    async with database.write() as session:
        await endpoints.enable(session, member, off.id)
    again = await events.emit_event(database, member.org_id, url=None)
    assert {kept.id, off.id} == await receivers(database, again)


async def test_removed_endpoint_leaves_the_deliveries_of_the_others(
    database: Database, member: Member
) -> None:
    kept, gone = [await add(database, member, url) for url in (FIRST, SECOND)]
    event_id = await events.emit_event(database, member.org_id, url=None)
    async with database.write() as session:
        await endpoints.remove(session, member, gone.id)

    found = await states(database)
    assert (DeliveryState.PENDING, DeliveryState.DROPPED) == (
        found[event_id, kept.id],
        found[event_id, gone.id],
    )


async def test_eleventh_endpoint_is_refused_with_a_sentence(
    database: Database, member: Member
) -> None:
    made = await asyncio.gather(
        *(attempted(database, member, f"https://e{n}.acme.test/") for n in range(MOST + 2))
    )

    assert MOST == len([one for one in made if one is None])
    assert {"An organization has at most 10 endpoints. Delete one first."} == {
        str(one) for one in made if one is not None
    }
    assert {None, Conflict} == {type(one) if one else None for one in made}


async def attempted(database: Database, member: Member, url: str) -> ServiceError | None:
    """Add an endpoint and return the error, if there was one."""
    try:
        await add(database, member, url)
    except ServiceError as e:
        return e
    return None


async def test_oldest_endpoint_is_the_default(database: Database, member: Member) -> None:
    first, second = [await add(database, member, url) for url in (FIRST, SECOND)]
    async with database.write() as session:
        moved = await endpoints.put(session, member, THIRD, policy=POLICY)
    async with database.read() as session:
        listed = await endpoints.listed(session, member)

    assert first.id == moved.id
    assert [(first.id, THIRD), (second.id, SECOND)] == [(one.id, one.url) for one in listed]


async def test_changed_endpoint_is_audited_with_both_states(
    database: Database, member: Member
) -> None:
    endpoint = await add(database, member, FIRST)
    wanted = Wanted(SECOND, " Accounting ", [CORRECTED, COMPLETED])
    async with database.write() as session:
        await endpoints.change(session, member, endpoint.id, wanted, policy=POLICY)
    async with database.write() as session:
        changed = await endpoints.change(session, member, endpoint.id, wanted, policy=POLICY)

    assert (SECOND, "Accounting", (COMPLETED, CORRECTED)) == (
        changed.url,
        changed.description,
        changed.event_types,
    )
    async with database.read() as session:
        query = select(tables.AuditEvent).where(
            tables.AuditEvent.action == "webhook_endpoint.updated"
        )
        (entry,) = (await session.execute(query)).scalars().all()
    after = {"url": SECOND, "description": "Accounting", "disabled_at": None,
             "event_types": ["receipt.completed", "receipt.corrected"]}  # fmt: skip
    assert after == entry.after
    assert {**after, "url": FIRST, "description": "", "event_types": None} == entry.before


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (Wanted("ftp://x"), "url"),
        (Wanted(FIRST, "x" * 101), "description"),
        (Wanted(FIRST, "", []), "event_types"),
    ],
)
async def test_invalid_endpoint_is_refused(
    database: Database, member: Member, wanted: Wanted, field: str
) -> None:
    endpoint = await add(database, member, SECOND)
    with pytest.raises(ValidationFailed) as refusal:
        async with database.write() as session:
            await endpoints.change(session, member, endpoint.id, wanted, policy=POLICY)

    assert [field] == [one.field for one in refusal.value.details]


@pytest.mark.parametrize("endpoint_id", ["whe_" + "0" * 32, "", "whe_\0", "x" * 5000])
async def test_unknown_or_foreign_endpoint_is_not_found(
    database: Database, member: Member, endpoint_id: str
) -> None:
    await add(database, member, FIRST)
    other = await make.member(database, await make.org(database), Role.OWNER)
    foreign = await add(database, other, SECOND)
    for one in (endpoint_id, foreign.id):
        for act in (endpoints.enable, endpoints.disable, endpoints.remove, manual_sends.send_test):
            with pytest.raises(NotFound, match="no endpoint with this id"):
                async with database.write() as session:
                    await act(session, member, one)


async def test_test_event_goes_to_one_endpoint_or_to_all_whatever_they_chose(
    database: Database, member: Member
) -> None:
    made = [await add(database, member, FIRST), await add(database, member, SECOND, CORRECTED)]
    async with database.write() as session:
        to_all = await manual_sends.send_test(session, member)
        to_one = await manual_sends.send_test(session, member, made[1].id)

    assert {one.id for one in made} == await receivers(database, to_all)
    assert {made[1].id} == await receivers(database, to_one)


async def deliver_all(database: Database, event_id: str) -> None:
    """Record a success at each delivery of an event."""
    for one in await receivers(database, event_id):
        await events.attempt(database, event_id, endpoint_id=one)


async def test_event_is_resent_to_all_its_endpoints_or_to_one(
    database: Database, member: Member
) -> None:
    made = [await add(database, member, url) for url in (FIRST, SECOND)]
    event_id = await events.emit_event(database, member.org_id, url=None)
    await deliver_all(database, event_id)
    first, _ = await events.deliveries(database)
    async with database.write() as session:
        await manual_sends.resend(session, member, event_id, delivery_id=first.id)
    one = await states(database)
    async with database.write() as session:
        await manual_sends.resend(session, member, event_id)
    both = await states(database)

    assert [DeliveryState.DELIVERED, DeliveryState.PENDING] == sorted(one.values())
    assert {(event_id, endpoint.id): DeliveryState.PENDING for endpoint in made} == both


async def test_event_is_not_resent_to_an_endpoint_that_is_off_or_gone(
    database: Database, member: Member
) -> None:
    kept, off, gone = [await add(database, member, url) for url in (FIRST, SECOND, THIRD)]
    event_id = await events.emit_event(database, member.org_id, url=None)
    await deliver_all(database, event_id)
    by_endpoint = {one.endpoint_id: one.id for one in await events.deliveries(database)}
    async with database.write() as session:
        await endpoints.disable(session, member, off.id)
        await endpoints.remove(session, member, gone.id)
    async with database.write() as session:
        await manual_sends.resend(session, member, event_id)

    found = await states(database)
    assert [DeliveryState.PENDING, DeliveryState.DELIVERED, DeliveryState.DELIVERED] == [
        found[event_id, one.id] for one in (kept, off, gone)
    ]
    for endpoint, error in ((off, Conflict), (gone, NotFound)):
        with pytest.raises(error):
            async with database.write() as session:
                await manual_sends.resend(
                    session, member, event_id, delivery_id=by_endpoint[endpoint.id]
                )


async def test_failing_endpoint_says_nothing_of_the_others(
    database: Database, member: Member
) -> None:
    failing, other = [await add(database, member, url) for url in (FIRST, SECOND)]
    async with database.write() as session:
        statement = update(tables.WebhookEndpoint).where(tables.WebhookEndpoint.id == failing.id)
        await session.execute(statement.values(failing_since=clock.now()))
    async with database.read() as session:
        found = await endpoints.listed(session, member)

    assert {failing.id: False, other.id: True} == {
        one.id: one.failing_since is None for one in found
    }


async def test_log_shows_each_delivery_with_its_own_attempts(
    database: Database, member: Member
) -> None:
    first, second = [await add(database, member, url) for url in (FIRST, SECOND)]
    event_id = await events.emit_event(database, member.org_id, url=None)
    await events.attempt(database, event_id, endpoint_id=first.id)
    for _ in range(2):
        await events.attempt(database, event_id, endpoint_id=second.id, status=500)
    to_second = await events.emit_event(database, member.org_id, url=None)
    async with database.read() as session:
        listed = await delivery_log.recent(session, member, wanted=PAGE)
        of_second = await delivery_log.of_endpoint(session, member, second.id, wanted=PAGE)
        counted = await delivery_log.outcomes(session, member, [first.id, second.id])

    entry = listed.data[1]
    assert [(FIRST, [200]), (SECOND, [500, 500])] == [
        (one.url, [tried.status for tried in one.attempts]) for one in entry.deliveries
    ]
    assert (1, SECOND) == (entry.delivered, entry.worst.url)
    assert [to_second, event_id] == [one.event.id for one in of_second.data]
    assert {SECOND} == {one.url for each in of_second.data for one in each.deliveries}
    assert {
        first.id: [DeliveryState.DELIVERED, DeliveryState.PENDING],
        second.id: [DeliveryState.PENDING, DeliveryState.PENDING],
    } == counted


async def test_pages_of_an_endpoint_hold_each_delivery_once(
    database: Database, member: Member
) -> None:
    endpoint = await add(database, member, FIRST)
    sent = [await events.emit_event(database, member.org_id, url=None) for _ in range(5)]
    found = list[str]()
    cursor: str | None = None
    for _ in range(3):
        wanted = PageRequest(2, cursor, "key")
        async with database.read() as session:
            page = await delivery_log.of_endpoint(session, member, endpoint.id, wanted=wanted)
        found += [one.event.id for one in page.data]
        cursor = page.next_cursor

    assert sent[::-1] == found
    assert cursor is None


async def test_each_endpoint_has_a_secret_of_its_own(database: Database, member: Member) -> None:
    made = [await add(database, member, url) for url in (FIRST, SECOND)]

    async def current(endpoint_id: EndpointId) -> str:
        async with database.write() as session:
            found = await endpoints.secret_of(session, KEYRING, member, endpoint_id)
        return found.current

    before = [await current(one.id) for one in made]
    async with database.write() as session:
        await endpoints.rotate(session, KEYRING, member, of_endpoint=True, endpoint_id=made[1].id)
    after = [await current(one.id) for one in made]

    assert 2 == len(set(before))
    assert (True, False) == (before[0] == after[0], before[1] == after[1])
