"""Webhooks that a user sends by hand: a test event, or an earlier event again."""

import datetime as dt
from collections.abc import Sequence

from recibo.errors import NotFound
from recibo.lib import clock, ids
from recibo.schemas.actor import Member
from recibo.schemas.ids import EndpointId
from recibo.schemas.states import AuditAction, DeliveryState, EventType, ResourceType
from recibo.services import audit
from recibo.services.identity import throttles
from recibo.services.identity.throttles import Limit
from recibo.services.webhooks import endpoints, events
from recibo.services.webhooks.events import Receiver
from recibo.store import db, scope
from recibo.store.db import Session
from recibo.store.tables import Delivery

# More than a user clicks: it stops programs that would flood other servers.
_LIMIT = Limit("webhooks-asked-for", 60, dt.timedelta(minutes=1))


async def send_test(session: Session, actor: Member, endpoint_id: str | None = None) -> str:
    """Enqueue a test event in the caller's transaction; return its id.

    It goes to one endpoint, or to all that are enabled, whatever types they have chosen.

    Raises:
        NotFound: there is no such endpoint.
        Conflict: it is disabled, or all are.
        RateLimitExceeded: too many were sent within a minute.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await endpoints.lock_org(session, actor)
    enabled = await endpoints.enabled_ids(session, actor, endpoint_id)
    await throttles.take(session, [(_LIMIT, actor.org_id)])
    event_id = await events.send(
        session, actor.org_id, EventType.WEBHOOK_TEST, {}, [Receiver(one, None) for one in enabled]
    )
    _note(session, actor, AuditAction.WEBHOOK_EVENT_TESTED, event_id)
    return event_id


async def resend(
    session: Session, actor: Member, event_id: str, *, delivery_id: str | None = None
) -> None:
    """Enqueue an event again, with all its attempts, inside the caller's transaction.

    It goes to the URL of the request as before, or else to the enabled endpoints that it was for;
    if all of these were removed, to the default endpoint. `delivery_id` resends only that one.

    Raises:
        NotFound: the org has no such event or delivery, or no endpoint.
        Conflict: the endpoint is disabled, or all are.
        RateLimitExceeded: too many were sent within a minute.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await endpoints.lock_org(session, actor)
    rows = await _deliveries(session, actor, event_id, delivery_id)
    chosen = await _sendable(session, actor, rows, may_move=delivery_id is None)
    await throttles.take(session, [(_LIMIT, actor.org_id)])
    for row in chosen:
        row.state, row.due_at, row.tries = DeliveryState.PENDING, clock.now(), 0
    db.notify_on_commit(session)
    _note(session, actor, AuditAction.WEBHOOK_EVENT_RESENT, event_id)


async def _deliveries(
    session: Session, actor: Member, event_id: str, delivery_id: str | None
) -> Sequence[Delivery]:
    """Return the deliveries of an event, or one of them, locked in id order; at least one."""
    rows: Sequence[Delivery] = ()
    if ids.is_well_formed(event_id) and (delivery_id is None or ids.is_well_formed(delivery_id)):
        query = scope.of(actor, Delivery).where(Delivery.event_id == event_id)
        if delivery_id is not None:
            query = query.where(Delivery.id == delivery_id)
        query = query.order_by(Delivery.id).with_for_update()
        rows = (await session.execute(query)).scalars().all()
    if not rows:
        raise NotFound("There is no event with this id.")
    return rows


async def _sendable(
    session: Session, actor: Member, rows: Sequence[Delivery], *, may_move: bool
) -> Sequence[Delivery]:
    """Return those with a receiver; if none has one, the first gets the default endpoint."""
    of_requests = [row for row in rows if row.url is not None]
    if of_requests:
        return of_requests
    present = {one.id: one for one in await endpoints.listed(session, actor)}
    kept = [row for row in rows if row.endpoint_id in present]
    enabled = [row for row in kept if present[EndpointId(str(row.endpoint_id))].is_enabled]
    if kept and not enabled:
        raise endpoints.disabled_error()
    if not kept and not may_move:
        raise NotFound("The endpoint of this delivery was removed.")
    if not kept:
        (default, *_) = await endpoints.enabled_ids(session, actor)
        rows[0].endpoint_id = default
        return rows[:1]
    return enabled


def _note(session: Session, actor: Member, action: AuditAction, event_id: str) -> None:
    audit.record(session, actor, action, resource=(ResourceType.WEBHOOK_EVENT, event_id))
