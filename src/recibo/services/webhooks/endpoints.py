"""The webhook endpoints of an org: add, change, remove, enable or disable one, rotate its secret.

The oldest is the default endpoint.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select, update

from recibo.errors import Conflict, NotFound, ValidationFailed
from recibo.lib import clock, ids, webhook_urls
from recibo.lib.keyring import Keyring
from recibo.schemas import webhooks as shapes
from recibo.schemas.actor import Member
from recibo.schemas.ids import EndpointId
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, DeliveryState, EventType, ResourceType
from recibo.schemas.webhooks import SigningSecrets
from recibo.services import audit
from recibo.services.identity import orgs
from recibo.services.webhooks import signing
from recibo.store import db, scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Delivery, SigningSecret, WebhookEndpoint

#: How many endpoints an org may have.
MOST = 10
_MAX_DESCRIPTION = 100
#: The types that an endpoint may choose; a test is sent to any endpoint.
CHOICES = tuple(one for one in EventType if one is not EventType.WEBHOOK_TEST)
# As long as a lease: a delivery due sooner is in flight, or comes soon anyway.
_SOON = dt.timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The signing secrets that every org has."""

    #: Signs webhooks to URLs given in requests.
    org: SigningSecrets
    #: Signs webhooks to the default endpoint; None without one.
    endpoint: SigningSecrets | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a member wants of an endpoint."""

    url: str
    description: str = ""
    #: None for all types, future ones too.
    event_types: Collection[EventType] | None = None


async def listed(session: ReadSession | Session, actor: Member) -> list[shapes.Endpoint]:
    """Return the endpoints of the actor's org, the default one first."""
    query = scope.of(actor, WebhookEndpoint).order_by(WebhookEndpoint.id)
    return [_shape(row) for row in (await session.execute(query)).scalars()]


async def get(
    session: ReadSession, actor: Member, endpoint_id: str | None = None
) -> shapes.Endpoint | None:
    """Return an endpoint of the actor's org, the default one without an id, or None."""
    row = await _row(session, actor, endpoint_id)
    return None if row is None else _shape(row)


async def secrets(session: Session, keyring: Keyring, actor: Member) -> Secrets:
    """Return the secrets of the org and of its default endpoint; create missing ones."""
    row = await _row(session, actor)
    endpoint_id = EndpointId(row.id) if row else None
    owners: list[signing.Owner] = [actor.org_id]
    if endpoint_id is not None:
        owners.append(endpoint_id)
    found = await signing.of(session, keyring, actor.org_id, owners)
    return Secrets(found[actor.org_id], found[endpoint_id] if endpoint_id else None)


async def secret_of(
    session: Session, keyring: Keyring, actor: Member, endpoint_id: EndpointId
) -> SigningSecrets:
    """Return the secret of an endpoint that the actor was shown; create it if it is missing."""
    found = await signing.of(session, keyring, actor.org_id, [endpoint_id])
    return found[endpoint_id]


async def put(
    session: Session, actor: Member, url: str, *, policy: webhook_urls.Policy
) -> shapes.Endpoint:
    """Set the URL of the default endpoint, inside the caller's transaction; add a missing one.

    A disabled endpoint is enabled again.

    Raises:
        ValidationFailed: webhooks may not be sent to this URL.
        InsufficientScope: the actor no longer has the permission.
    """
    wanted = _checked(Wanted(url), policy)
    actor = await lock_org(session, actor)
    row = await _row_to_change(session, actor)
    if row is None:
        return _created(session, actor, wanted)
    before = _snapshot(row)
    if row.disabled_at is not None:
        row.failing_since = row.disabled_at = None
    await _move(session, actor, row, wanted.url)
    return _updated(session, actor, row, before)


async def add(
    session: Session, actor: Member, wanted: Wanted, *, policy: webhook_urls.Policy
) -> shapes.Endpoint:
    """Add an endpoint, inside the caller's transaction.

    Raises:
        ValidationFailed: the URL, the description or the event types are not valid.
        Conflict: the org has 10 endpoints.
        InsufficientScope: the actor no longer has the permission.
    """
    wanted = _checked(wanted, policy)
    actor = await lock_org(session, actor)
    present = scope.of(actor, WebhookEndpoint).with_only_columns(WebhookEndpoint.id)
    if len((await session.execute(present)).all()) >= MOST:
        message = f"An organization has at most {MOST} endpoints. Delete one first."
        raise Conflict(message)
    return _created(session, actor, wanted)


