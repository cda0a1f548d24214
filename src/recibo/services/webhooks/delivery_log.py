"""The delivery log: events with their deliveries and attempts, as the portal shows them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select, union_all

from recibo.errors import NotFound
from recibo.lib import ids
from recibo.schemas import webhooks as shapes
from recibo.schemas.actor import Member
from recibo.schemas.ids import DeliveryId, EndpointId
from recibo.schemas.states import DeliveryState
from recibo.schemas.webhooks import Attempt, DeliveredEvent
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import events
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Delivery, DeliveryAttempt, WebhookEndpoint, WebhookEvent

# The length of the retry schedule; the page of an event lists all attempts.
_ATTEMPTS_LISTED = 10
#: How many deliveries of an endpoint are summed up.
OUTCOMES = 28


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One page of the events of an org."""

    data: list[DeliveredEvent]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class DeliveryDetails:
    """An event with one page of its attempts, at all deliveries."""

    delivered: DeliveredEvent
    attempts: tuple[Attempt, ...]
    next_cursor: str | None


async def recent(session: ReadSession, actor: Member, *, wanted: PageRequest) -> DeliveryPage:
    """Return one page of the org's events, newest first, with their last attempts.

    Events without an attempt are included.
    """
    bound_to = {"list": "webhook_outcomes", "org": actor.org_id}
    rows, next_cursor = await pagination.newest_first(
        session, scope.of(actor, WebhookEvent), WebhookEvent.id, wanted=wanted, bound_to=bound_to
    )
    query = scope.of(actor, Delivery).where(Delivery.event_id.in_([row.id for row in rows]))
    deliveries = (await session.execute(query.order_by(Delivery.id))).scalars().all()
    return DeliveryPage(await _delivered(session, actor, rows, deliveries), next_cursor)


async def of_endpoint(
    session: ReadSession, actor: Member, endpoint_id: EndpointId, *, wanted: PageRequest
) -> DeliveryPage:
    """Return one page of the deliveries to an endpoint, newest first, with their last attempts."""
    bound_to = {"list": "endpoint_outcomes", "org": actor.org_id, "endpoint": endpoint_id}
    query = scope.of(actor, Delivery).where(Delivery.endpoint_id == endpoint_id)
    deliveries, next_cursor = await pagination.newest_first(
        session, query, Delivery.id, wanted=wanted, bound_to=bound_to
    )
    of_these = WebhookEvent.id.in_([one.event_id for one in deliveries])
    found = (await session.execute(scope.of(actor, WebhookEvent).where(of_these))).scalars()
    by_id = {row.id: row for row in found}
    rows = [by_id[one.event_id] for one in deliveries if one.event_id in by_id]
    return DeliveryPage(await _delivered(session, actor, rows, deliveries), next_cursor)


async def get(
    session: ReadSession, actor: Member, event_id: str, *, wanted: PageRequest
) -> DeliveryDetails:
    """Return an event of the actor's org with one page of its attempts, newest first.

    Raises:
        NotFound: there is no such event.
    """
    if not ids.is_well_formed(event_id):
        raise _no_such_event()
    query = scope.of(actor, WebhookEvent).where(WebhookEvent.id == event_id)
    rows = (await session.execute(query)).scalars().all()
    of_event = scope.of(actor, Delivery).where(Delivery.event_id == event_id)
    deliveries = (await session.execute(of_event.order_by(Delivery.id))).scalars().all()
    found = await _delivered(session, actor, rows, deliveries)
    if not found:
        raise _no_such_event()
    attempts, next_cursor = await pagination.newest_first(
        session,
        scope.of(actor, DeliveryAttempt).where(DeliveryAttempt.event_id == event_id),
        DeliveryAttempt.id,
        wanted=wanted,
        bound_to={"list": "webhook_attempts", "org": actor.org_id, "event": event_id},
    )
    return DeliveryDetails(found[0], tuple(_attempt(one) for one in attempts), next_cursor)


