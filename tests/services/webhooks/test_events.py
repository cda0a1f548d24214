"""Which events are stored, for which receiver, with which data."""

from recibo.lib import ids
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import DeliveryState
from recibo.services.reading import receipts, usage
from recibo.store.db import Database
from recibo.store.tables import Org
from tests import core, events, make

QUOTA = 50


async def test_completed_receipt_emits_an_event(
    actor: Actor, parts: core.Core, database: Database
) -> None:
    endpoint_id = await events.endpoint(database, actor)
    receipt_id = (await parts.submit(actor)).receipt_id
    await parts.tasks.read(receipt_id)

    (event,) = await events.event_bodies(database)
    (delivery,) = await events.deliveries(database)
    async with database.read() as session:
        receipt = await receipts.get(session, actor, receipt_id)
    assert {"id", "type", "org_id", "created_at", "data"} == event.keys()
    assert ("receipt.completed", actor.org_id) == (event["type"], event["org_id"])
    assert event["id"].startswith("evt_")
    assert {"receipt": receipt.model_dump(mode="json")} == event["data"]
    assert (endpoint_id, None) == (delivery.endpoint_id, delivery.url)
    assert (DeliveryState.PENDING, 0) == (delivery.state, delivery.tries)


async def test_org_without_an_endpoint_gets_no_event(
    actor: Actor, parts: core.Core, database: Database
) -> None:
    await parts.tasks.read((await parts.submit(actor)).receipt_id)

    assert [] == await events.event_bodies(database)


async def test_endpoint_of_another_org_gets_no_event(
    actor: Actor, parts: core.Core, database: Database
) -> None:
    await events.endpoint(database, await make.actor(database))
    await parts.tasks.read((await parts.submit(actor)).receipt_id)

    assert [] == await events.event_bodies(database)


async def test_deleted_receipt_emits_an_event(
    actor: Actor, parts: core.Core, database: Database
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await parts.tasks.read(receipt_id)
    await events.endpoint(database, actor)
    async with database.write() as session:
        await receipts.soft_delete(session, actor, receipt_id)

    (event,) = await events.event_bodies(database)
    assert "receipt.deleted" == event["type"]
    assert receipt_id == event["data"]["receipt"]["id"]


async def test_receipt_deleted_while_pending_emits_no_completion(
    actor: Actor, parts: core.Core, database: Database
) -> None:
    await events.endpoint(database, actor)
    receipt_id = (await parts.submit(actor)).receipt_id
    async with database.write() as session:
        await receipts.soft_delete(session, actor, receipt_id)
    await parts.tasks.read(receipt_id)

    assert ["receipt.deleted"] == [one["type"] for one in await events.event_bodies(database)]


async def test_each_threshold_is_emitted_once_a_month(database: Database) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    await events.endpoint(database, actor)
    for _ in range(QUOTA):
        await _bill(database, actor)

    assert [(80, 40), (100, 50)] == [
        (one["data"]["threshold"], one["data"]["used"])
        for one in await events.event_bodies(database)
    ]


async def test_thresholds_are_emitted_again_after_a_quota_change(database: Database) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    await events.endpoint(database, actor)
    for _ in range(QUOTA):
        await _bill(database, actor)
    async with database.write() as session:
        org = await session.get_one(Org, actor.org_id)
        org.plan, org.agreed = PlanName.ENTERPRISE, {"receipts_a_month": 60}

    await _bill(database, actor, quota=60)
    await _bill(database, actor, quota=60)

    (event,) = (await events.event_bodies(database))[2:]
    assert {"threshold": 80, "used": 51, "quota": 60} == event["data"]


async def test_reading_again_counts_towards_no_threshold(database: Database) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    for _ in range(QUOTA):
        await _bill(database, actor)
    await events.endpoint(database, actor)
    async with database.write() as session:
        receipt_id = ReceiptId(ids.new("rcp"))
        await usage.bill(
            session, actor.org_id, receipt_id, accuracy="high", again=True, quota=QUOTA
        )

    assert [] == await events.event_bodies(database)


async def _bill(database: Database, actor: Actor, *, quota: int = QUOTA) -> None:
    receipt_id = ReceiptId(ids.new("rcp"))
    async with database.write() as session:
        await usage.bill(
            session, actor.org_id, receipt_id, accuracy="standard", again=False, quota=quota
        )