async def change(
    session: Session,
    actor: Member,
    endpoint_id: str,
    wanted: Wanted,
    *,
    policy: webhook_urls.Policy,
) -> shapes.Endpoint:
    """Change an endpoint, inside the caller's transaction.

    A changed URL keeps the secret and gets all pending deliveries at once.

    Raises:
        ValidationFailed: the URL, the description or the event types are not valid.
        NotFound: there is no such endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    wanted = _checked(wanted, policy)
    actor = await lock_org(session, actor)
    row = await _existing(session, actor, endpoint_id)
    before = _snapshot(row)
    await _move(session, actor, row, wanted.url)
    row.description = wanted.description
    row.event_types = _stored(wanted.event_types)
    return _updated(session, actor, row, before)


async def enable(session: Session, actor: Member, endpoint_id: str | None = None) -> None:
    """Enable a disabled endpoint, the default one without an id, in the caller's transaction.

    Raises:
        NotFound: there is no such endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    row = await _existing(session, actor, endpoint_id)
    if row.disabled_at is None:
        return
    before = _snapshot(row)
    row.failing_since = row.disabled_at = None
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_ENABLED, before=before)


async def disable(session: Session, actor: Member, endpoint_id: str) -> None:
    """Disable an endpoint and drop its pending deliveries, inside the caller's transaction.

    Raises:
        NotFound: there is no such endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    row = await _existing(session, actor, endpoint_id)
    if row.disabled_at is not None:
        return
    before = _snapshot(row)
    row.failing_since, row.disabled_at = None, clock.now()
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_DISABLED, before=before)
    await drop_pending(session, [EndpointId(row.id)])


async def remove(session: Session, actor: Member, endpoint_id: str | None = None) -> None:
    """Remove an endpoint, its secret and its pending deliveries, in the caller's transaction.

    Without an id, the default endpoint is removed.

    Raises:
        NotFound: there is no such endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    row = await _existing(session, actor, endpoint_id)
    audit.record(
        session,
        actor,
        AuditAction.WEBHOOK_ENDPOINT_DELETED,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before=_snapshot(row),
    )
    await drop_pending(session, [EndpointId(row.id)])
    await session.execute(
        scope.deleting(actor, SigningSecret).where(SigningSecret.owner_id == row.id)
    )
    await session.delete(row)


