"""Pending deliveries: leased once, signed, recorded, retried by the schedule."""

import asyncio
import datetime as dt
from dataclasses import replace

import pytest
from sqlalchemy import select, update
from standardwebhooks import Webhook

from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.actor import Actor, Member
from recibo.schemas.ids import EventId, OrgId
from recibo.schemas.states import DeliveryState
from recibo.services.webhooks import deliveries, manual_sends, signing
from recibo.services.webhooks.deliveries import PAUSES, FinishedAttempt, LeasedDelivery
from recibo.store import tables
from recibo.store.db import Database
from tests import events, make
from tests.fake_clock import FakeClock

KEYRING = Keyring("a secret")
SECOND = dt.timedelta(seconds=1)
OK = WebhookResponse(0.02, status=200, answer=b"ok")
DOWN = WebhookResponse(0.02, error="connection refused")


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock that the tests move."""
    return FakeClock(monkeypatch)


async def take(database: Database, *event_ids: str) -> list[LeasedDelivery]:
    """Lease the deliveries of events in a separate transaction."""
    found = await events.delivery_ids(database, *event_ids)
    async with database.write() as session:
        return await deliveries.lease(session, KEYRING, found)


async def taken(database: Database, event_id: str) -> LeasedDelivery:
    """Take one that is due."""
    (one,) = await take(database, event_id)
    return one


async def record(database: Database, one: LeasedDelivery, outcome: WebhookResponse) -> None:
    """Write down how a try ended just now."""
    now = clock.now()
    async with database.write() as session:
        await deliveries.record(session, [FinishedAttempt(one, now, now, outcome)])


async def tried(database: Database, event_id: str, outcome: WebhookResponse) -> tables.Delivery:
    """Attempt a due delivery; return it."""
    await record(database, await taken(database, event_id), outcome)
    return await standing(database, event_id)


async def standing(database: Database, event_id: str) -> tables.Delivery:
    """Return a delivery."""
    return next(one for one in await events.deliveries(database) if one.event_id == event_id)


async def attempts(database: Database, event_id: str) -> list[tables.DeliveryAttempt]:
    """Return what is written of tries, the oldest first."""
    async with database.read() as session:
        query = select(tables.DeliveryAttempt).where(tables.DeliveryAttempt.event_id == event_id)
        return list((await session.scalars(query.order_by(tables.DeliveryAttempt.id))).all())


async def test_taken_delivery_says_what_is_posted_and_where(
    database: Database, actor: Actor
) -> None:
    endpoint_id = await events.endpoint(database, actor)
    to_endpoint = await events.emit_event(database, actor.org_id, url=None)
    elsewhere = await events.emit_event(database, actor.org_id)

    found = {str(one.event_id): one for one in await take(database, to_endpoint, elsewhere)}

    bodies = {one["id"]: one for one in await events.event_bodies(database)}
    assert {to_endpoint, elsewhere} == found.keys()
    assert (events.URL, endpoint_id) == (found[to_endpoint].url, found[to_endpoint].endpoint_id)
    assert (events.OWN_URL, None) == (found[elsewhere].url, found[elsewhere].endpoint_id)
    for event_id, one in found.items():
        assert f'"id":"{event_id}"' in one.body
        assert bodies[event_id]["org_id"] == one.org_id == actor.org_id
        assert (0, one.destination.is_to_endpoint) == (one.tries, one.endpoint_id is not None)


async def test_delivery_is_leased_once_until_its_lease_expires(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    first = await take(database, event_id)
    second = await take(database, event_id)
    await fake_clock.move(deliveries.LEASE.total_seconds())
    third = await take(database, event_id)

    assert [1, 0, 1] == [len(one) for one in (first, second, third)]
    assert (first[0].body, first[0].event_id) == (third[0].body, third[0].event_id)


async def test_of_many_that_take_at_once_one_has_each(database: Database, actor: Actor) -> None:
    event_ids = [await events.emit_event(database, actor.org_id) for _ in range(10)]

    found = await asyncio.gather(*(take(database, *event_ids) for _ in range(8)))

    assert sorted(event_ids) == sorted(one.event_id for some in found for one in some)


async def test_delivery_that_is_not_due_is_not_leased(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    await tried(database, event_id, DOWN)
    await fake_clock.move(PAUSES[0].total_seconds() - 1)

    assert [] == await take(database, event_id, "evt_unknown")


async def test_each_receiver_is_signed_for_with_its_own_secret(
    database: Database, actor: Actor
) -> None:
    endpoint_id = await events.endpoint(database, actor)
    to_endpoint = await taken(database, await events.emit_event(database, actor.org_id, url=None))
    elsewhere = await taken(database, await events.emit_event(database, actor.org_id))
    async with database.write() as session:
        secrets = await signing.of(session, KEYRING, actor.org_id, [actor.org_id, endpoint_id])

    for one, owner in ((to_endpoint, endpoint_id), (elsewhere, actor.org_id)):
        headers = deliveries.headers(one)
        assert one.event_id == headers["webhook-id"]
        assert ("application/json", "Recibo/0.1.0") == (
            headers["Content-Type"],
            headers["User-Agent"],
        )
        Webhook(secrets[owner].current).verify(one.body.encode(), headers)


def current_secret(one: LeasedDelivery) -> str:
    """Return what a delivery is signed with."""
    assert one.signing is not None
    return one.signing.current


async def test_old_secret_signs_along_while_it_does(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    before = current_secret(await taken(database, event_id))
    async with database.write() as session:
        await signing.rotate(session, KEYRING, actor.org_id, actor.org_id)
    await fake_clock.move(deliveries.LEASE.total_seconds())
    during = deliveries.headers(await taken(database, event_id))["webhook-signature"].split(" ")
    await fake_clock.move(signing.OVERLAP.total_seconds())
    after = await taken(database, event_id)

    assert [True, True] == [one.startswith("v1,") for one in during]
    assert current_secret(after) != before
    assert 1 == len(deliveries.headers(after)["webhook-signature"].split(" "))


async def test_each_try_has_the_same_bytes_and_a_new_time_and_signature(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    first = await taken(database, event_id)
    before = deliveries.headers(first)
    await record(database, first, DOWN)
    await fake_clock.move(10)
    second = await taken(database, event_id)
    after = deliveries.headers(second)

    assert (first.body, before["webhook-id"]) == (second.body, after["webhook-id"])
    assert before["webhook-timestamp"] != after["webhook-timestamp"]
    assert before["webhook-signature"] != after["webhook-signature"]


@pytest.mark.parametrize("status", [200, 201, 204, 299])
async def test_2xx_ends_a_delivery(database: Database, actor: Actor, status: int) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    found = await tried(database, event_id, replace(OK, status=status))

    assert (DeliveryState.DELIVERED, None, 1) == (found.state, found.due_at, found.tries)


@pytest.mark.parametrize("status", [100, 199, 301, 307, 400, 404, 429, 500, 503, None])
async def test_whatever_else_is_tried_again(
    database: Database, actor: Actor, status: int | None
) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    found = await tried(database, event_id, replace(DOWN, status=status))

    assert (DeliveryState.PENDING, 1) == (found.state, found.tries)
    assert found.due_at is not None


async def test_410_ends_a_delivery_at_once(database: Database, actor: Actor) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    found = await tried(database, event_id, WebhookResponse(0.1, status=410))

    assert (DeliveryState.FAILED, None) == (found.state, found.due_at)


async def test_ten_tries_are_made_by_the_schedule_and_none_is_early(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    minutes = [5 / 60, 5, 30, 2 * 60, 5 * 60, 10 * 60, 14 * 60, 20 * 60, 24 * 60]
    assert minutes == [one.total_seconds() / 60 for one in PAUSES]

    for pause in PAUSES:
        found = await tried(database, event_id, DOWN)
        assert found.due_at is not None
        wait = found.due_at - clock.now()
        assert pause <= wait <= pause * 1.1 + SECOND
        assert DeliveryState.PENDING == found.state
        await fake_clock.move(wait.total_seconds() + 0.001)
    last = await tried(database, event_id, DOWN)

    assert (DeliveryState.FAILED, None, 10) == (last.state, last.due_at, last.tries)
    assert 10 == len(await attempts(database, event_id))


async def test_many_that_failed_together_come_again_spread_out(
    database: Database, actor: Actor
) -> None:
    event_ids = [await events.emit_event(database, actor.org_id) for _ in range(20)]
    now = clock.now()
    ended = [FinishedAttempt(one, now, now, DOWN) for one in await take(database, *event_ids)]
    async with database.write() as session:
        await deliveries.record(session, ended)

    assert len({one.due_at for one in await events.deliveries(database)}) > 15


@pytest.mark.parametrize(
    ("status", "wish", "bounds"),
    [
        (429, 3600.0, (3600, 3600)),
        (503, 3600.0, (3600, 3600)),
        (503, 1.0, (5, 6)),
        (503, 10.0**8, (86400, 86400)),
        (500, 3600.0, (5, 6)),
        (302, 3600.0, (5, 6)),
    ],
)
@pytest.mark.usefixtures("fake_clock")
async def test_wish_to_be_left_alone_is_heard_from_429_and_503(
    database: Database, actor: Actor, status: int, wish: float, bounds: tuple[int, int]
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    outcome = WebhookResponse(0.1, status=status, retry_after_s=wish)

    found = await tried(database, event_id, outcome)

    assert found.due_at is not None
    assert bounds[0] <= (found.due_at - clock.now()).total_seconds() <= bounds[1]


async def test_attempt_is_recorded(database: Database, actor: Actor, fake_clock: FakeClock) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    await tried(database, event_id, WebhookResponse(1.2345, status=500, answer=b"a\0\xffb"))
    await fake_clock.move(10)
    await tried(database, event_id, WebhookResponse(0.5, status=302))
    await fake_clock.move(400)
    await tried(database, event_id, DOWN)

    found = [
        (one.url, one.duration_ms, one.status, one.error, one.answer)
        for one in await attempts(database, event_id)
    ]
    assert found == [
        (events.OWN_URL, 1234, 500, None, "a\ufffd\ufffdb"),
        (events.OWN_URL, 500, 302, "redirects are not followed", ""),
        (events.OWN_URL, 20, None, "connection refused", ""),
    ]


async def test_event_is_in_the_history_from_its_first_try_on(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)

    async def attempted_at() -> dt.datetime | None:
        async with database.read() as session:
            return (await session.get_one(tables.WebhookEvent, event_id)).attempted_at

    before = await attempted_at()
    await tried(database, event_id, DOWN)
    first = await attempted_at()
    await fake_clock.move(10)
    await tried(database, event_id, OK)

    assert before is None
    assert first is not None
    assert first == await attempted_at()


async def test_late_word_of_a_try_changes_nothing_that_another_took(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    event_id = await events.emit_event(database, actor.org_id)
    slow = await taken(database, event_id)
    await fake_clock.move(deliveries.LEASE.total_seconds())
    other = await taken(database, event_id)

    await record(database, slow, DOWN)
    between = await standing(database, event_id)
    await record(database, other, OK)

    assert (DeliveryState.PENDING, other.until, 0) == (between.state, between.due_at, between.tries)
    assert DeliveryState.DELIVERED == (await standing(database, event_id)).state
    assert 2 == len(await attempts(database, event_id))


async def test_event_resent_meanwhile_stays_pending(database: Database, actor: Actor) -> None:
    member = await make.member(database, actor.org_id)
    event_id = await events.emit_event(database, actor.org_id)
    one = await taken(database, event_id)
    async with database.write() as session:
        await manual_sends.resend(session, member, event_id)

    await record(database, one, OK)

    assert DeliveryState.PENDING == (await standing(database, event_id)).state
    assert 1 == len(await take(database, event_id))


@pytest.mark.parametrize("is_gone", [False, True])
async def test_deliveries_to_a_disabled_or_removed_endpoint_are_dropped(
    database: Database, actor: Member, *, is_gone: bool
) -> None:
    await events.endpoint(database, actor)
    event_id = await events.emit_event(database, actor.org_id, url=None)
    own = await events.emit_event(database, actor.org_id)
    async with database.write() as session:
        if is_gone:
            row = (await session.execute(select(tables.WebhookEndpoint))).scalar_one()
            await session.delete(row)
        else:
            statement = update(tables.WebhookEndpoint).values(disabled_at=clock.now())
            await session.execute(statement)

    found = await take(database, event_id, own)

    assert [own] == [one.event_id for one in found]
    dropped = await standing(database, event_id)
    assert (DeliveryState.DROPPED, None) == (dropped.state, dropped.due_at)


async def test_undecryptable_secret_does_not_block_other_orgs(
    database: Database, actor: Actor
) -> None:
    other = await make.actor(database)
    lost, kept = [await events.emit_event(database, one.org_id) for one in (actor, other)]
    async with database.write() as session:
        await signing.of(session, Keyring("another"), OrgId(actor.org_id), [actor.org_id])

    found = {one.event_id: one for one in await take(database, lost, kept)}

    assert {lost, kept} == set(found)
    assert deliveries.headers(found[EventId(kept)])
    # It is tried, fails, and so is given up some day.
    with pytest.raises(BadTokenError):
        deliveries.headers(found[EventId(lost)])


async def test_first_tries_that_broke_off_are_freed_and_nothing_else(
    database: Database, actor: Actor, fake_clock: FakeClock
) -> None:
    failed, fresh, done = [await events.emit_event(database, actor.org_id) for _ in range(3)]
    await tried(database, failed, DOWN)
    await tried(database, done, OK)
    await take(database, fresh)
    await fake_clock.move(1)

    async with database.write() as session:
        await deliveries.release_all(session)

    assert [fresh] == [one.event_id for one in await take(database, failed, fresh, done)]


async def test_pending_deliveries_are_counted(database: Database, actor: Actor) -> None:
    for outcome in (OK, DOWN, WebhookResponse(0.1, status=410)):
        await tried(database, await events.emit_event(database, actor.org_id), outcome)

    async with database.read() as session:
        assert 1 == await deliveries.count_pending(session)


async def test_events_are_purged_with_all_that_became_of_them(
    database: Database, actor: Actor, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "_PURGE_BATCH", 2)
    for _ in range(3):
        await tried(database, await events.emit_event(database, actor.org_id), OK)
    await fake_clock.move(deliveries.RETENTION.total_seconds() - 1)
    young = await events.emit_event(database, actor.org_id)
    before = await deliveries.purge(database)
    await fake_clock.move(2)

    purged = [await deliveries.purge(database) for _ in range(3)]

    assert (0, [2, 1, 0]) == (before, purged)
    assert [young] == [one["id"] for one in await events.event_bodies(database)]
    assert [young] == [one.event_id for one in await events.deliveries(database)]
    async with database.read() as session:
        assert [] == list(await session.scalars(select(tables.DeliveryAttempt)))
