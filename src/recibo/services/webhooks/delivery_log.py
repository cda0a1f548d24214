"""The delivery log: events with their delivery and attempts, as the portal shows them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from recibo.errors import NotFound
from recibo.lib import ids
from recibo.schemas.actor import Member
from recibo.schemas.states import DeliveryState
from recibo.schemas.webhooks import Attempt, EventDelivery
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import events
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Delivery, DeliveryAttempt, WebhookEvent

# The length of the retry schedule; the page of an event lists all attempts.
_ATTEMPTS_LISTED = 10


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One page of the events of an org."""

    data: list[EventDelivery]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class DeliveryDetails:
    """An event with one page of its attempts."""

    delivered: EventDelivery
    next_cursor: str | None


async def recent(session: ReadSession, actor: Member, *, wanted: PageRequest) -> DeliveryPage:
    """Return one page of the org's events, newest first, with their last attempts.

    Events without an attempt are included.
    """
    bound_to = {"list": "webhook_outcomes", "org": actor.org_id}
    rows, next_cursor = await pagination.newest_first(
        session, scope.of(actor, WebhookEvent), WebhookEvent.id, wanted=wanted, bound_to=bound_to
    )
    event_ids = [row.id for row in rows]
    deliveries = await _deliveries(session, actor, event_ids)
    attempts = await _last_attempts(session, actor, event_ids)
    # An event may be purged between the queries.
    present = [row for row in rows if row.id in deliveries]
    data = [_listed(row, deliveries[row.id], attempts[row.id]) for row in present]
    return DeliveryPage(data, next_cursor)


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
    row = (await session.execute(query)).scalar_one_or_none()
    delivery = (await _deliveries(session, actor, [event_id])).get(event_id)
    if row is None or delivery is None:
        raise _no_such_event()
    attempts, next_cursor = await pagination.newest_first(
        session,
        scope.of(actor, DeliveryAttempt).where(DeliveryAttempt.event_id == event_id),
        DeliveryAttempt.id,
        wanted=wanted,
        bound_to={"list": "webhook_attempts", "org": actor.org_id, "event": event_id},
    )
    return DeliveryDetails(
        _delivered(row, delivery, attempts, has_older=next_cursor is not None), next_cursor
    )


async def _deliveries(
    session: ReadSession, actor: Member, event_ids: Sequence[str]
) -> dict[str, Delivery]:
    query = scope.of(actor, Delivery).where(Delivery.event_id.in_(event_ids))
    return {row.event_id: row for row in (await session.execute(query)).scalars()}


async def _last_attempts(
    session: ReadSession, actor: Member, event_ids: Sequence[str]
) -> dict[str, list[DeliveryAttempt]]:
    """Return the last attempts of each event, newest first, one more than is shown."""
    place = func.row_number().over(
        partition_by=DeliveryAttempt.event_id, order_by=DeliveryAttempt.id.desc()
    )
    places = (
        scope.of(actor, DeliveryAttempt)
        .where(DeliveryAttempt.event_id.in_(event_ids))
        .with_only_columns(DeliveryAttempt.id, place.label("place"))
        .subquery()
    )
    last = select(places.c.id).where(places.c.place <= _ATTEMPTS_LISTED + 1)
    query = scope.of(actor, DeliveryAttempt).where(DeliveryAttempt.id.in_(last))
    found: dict[str, list[DeliveryAttempt]] = defaultdict(list)
    for row in (await session.execute(query.order_by(DeliveryAttempt.id.desc()))).scalars():
        found[row.event_id].append(row)
    return found


def _listed(
    row: WebhookEvent, delivery: Delivery, attempts: Sequence[DeliveryAttempt]
) -> EventDelivery:
    has_older = len(attempts) > _ATTEMPTS_LISTED
    return _delivered(row, delivery, attempts[:_ATTEMPTS_LISTED], has_older=has_older)


def _delivered(
    row: WebhookEvent, delivery: Delivery, attempts: Sequence[DeliveryAttempt], *, has_older: bool
) -> EventDelivery:
    return EventDelivery(
        event=events.shape(row),
        url=delivery.url,
        state=DeliveryState(delivery.state),
        due_at=delivery.due_at,
        attempts=tuple(_attempt(one) for one in attempts),
        has_older=has_older,
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
