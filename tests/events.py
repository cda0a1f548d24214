"""Webhook events, their deliveries and endpoints."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from recibo.lib import clock, ids
from recibo.schemas.actor import Actor
from recibo.schemas.ids import DeliveryId, EndpointId, OrgId
from recibo.schemas.states import DeliveryState, EventType
from recibo.services.webhooks import events
from recibo.store import tables
from recibo.store.db import Database

URL = "https://hooks.acme.test/recibo"
# A URL given with an upload.
OWN_URL = "https://till.acme.test/done"


async def endpoint(
    database: Database, actor: Actor, url: str = URL, *, event_types: list[str] | None = None
) -> EndpointId:
    """Add an endpoint to an org and return its id."""
    now = clock.now()
    row = tables.WebhookEndpoint(
        id=ids.new("whe"),
        org_id=actor.org_id,
        url=url,
        description="",
        event_types=event_types,
        created_at=now,
        updated_at=now,
    )
    async with database.write() as session:
        session.add(row)
    return EndpointId(row.id)


async def event_bodies(database: Database) -> list[dict[str, Any]]:
    """Return the bodies of all events, oldest first."""
    async with database.read() as session:
        query = select(tables.WebhookEvent).order_by(tables.WebhookEvent.id)
        return [json.loads(row.body) for row in (await session.execute(query)).scalars()]


async def deliveries(database: Database) -> list[tables.Delivery]:
    """Return the deliveries of all events, oldest first."""
    async with database.read() as session:
        query = select(tables.Delivery).order_by(tables.Delivery.id)
        return list((await session.execute(query)).scalars())


async def delivery_ids(database: Database, *event_ids: str) -> list[DeliveryId]:
    """Return the ids of the deliveries of events, oldest first."""
    found = await deliveries(database)
    return [DeliveryId(one.id) for one in found if one.event_id in event_ids]


async def attempts(database: Database) -> list[tables.DeliveryAttempt]:
    """Return all attempts at all events, the oldest first."""
    async with database.read() as session:
        query = select(tables.DeliveryAttempt).order_by(tables.DeliveryAttempt.id)
        return list((await session.execute(query)).scalars())


async def emit_event(
    database: Database,
    org_id: str,
    event_type: EventType = EventType.WEBHOOK_TEST,
    data: Mapping[str, Any] | None = None,
    *,
    url: str | None = OWN_URL,
) -> str:
    """Emit an event to a URL, or to the org's endpoint if `url` is None; return its id."""
    async with database.write() as session:
        event_id = await events.emit(session, OrgId(org_id), event_type, data or {}, url=url)
    assert event_id is not None
    return event_id


async def attempt(
    database: Database, event_id: str, *, endpoint_id: str | None = None, **columns: Any
) -> None:
    """Record an attempt like the dispatcher does; successful by default.

    Name the endpoint if the event has several.
    """
    now = clock.now()
    async with database.write() as session:
        event = await session.get_one(tables.WebhookEvent, event_id)
        query = select(tables.Delivery).where(tables.Delivery.event_id == event_id)
        if endpoint_id is not None:
            query = query.where(tables.Delivery.endpoint_id == endpoint_id)
        delivery = (await session.execute(query)).scalar_one()
        event.attempted_at = event.attempted_at or now
        tried = tables.DeliveryAttempt(
            id=ids.new("att"),
            event_id=event_id,
            delivery_id=delivery.id,
            org_id=event.org_id,
            url=delivery.url or URL,
            started_at=now,
            **{"duration_ms": 12, "status": 200, "answer": "", **columns},
        )
        session.add(tried)
        delivery.tries += 1
        if tried.status == 200:
            delivery.state, delivery.due_at = DeliveryState.DELIVERED, None


async def deliver_event(
    database: Database,
    org_id: str,
    event_type: EventType = EventType.WEBHOOK_TEST,
    data: Mapping[str, Any] | None = None,
) -> str:
    """Emit an event, record its delivery and return its id."""
    event_id = await emit_event(database, org_id, event_type, data)
    await attempt(database, event_id)
    return event_id
