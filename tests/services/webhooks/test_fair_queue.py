"""Whose turn it is: which deliveries are begun next."""

import datetime as dt

import pytest
from sqlalchemy import insert, text, update

from recibo.lib import clock, ids
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId
from recibo.schemas.states import DeliveryState, EventType
from recibo.services.webhooks import fair_queue
from recibo.services.webhooks.fair_queue import Destination, InFlight, NextDeliveries
from recibo.store import tables
from recibo.store.db import Database
from tests import events, make

CAPACITY = 100


async def choose(database: Database, load: InFlight | None = None) -> NextDeliveries:
    """Choose for a dispatcher with nothing in flight, unless given."""
    async with database.read() as session:
        return await fair_queue.next_deliveries(session, load or InFlight(CAPACITY))


async def add_pending(database: Database, org_id: str, count: int, **columns: object) -> list[str]:
    """Add pending deliveries to a request's URL for an org; return their ids."""
    now = clock.now()
    event_ids = [ids.new("evt") for _ in range(count)]
    row = {"org_id": org_id, "url": events.OWN_URL, "state": DeliveryState.PENDING, "due_at": now,
           "tries": 0, **columns}  # fmt: skip
    event = {"org_id": org_id, "type": EventType.WEBHOOK_TEST, "created_at": now, "body": "{}"}
    async with database.write() as session:
        await session.execute(
            insert(tables.WebhookEvent), [{"id": one, **event} for one in event_ids]
        )
        await session.execute(
            insert(tables.Delivery),
            [{"id": f"dlv_{one[4:]}", "event_id": one, **row} for one in event_ids],
        )
    return [f"dlv_{one[4:]}" for one in event_ids]


async def test_nothing_is_chosen_where_nothing_is_due(database: Database, actor: Actor) -> None:
    await add_pending(database, actor.org_id, 3, due_at=clock.now() + dt.timedelta(seconds=60))
    await add_pending(database, actor.org_id, 3, due_at=None, state=DeliveryState.DELIVERED)

    chosen = await choose(database)

    assert ({}, None, False) == (chosen.delivery_ids, chosen.last, chosen.has_more)


async def test_what_is_due_longest_is_first(database: Database, actor: Actor) -> None:
    young = await add_pending(database, actor.org_id, 16)
    old = await add_pending(
        database, actor.org_id, 1, due_at=clock.now() - dt.timedelta(seconds=60)
    )

    chosen = await choose(database)

    assert 16 == len(chosen.delivery_ids)
    assert old[0] in chosen.delivery_ids
    assert chosen.has_more
    assert 15 == len(set(young) & chosen.delivery_ids.keys())


async def test_endpoint_and_request_urls_are_separate_destinations(
    database: Database, actor: Actor
) -> None:
    endpoint_id = await events.endpoint(database, actor)
    await add_pending(database, actor.org_id, 20, url=None, endpoint_id=endpoint_id)
    await add_pending(database, actor.org_id, 20)

    assert 32 == len((await choose(database)).delivery_ids)


async def test_what_is_under_way_counts(database: Database, actor: Actor) -> None:
    await add_pending(database, actor.org_id, 20)
    destination = Destination(actor.org_id, is_to_endpoint=False)

    some = await choose(database, InFlight(CAPACITY, {destination: 10}))
    none = await choose(database, InFlight(CAPACITY, {destination: 16}))
    full = await choose(
        database, InFlight(10, {Destination(OrgId("org_other"), is_to_endpoint=True): 10})
    )

    assert [6, 0, 0] == [len(one.delivery_ids) for one in (some, none, full)]
    assert [True] * 3 == [one.has_more for one in (some, none, full)]


@pytest.mark.parametrize(("busy", "share"), [(0, 16), (49, 16), (50, 4), (74, 4), (75, 1), (99, 1)])
async def test_share_of_a_destination_shrinks_with_the_free_capacity(
    database: Database, actor: Actor, busy: int, share: int
) -> None:
    await add_pending(database, actor.org_id, 20)
    load = InFlight(CAPACITY, {Destination(OrgId("org_other"), is_to_endpoint=True): busy})

    assert share == len((await choose(database, load)).delivery_ids)


async def test_round_robin_continues_after_the_last_destination(database: Database) -> None:
    orgs = sorted([await make.org(database) for _ in range(4)])
    pending = {org: (await add_pending(database, org, 1))[0] for org in orgs}

    first = await choose(database, InFlight(2))
    second = await choose(database, InFlight(2, last=first.last))
    third = await choose(database, InFlight(2, last=Destination(orgs[2], is_to_endpoint=False)))

    assert [pending[org] for org in orgs[:2]] == sorted(first.delivery_ids)
    assert [pending[org] for org in orgs[2:]] == sorted(second.delivery_ids)
    assert {pending[orgs[3]], pending[orgs[0]]} == third.delivery_ids.keys()


async def test_failing_endpoint_has_one_turn_and_calls_for_no_more(
    database: Database, actor: Actor
) -> None:
    endpoint_id = await events.endpoint(database, actor)
    async with database.write() as session:
        await session.execute(update(tables.WebhookEndpoint).values(failing_since=clock.now()))
    await add_pending(database, actor.org_id, 20, url=None, endpoint_id=endpoint_id)
    destination = Destination(endpoint_id, is_to_endpoint=True)

    first = await choose(database)
    second = await choose(database, InFlight(CAPACITY, {destination: 1}, {destination: 1}))

    assert [True] == list(first.delivery_ids.values())
    assert [0, False, False] == [len(second.delivery_ids), second.has_more, first.has_more]


async def test_failed_urls_get_four_slots_and_others_the_rest(
    database: Database, actor: Actor
) -> None:
    tried = await add_pending(
        database, actor.org_id, 20, tries=1, due_at=clock.now() - dt.timedelta(seconds=9)
    )
    fresh = await add_pending(database, actor.org_id, 20)
    destination = Destination(actor.org_id, is_to_endpoint=False)

    chosen = await choose(database)
    busy = await choose(database, InFlight(CAPACITY, {destination: 4}, {destination: 4}))

    assert (4, 12) == (
        len(set(tried) & chosen.delivery_ids.keys()),
        len(set(fresh) & chosen.delivery_ids.keys()),
    )
    assert not set(tried) & busy.delivery_ids.keys()
    assert 12 == len(busy.delivery_ids)


async def test_each_destination_costs_one_index_lookup(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    looks = list[str]()
    for is_to_endpoint in (False, True):
        # The statement as it is sent to the database.
        query = fair_queue.due_receivers(is_to_endpoint=is_to_endpoint)
        engine = database._reader.sync_engine  # noqa: SLF001
        sql = query.params(now=clock.now()).compile(engine, compile_kwargs={"literal_binds": True})
        async with database.read() as session:
            plan = await session.execute(text(f"EXPLAIN QUERY PLAN {sql}"))
            looks += [row.detail for row in plan if "deliveries" in row.detail]
    await database.close()

    assert 6 == len(looks)
    assert [] == [one for one in looks if "SEARCH deliveries USING" not in one]
    assert [] == [one for one in looks if "INDEX ix_deliveries_due" not in one]