async def rotate(
    session: Session,
    keyring: Keyring,
    actor: Member,
    *,
    of_endpoint: bool,
    endpoint_id: str | None = None,
) -> None:
    """Replace an endpoint's secret, or the org's, inside the caller's transaction.

    Without an id, `of_endpoint` means the default endpoint.

    Raises:
        NotFound: there is no such endpoint.
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await lock_org(session, actor)
    if of_endpoint:
        owner = EndpointId((await _existing(session, actor, endpoint_id)).id)
        await signing.rotate(session, keyring, actor.org_id, owner)
        resource = (ResourceType.WEBHOOK_ENDPOINT, str(owner))
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


async def enabled_ids(
    session: Session, actor: Member, endpoint_id: str | None = None
) -> list[EndpointId]:
    """Return the ids of the enabled endpoints, or one of them; at least one.

    Raises:
        NotFound: there is no endpoint.
        Conflict: it is disabled, or all are.
    """
    query = scope.of(actor, WebhookEndpoint).order_by(WebhookEndpoint.id)
    if endpoint_id is not None:
        query = query.where(WebhookEndpoint.id == endpoint_id)
    is_known = endpoint_id is None or ids.is_well_formed(endpoint_id)
    rows = (await session.execute(query)).scalars().all() if is_known else []
    if not rows:
        raise _not_found(endpoint_id)
    enabled = [EndpointId(row.id) for row in rows if row.disabled_at is None]
    if not enabled:
        raise disabled_error()
    return enabled


def disabled_error() -> Conflict:
    """Return the error for a disabled endpoint."""
    return Conflict("The endpoint is switched off; switch it on first.")


async def drop_pending(session: Session, endpoint_ids: Collection[EndpointId]) -> None:
    """Drop all pending deliveries to endpoints."""
    if not endpoint_ids:
        return
    pending = (
        select(Delivery.id)
        .where(Delivery.endpoint_id.in_(endpoint_ids), Delivery.due_at.is_not(None))
        # Rows are locked in id order everywhere, so this cannot deadlock with a dispatcher.
        .order_by(Delivery.id)
        .with_for_update()
    )
    await session.execute(
        update(Delivery)
        .where(Delivery.id.in_(pending))
        .values(state=DeliveryState.DROPPED, due_at=None)
    )


async def _row(
    session: ReadSession | Session, actor: Member, endpoint_id: str | None = None
) -> WebhookEndpoint | None:
    """Return an endpoint, or the default one without an id."""
    query = _one(actor, endpoint_id)
    return None if query is None else (await session.execute(query)).scalar_one_or_none()


async def _row_to_change(
    session: Session, actor: Member, endpoint_id: str | None = None
) -> WebhookEndpoint | None:
    """Return the endpoint, locked; it is always locked before its deliveries."""
    query = _one(actor, endpoint_id)
    if query is None:
        return None
    return (await session.execute(query.with_for_update())).scalar_one_or_none()


def _one(actor: Member, endpoint_id: str | None) -> Select[tuple[WebhookEndpoint]] | None:
    query = scope.of(actor, WebhookEndpoint)
    if endpoint_id is None:
        return query.order_by(WebhookEndpoint.id).limit(1)
    if not ids.is_well_formed(endpoint_id):
        return None
    return query.where(WebhookEndpoint.id == endpoint_id)


async def _existing(session: Session, actor: Member, endpoint_id: str | None) -> WebhookEndpoint:
    row = await _row_to_change(session, actor, endpoint_id)
    if row is None:
        raise _not_found(endpoint_id)
    return row


async def _move(session: Session, actor: Member, row: WebhookEndpoint, url: str) -> None:
    """Change the URL; make all pending deliveries due now, because the new one may work."""
    if row.url == url:
        return
    row.url, row.failing_since = url, None
    now = clock.now()
    waiting = (
        scope.of(actor, Delivery)
        .where(Delivery.endpoint_id == row.id, Delivery.due_at > now + _SOON)
        .with_only_columns(Delivery.id)
        .order_by(Delivery.id)
        .with_for_update()
    )
    statement = scope.updating(actor, Delivery).where(Delivery.id.in_(waiting))
    await session.execute(statement.values(due_at=now))
    db.notify_on_commit(session)


def _checked(wanted: Wanted, policy: webhook_urls.Policy) -> Wanted:
    """Return what is wanted without spaces around it.

    Raises:
        ValidationFailed: the URL, the description or the event types are not valid.
    """
    url, description = wanted.url.strip(), wanted.description.strip()
    if problem := webhook_urls.problem(url, policy):
        raise ValidationFailed.of("url", problem)
    if len(description) > _MAX_DESCRIPTION:
        message = f"must have at most {_MAX_DESCRIPTION} characters"
        raise ValidationFailed.of("description", message)
    if wanted.event_types is not None and not wanted.event_types:
        raise ValidationFailed.of("event_types", "must include at least one type")
    return Wanted(url, description, wanted.event_types)


def _stored(event_types: Collection[EventType] | None) -> list[str] | None:
    """Return types in the order in which they are declared."""
    if event_types is None:
        return None
    return [one.value for one in EventType if one in event_types]


def _not_found(endpoint_id: str | None) -> NotFound:
    if endpoint_id is None:
        return NotFound("No endpoint is set; set its URL first.")
    return NotFound("There is no endpoint with this id.")


def _created(session: Session, actor: Member, wanted: Wanted) -> shapes.Endpoint:
    now = clock.now()
    row = WebhookEndpoint(
        id=ids.new("whe"),
        org_id=actor.org_id,
        url=wanted.url,
        description=wanted.description,
        event_types=_stored(wanted.event_types),
        created_at=now,
        updated_at=now,
    )
    session.add(row)
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_CREATED)
    return _shape(row)


def _updated(
    session: Session, actor: Member, row: WebhookEndpoint, before: dict[str, Any]
) -> shapes.Endpoint:
    if _snapshot(row) != before:
        _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_UPDATED, before=before)
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
    return {
        "url": row.url,
        "description": row.description,
        "event_types": row.event_types,
        "disabled_at": _spelled(row.disabled_at),
    }


def _spelled(moment: dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _shape(row: WebhookEndpoint) -> shapes.Endpoint:
    types = row.event_types
    return shapes.Endpoint(
        id=EndpointId(row.id),
        url=row.url,
        description=row.description,
        event_types=None if types is None else tuple(EventType(one) for one in types),
        created_at=row.created_at,
        updated_at=row.updated_at,
        failing_since=row.failing_since,
        disabled_at=row.disabled_at,
    )
