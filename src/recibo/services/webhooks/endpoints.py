"""The webhook endpoint of an org: set, change, remove or enable it, and rotate its secrets."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from recibo.errors import Conflict, NotFound, ValidationFailed
from recibo.lib import clock, ids, webhook_urls
from recibo.lib.keyring import Keyring
from recibo.schemas import webhooks as shapes
from recibo.schemas.actor import Member
from recibo.schemas.ids import EndpointId
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, DeliveryState, ResourceType
from recibo.schemas.webhooks import SigningSecrets
from recibo.services import audit
from recibo.services.identity import orgs
from recibo.services.webhooks import signing
from recibo.store import db, scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Delivery, SigningSecret, WebhookEndpoint

# As long as a lease: a delivery due sooner is in flight, or comes soon anyway.
_SOON = dt.timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The two signing secrets of an org."""

    #: Signs webhooks to URLs given in requests.
    org: SigningSecrets
    #: Signs webhooks to the endpoint; None without one.
    endpoint: SigningSecrets | None


async def get(session: ReadSession, actor: Member) -> shapes.Endpoint | None:
    """Return the endpoint of the actor's org, or None."""
    row = (await session.execute(scope.of(actor, WebhookEndpoint))).scalar_one_or_none()
    return None if row is None else _shape(row)


async def secrets(session: Session, keyring: Keyring, actor: Member) -> Secrets:
    """Return the secrets that sign the org's webhooks; create missing ones."""
    row = await _row(session, actor)
    endpoint_id = EndpointId(row.id) if row else None
    owners: list[signing.Owner] = [actor.org_id]
    if endpoint_id is not None:
        owners.append(endpoint_id)
    found = await signing.of(session, keyring, actor.org_id, owners)
    return Secrets(found[actor.org_id], found[endpoint_id] if endpoint_id else None)


async def put(
    session: Session, actor: Member, url: str, *, policy: webhook_urls.Policy
) -> shapes.Endpoint:
    """Set the URL that receives the org's events, inside the caller's transaction.

    A changed URL keeps the secret and gets all pending deliveries at once. A disabled endpoint is
    enabled again.

    Raises:
        ValidationFailed: webhooks may not be sent to this URL.
        InsufficientScope: the actor no longer has the permission.
    """
    url = url.strip()
    if problem := webhook_urls.problem(url, policy):
        raise ValidationFailed.of("url", problem)
    actor = await lock_org(session, actor)
    row = await _row_to_change(session, actor)
    if row is None:
        return _created(session, actor, url)
    if row.url == url and row.disabled_at is None:
        return _shape(row)
    if row.url != url:
        await _expedite(session, actor, EndpointId(row.id))
    before = _snapshot(row)
    row.url = url
    row.failing_since = row.disabled_at = None
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_UPDATED, before=before)
    return _shape(row)


async def enable(session: Session, actor: Member) -> None:
    """Enable an endpoint that was disabled for failing, inside the caller's transaction.

    Raises:
        NotFound: there is no endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    row = await _existing(session, actor)
    if row.disabled_at is None:
        return
    before = _snapshot(row)
    row.failing_since = row.disabled_at = None
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_ENABLED, before=before)


async def remove(session: Session, actor: Member) -> None:
    """Remove the endpoint, its secret and its pending deliveries, in the caller's transaction.

    Raises:
        NotFound: there is no endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    row = await _existing(session, actor)
    audit.record(
        session,
        actor,
        AuditAction.WEBHOOK_ENDPOINT_DELETED,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before=_snapshot(row),
    )
    await drop_pending(session, EndpointId(row.id))
    await session.execute(
        scope.deleting(actor, SigningSecret).where(SigningSecret.owner_id == row.id)
    )
    await session.delete(row)


