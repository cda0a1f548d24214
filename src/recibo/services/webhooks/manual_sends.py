"""What is sent because somebody asks for it: a test, and an event once more."""

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

# Nobody clicks as often: this is for programs, which could have others' servers flooded.
_ASKED_FOR = Limit("webhooks-asked-for", 60, dt.timedelta(minutes=1))


async def send_test(session: Session, actor: Member) -> str:
    """Owe the endpoint an event that tells of nothing, in the caller's transaction; return its id.

    Raises:
        NotFound: there is no endpoint.
        Conflict: it is switched off.
        RateLimitExceeded: too much was asked for within a minute.
        InsufficientScope: the actor may not any more.
    """
    actor = await endpoints.locked(session, actor)
    await endpoints.switched_on(session, actor)
    await throttles.take(session, [(_ASKED_FOR, actor.org_id)])
    event_id = await events.emit(session, actor.org_id, EventType.WEBHOOK_TEST, {})
    if event_id is None:
        # Failing too long ends it without asking for the org's lock.
        raise endpoints.switched_off()
    _note(session, actor, AuditAction.WEBHOOK_EVENT_TESTED, event_id)
    return event_id


async def resend(session: Session, actor: Member, event_id: str) -> None:
    """Owe an event once more, with all its tries, inside the caller's transaction.

    It goes where it went: to the address that the request named, or to the org's endpoint, the
    present one if another was removed since.

    Raises:
        NotFound: the actor's org has no such event, or no endpoint any more.
        Conflict: the endpoint is switched off.
        RateLimitExceeded: too much was asked for within a minute.
        InsufficientScope: the actor may not any more.
    """
    actor = await endpoints.locked(session, actor)
    row = await _delivery(session, actor, event_id)
    if row.url is None:
        row.endpoint_id = await endpoints.switched_on(session, actor)
    await throttles.take(session, [(_ASKED_FOR, actor.org_id)])
    row.state, row.due_at, row.tries = DeliveryState.OWED, clock.now(), 0
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
