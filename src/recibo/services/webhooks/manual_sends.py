"""Webhooks that a user sends by hand: a test event, or an earlier event again."""

import datetime as dt

from recibo.errors import NotFound
from recibo.lib import clock, ids
from recibo.schemas.actor import Member
from recibo.schemas.states import AuditAction, DeliveryState, EventType, ResourceType
from recibo.services import audit
from recibo.services.identity import throttles
from recibo.services.identity.throttles import Limit
from recibo.services.webhooks import endpoints, events
from recibo.store import db, scope
from recibo.store.db import Session
from recibo.store.tables import Delivery

# More than a user clicks: it stops programs that would flood other servers.
_LIMIT = Limit("webhooks-asked-for", 60, dt.timedelta(minutes=1))


async def send_test(session: Session, actor: Member) -> str:
    """Enqueue a test event for the endpoint, in the caller's transaction; return its id.

    Raises:
        NotFound: there is no endpoint.
        Conflict: it is disabled.
        RateLimitExceeded: too many were sent within a minute.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await endpoints.lock_org(session, actor)
    await endpoints.enabled_id(session, actor)
    await throttles.take(session, [(_LIMIT, actor.org_id)])
    event_id = await events.emit(session, actor.org_id, EventType.WEBHOOK_TEST, {})
    if event_id is None:
        # An endpoint that fails too long is disabled without the org's lock.
        raise endpoints.disabled_error()
    _note(session, actor, AuditAction.WEBHOOK_EVENT_TESTED, event_id)
    return event_id


async def resend(session: Session, actor: Member, event_id: str) -> None:
    """Enqueue an event again, with all its attempts, inside the caller's transaction.

    It goes to the URL of the request as before, or else to the org's current endpoint.

    Raises:
        NotFound: the org has no such event, or no endpoint.
        Conflict: the endpoint is disabled.
        RateLimitExceeded: too many were sent within a minute.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await endpoints.lock_org(session, actor)
    row = await _delivery(session, actor, event_id)
    if row.url is None:
        row.endpoint_id = await endpoints.enabled_id(session, actor)
    await throttles.take(session, [(_LIMIT, actor.org_id)])
    row.state, row.due_at, row.tries = DeliveryState.PENDING, clock.now(), 0
    db.notify_on_commit(session)
    _note(session, actor, AuditAction.WEBHOOK_EVENT_RESENT, event_id)


async def _delivery(session: Session, actor: Member, event_id: str) -> Delivery:
    row = None
    if ids.is_well_formed(event_id):
        query = scope.of(actor, Delivery).where(Delivery.event_id == event_id).with_for_update()
        row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no event with this id.")
    return row


def _note(session: Session, actor: Member, action: AuditAction, event_id: str) -> None:
    audit.record(session, actor, action, resource=(ResourceType.WEBHOOK_EVENT, event_id))