async def rotate(session: Session, keyring: Keyring, actor: Member, *, of_endpoint: bool) -> None:
    """Replace the endpoint's secret, or the org's, inside the caller's transaction.

    Raises:
        NotFound: there is no endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    if of_endpoint:
        endpoint_id = EndpointId((await _existing(session, actor)).id)
        await signing.rotate(session, keyring, actor.org_id, endpoint_id)
        resource = (ResourceType.WEBHOOK_ENDPOINT, str(endpoint_id))
    else:
        await signing.rotate(session, keyring, actor.org_id, actor.org_id)
        resource = (ResourceType.ORG, str(actor.org_id))
    audit.record(session, actor, AuditAction.WEBHOOK_ENDPOINT_SECRET_ROTATED, resource=resource)


async def lock_org(session: Session, actor: Member) -> Member:
    """Lock the actor's org for a change of its webhooks; return the actor with the current role.

    Raises:
        NoSession: the actor was removed.
        InsufficientScope: the actor no longer has the permission.
    """
    await orgs.lock(session, actor.org_id)
    return await orgs.still(session, actor, Permission.WEBHOOKS_WRITE)


async def enabled_id(session: Session, actor: Member) -> EndpointId:
    """Return the id of the org's endpoint.

    Raises:
        NotFound: there is no endpoint.
        Conflict: it is disabled.
    """
    row = await _row(session, actor)
    if row is None:
        raise _none_set()
    if row.disabled_at is not None:
        raise disabled_error()
    return EndpointId(row.id)


def disabled_error() -> Conflict:
    """Return the error for a disabled endpoint."""
    return Conflict("The endpoint is switched off; switch it on first.")


async def drop_pending(session: Session, endpoint_id: EndpointId) -> None:
    """Drop all pending deliveries to an endpoint."""
    pending = (
        select(Delivery.event_id)
        .where(Delivery.endpoint_id == endpoint_id, Delivery.due_at.is_not(None))
        # Rows are locked in id order everywhere, so this cannot deadlock with a dispatcher.
        .order_by(Delivery.event_id)
        .with_for_update()
    )
    await session.execute(
        update(Delivery)
        .where(Delivery.event_id.in_(pending))
        .values(state=DeliveryState.DROPPED, due_at=None)
    )


async def _row(session: Session, actor: Member) -> WebhookEndpoint | None:
    return (await session.execute(scope.of(actor, WebhookEndpoint))).scalar_one_or_none()


async def _row_to_change(session: Session, actor: Member) -> WebhookEndpoint | None:
    """Return the endpoint, locked; it is always locked before its deliveries."""
    query = scope.of(actor, WebhookEndpoint).with_for_update()
    return (await session.execute(query)).scalar_one_or_none()


async def _existing(session: Session, actor: Member) -> WebhookEndpoint:
    row = await _row_to_change(session, actor)
    if row is None:
        raise _none_set()
    return row


async def _expedite(session: Session, actor: Member, endpoint_id: EndpointId) -> None:
    """Make all pending deliveries to an endpoint due now, because its new URL may work."""
    now = clock.now()
    waiting = (
        scope.of(actor, Delivery)
        .where(Delivery.endpoint_id == endpoint_id, Delivery.due_at > now + _SOON)
        .with_only_columns(Delivery.event_id)
        .order_by(Delivery.event_id)
        .with_for_update()
    )
    statement = scope.updating(actor, Delivery).where(Delivery.event_id.in_(waiting))
    await session.execute(statement.values(due_at=now))
    db.notify_on_commit(session)


def _none_set() -> NotFound:
    return NotFound("No endpoint is set; set its URL first.")


def _created(session: Session, actor: Member, url: str) -> shapes.Endpoint:
    now = clock.now()
    row = WebhookEndpoint(
        id=ids.new("whe"), org_id=actor.org_id, url=url, created_at=now, updated_at=now
    )
    session.add(row)
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_CREATED)
    return _shape(row)


def _note(
    session: Session,
    actor: Member,
    row: WebhookEndpoint,
    action: AuditAction,
    *,
    before: dict[str, Any] | None = None,
) -> None:
    row.updated_at = clock.now()
    audit.record(
        session,
        actor,
        action,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before=before,
        after=_snapshot(row),
    )


def _snapshot(row: WebhookEndpoint) -> dict[str, Any]:
    return {"url": row.url, "disabled_at": _spelled(row.disabled_at)}


def _spelled(moment: dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _shape(row: WebhookEndpoint) -> shapes.Endpoint:
    return shapes.Endpoint(
        id=EndpointId(row.id),
        url=row.url,
        created_at=row.created_at,
        updated_at=row.updated_at,
        failing_since=row.failing_since,
        disabled_at=row.disabled_at,
    )
