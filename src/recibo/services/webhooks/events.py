"""Events: stored in the transaction of their change, listed after their first attempt.

An event without a receiver is not stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select

from recibo.lib import clock, ids
from recibo.schemas import webhooks as shapes
from recibo.schemas.actor import Actor
from recibo.schemas.ids import EndpointId, OrgId
from recibo.schemas.states import DeliveryState, EventType
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.store import db, scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Delivery, WebhookEndpoint, WebhookEvent


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the event history."""

    data: list[shapes.WebhookEvent]
    next_cursor: str | None

    @property
    def has_more(self) -> bool:
        """Whether another page follows."""
        return self.next_cursor is not None


@dataclass(frozen=True, slots=True)
class Receiver:
    """What an event is delivered to: an endpoint, or a URL that a request named."""

    endpoint_id: EndpointId | None
    url: str | None


async def emit(
    session: Session,
    org_id: OrgId,
    event_type: EventType,
    data: Mapping[str, Any],
    *,
    url: str | None = None,
) -> str | None:
    """Store an event and enqueue its deliveries, inside the caller's transaction; return its id.

    Without any receiver, return None.
    """
    receivers = await receivers_of(session, org_id, event_type, url=url)
    return await send(session, org_id, event_type, data, receivers) if receivers else None


async def receivers_of(
    session: Session, org_id: OrgId, event_type: EventType, *, url: str | None = None
) -> list[Receiver]:
    """Return who gets an event: `url`, or else each enabled endpoint that gets its type."""
    if url is not None:
        return [Receiver(None, url)]
    rows = await session.execute(_enabled(), {"org_id": org_id})
    return [
        Receiver(EndpointId(row.id), None)
        for row in rows
        if row.event_types is None or event_type in row.event_types
    ]


@cache
def _enabled() -> Select[Any]:
    # Built once: each reading needs it, and building it takes longer than running it.
    return (
        select(WebhookEndpoint.id, WebhookEndpoint.event_types)
        .where(WebhookEndpoint.org_id == bindparam("org_id"), WebhookEndpoint.disabled_at.is_(None))
        .order_by(WebhookEndpoint.id)
    )


async def send(
    session: Session,
    org_id: OrgId,
    event_type: EventType,
    data: Mapping[str, Any],
    receivers: Sequence[Receiver],
) -> str:
    """Store an event and enqueue its deliveries to at least one receiver; return its id."""
    now = clock.now()
    event = shapes.WebhookEvent(
        id=ids.new("evt"), type=event_type, org_id=org_id, created_at=now, data=dict(data)
    )
    session.add(
        WebhookEvent(
            id=event.id,
            org_id=org_id,
            type=event_type,
            created_at=now,
            body=event.model_dump_json(),
            receipt_id=data["receipt"]["id"] if "receipt" in data else None,
        )
    )
    # Deliveries refer to the event, and no ORM relationship defines the insert order.
    await session.flush()
    for one in receivers:
        session.add(
            Delivery(
                id=ids.new("dlv"),
                event_id=event.id,
                org_id=org_id,
                endpoint_id=one.endpoint_id,
                url=one.url,
                state=DeliveryState.PENDING,
                due_at=now,
                tries=0,
            )
        )
    db.notify_on_commit(session)
    return event.id


async def history(
    session: ReadSession, actor: Actor, event_type: EventType | None, *, wanted: PageRequest
) -> EventPage:
    """Return one page of the org's events with at least one attempt, newest first."""
    bound_to = {"list": "webhook_events", "org": actor.org_id, "type": event_type}
    query = scope.of(actor, WebhookEvent).where(WebhookEvent.attempted_at.is_not(None))
    if event_type is not None:
        query = query.where(WebhookEvent.type == event_type)
    rows, next_cursor = await pagination.newest_first(
        session, query, WebhookEvent.id, wanted=wanted, bound_to=bound_to
    )
    return EventPage([shape(row) for row in rows], next_cursor)


def shape(row: WebhookEvent) -> shapes.WebhookEvent:
    """Return an event as it was sent."""
    return shapes.WebhookEvent.model_validate_json(row.body)
