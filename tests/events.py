"""Webhook events that are owed, and the endpoints they go to."""

import json
from typing import Any

from sqlalchemy import select

from recibo.kit import clock, ids
from recibo.shapes.actor import Actor
from recibo.shapes.ids import EndpointId
from recibo.store import tables
from recibo.store.db import Database

URL = "https://hooks.acme.test/recibo"


async def endpoint(database: Database, actor: Actor, url: str = URL) -> EndpointId:
    """Give an org an endpoint."""
    now = clock.now()
    row = tables.WebhookEndpoint(
        id=ids.new("whe"), org_id=actor.org_id, url=url, created_at=now, updated_at=now
    )
    async with database.write() as session:
        session.add(row)
    return EndpointId(row.id)


async def told(database: Database) -> list[dict[str, Any]]:
    """Return the bodies of all events, the oldest first."""
    async with database.read() as session:
        query = select(tables.WebhookEvent).order_by(tables.WebhookEvent.id)
        return [json.loads(row.body) for row in (await session.execute(query)).scalars()]


async def deliveries(database: Database) -> list[tables.Delivery]:
    """Return how the delivery of each event stands, the oldest first."""
    async with database.read() as session:
        query = select(tables.Delivery).order_by(tables.Delivery.event_id)
        return list((await session.execute(query)).scalars())