async def outcomes(
    session: ReadSession, actor: Member, endpoint_ids: Sequence[EndpointId]
) -> Mapping[EndpointId, list[DeliveryState]]:
    """Return the states of the last 28 deliveries to each endpoint, oldest first."""
    found: dict[EndpointId, list[DeliveryState]] = {one: [] for one in endpoint_ids}
    if not endpoint_ids:
        return found
    last = union_all(*(_last_of(actor, one) for one in endpoint_ids)).subquery()
    for row in await session.execute(select(last).order_by(last.c.id)):
        found[EndpointId(row.endpoint_id)].append(DeliveryState(row.state))
    return found


def _last_of(actor: Member, endpoint_id: EndpointId) -> Select[tuple[str, str | None, str]]:
    last = (
        scope.of(actor, Delivery)
        .where(Delivery.endpoint_id == endpoint_id)
        .with_only_columns(Delivery.id, Delivery.endpoint_id, Delivery.state)
        .order_by(Delivery.id.desc())
        .limit(OUTCOMES)
    )
    # SQLite allows no ORDER BY in a part of a union.
    return select(last.subquery())


async def _delivered(
    session: ReadSession,
    actor: Member,
    rows: Sequence[WebhookEvent],
    deliveries: Sequence[Delivery],
) -> list[DeliveredEvent]:
    """Return events with those deliveries; one may be purged between the queries."""
    attempts = await _last_attempts(session, actor, [one.id for one in deliveries])
    urls = await _endpoint_urls(session, actor)
    of_event = defaultdict[str, list[shapes.Delivery]](list)
    for one in deliveries:
        of_event[one.event_id].append(_delivery(one, urls, attempts[one.id]))
    return [
        DeliveredEvent(events.shape(row), tuple(of_event[row.id]))
        for row in rows
        if row.id in of_event
    ]


async def _endpoint_urls(session: ReadSession, actor: Member) -> dict[str | None, str]:
    query = scope.of(actor, WebhookEndpoint)
    rows = await session.execute(query.with_only_columns(WebhookEndpoint.id, WebhookEndpoint.url))
    return {row.id: row.url for row in rows}


async def _last_attempts(
    session: ReadSession, actor: Member, delivery_ids: Sequence[str]
) -> dict[str, list[DeliveryAttempt]]:
    """Return the last attempts at each delivery, newest first, one more than is shown."""
    place = func.row_number().over(
        partition_by=DeliveryAttempt.delivery_id, order_by=DeliveryAttempt.id.desc()
    )
    places = (
        scope.of(actor, DeliveryAttempt)
        .where(DeliveryAttempt.delivery_id.in_(delivery_ids))
        .with_only_columns(DeliveryAttempt.id, place.label("place"))
        .subquery()
    )
    last = select(places.c.id).where(places.c.place <= _ATTEMPTS_LISTED + 1)
    query = scope.of(actor, DeliveryAttempt).where(DeliveryAttempt.id.in_(last))
    found: dict[str, list[DeliveryAttempt]] = defaultdict(list)
    for row in (await session.execute(query.order_by(DeliveryAttempt.id.desc()))).scalars():
        found[row.delivery_id].append(row)
    return found


def _delivery(
    row: Delivery, urls: Mapping[str | None, str], attempts: Sequence[DeliveryAttempt]
) -> shapes.Delivery:
    return shapes.Delivery(
        id=DeliveryId(row.id),
        endpoint_id=None if row.endpoint_id is None else EndpointId(row.endpoint_id),
        url=row.url or urls.get(row.endpoint_id),
        state=DeliveryState(row.state),
        due_at=row.due_at,
        attempts=tuple(_attempt(one) for one in attempts[:_ATTEMPTS_LISTED]),
        has_older=len(attempts) > _ATTEMPTS_LISTED,
    )


def _attempt(row: DeliveryAttempt) -> Attempt:
    return Attempt(
        url=row.url,
        started_at=row.started_at,
        duration_ms=row.duration_ms,
        status=row.status,
        error=row.error,
        answer=row.answer,
    )


def _no_such_event() -> NotFound:
    return NotFound("There is no event with this id.")
