"""The endpoint of an org: set, changed, removed, switched on again, its secrets rotated."""

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
from recibo.schemas.webhooks import Signing
from recibo.services import audit
from recibo.services.identity import orgs
from recibo.services.webhooks import signing
from recibo.store import db, scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Delivery, SigningSecret, WebhookEndpoint

# What is due within this comes soon in any case, or is being tried: a courier takes it for so long.
_SOON = dt.timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The two secrets of an org."""

    #: Signs what goes to the addresses that requests name.
    org: Signing
    #: Signs what goes to the endpoint; None without one.
    endpoint: Signing | None


async def get(session: ReadSession, actor: Member) -> shapes.Endpoint | None:
    """Return the endpoint of the actor's org, if it has one."""
    row = (await session.execute(scope.of(actor, WebhookEndpoint))).scalar_one_or_none()
    return None if row is None else _shape(row)


async def secrets(session: Session, keyring: Keyring, actor: Member) -> Secrets:
    """Return what signs the org's webhooks; a secret that is not there yet is made."""
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
    """Set where the org's events go, inside the caller's transaction.

    A changed address keeps its secret, and gets at once what is owed to the one before; an
    endpoint that was switched off is on again.

    Raises:
        ValidationFailed: webhooks are not sent to this URL.
        InsufficientScope: the actor may not any more.
    """
    url = url.strip()
    if problem := webhook_urls.problem(url, policy):
        raise ValidationFailed.of("url", problem)
    actor = await locked(session, actor)
    row = await _row_to_change(session, actor)
    if row is None:
        return _created(session, actor, url)
    if row.url == url and row.disabled_at is None:
        return _shape(row)
    if row.url != url:
        await _hurry(session, actor, EndpointId(row.id))
    before = _snapshot(row)
    row.url = url
    row.failing_since = row.disabled_at = None
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_UPDATED, before=before)
    return _shape(row)


async def enable(session: Session, actor: Member) -> None:
    """Switch on an endpoint that was switched off for failing, inside the caller's transaction.

    Raises:
        NotFound: there is none.
        InsufficientScope: the actor may not any more.
    """
    actor = await locked(session, actor)
    row = await _existing(session, actor)
    if row.disabled_at is None:
        return
    before = _snapshot(row)
    row.failing_since = row.disabled_at = None
    _note(session, actor, row, AuditAction.WEBHOOK_ENDPOINT_ENABLED, before=before)


async def remove(session: Session, actor: Member) -> None:
    """Remove the endpoint, with its secret and what is owed to it, in the caller's transaction.

    Raises:
        NotFound: there is none.
        InsufficientScope: the actor may not any more.
    """
    actor = await locked(session, actor)
    row = await _existing(session, actor)
    audit.record(
        session,
        actor,
        AuditAction.WEBHOOK_ENDPOINT_DELETED,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before=_snapshot(row),
    )
    await drop_owed(session, EndpointId(row.id))
    await session.execute(
        scope.deleting(actor, SigningSecret).where(SigningSecret.owner_id == row.id)
    )
    await session.delete(row)


async def rotate(session: Session, keyring: Keyring, actor: Member, *, of_endpoint: bool) -> None:
    """Replace the endpoint's secret, or the org's, inside the caller's transaction.

    Raises:
        NotFound: there is no endpoint.
        InsufficientScope: the actor may not any more.
    """
    actor = await locked(session, actor)
    if of_endpoint:
        endpoint_id = EndpointId((await _existing(session, actor)).id)
        await signing.rotate(session, keyring, actor.org_id, endpoint_id)
        resource = (ResourceType.WEBHOOK_ENDPOINT, str(endpoint_id))
    else:
        await signing.rotate(session, keyring, actor.org_id, actor.org_id)
        resource = (ResourceType.ORG, str(actor.org_id))
    audit.record(session, actor, AuditAction.WEBHOOK_ENDPOINT_SECRET_ROTATED, resource=resource)


async def locked(session: Session, actor: Member) -> Member:
    """Lock the actor's org for a change of its webhooks; return the actor with the role held now.

    Raises:
        NoSession: the actor was removed.
        InsufficientScope: the actor may not any more.
    """
    await orgs.lock(session, actor.org_id)
    return await orgs.still(session, actor, Permission.WEBHOOKS_WRITE)


async def switched_on(session: Session, actor: Member) -> EndpointId:
    """Return the endpoint of the actor's org.

    Raises:
        NotFound: there is none.
        Conflict: it is switched off.
    """
    row = await _row(session, actor)
    if row is None:
        raise _none_set()
    if row.disabled_at is not None:
        raise switched_off()
    return EndpointId(row.id)


def switched_off() -> Conflict:
    """Return why nothing is sent to an endpoint that failed too long."""
    return Conflict("The endpoint is switched off; switch it on first.")


async def drop_owed(session: Session, endpoint_id: EndpointId) -> None:
    """End all deliveries that are owed to an endpoint."""
    owed = (
        select(Delivery.event_id)
        .where(Delivery.endpoint_id == endpoint_id, Delivery.due_at.is_not(None))
        # In the order in which couriers write down what they tried: neither waits for the other
        # while the other waits for it.
        .order_by(Delivery.event_id)
        .with_for_update()
    )
    await session.execute(
        update(Delivery)
        .where(Delivery.event_id.in_(owed))
        .values(state=DeliveryState.DROPPED, due_at=None)
    )


async def _row(session: Session, actor: Member) -> WebhookEndpoint | None:
    return (await session.execute(scope.of(actor, WebhookEndpoint))).scalar_one_or_none()


async def _row_to_change(session: Session, actor: Member) -> WebhookEndpoint | None:
    """Return the endpoint, locked before any delivery to it is: couriers do so, too."""
    query = scope.of(actor, WebhookEndpoint).with_for_update()
    return (await session.execute(query)).scalar_one_or_none()


async def _existing(session: Session, actor: Member) -> WebhookEndpoint:
    row = await _row_to_change(session, actor)
    if row is None:
        raise _none_set()
    return row


async def _hurry(session: Session, actor: Member, endpoint_id: EndpointId) -> None:
    """Let what is owed to an endpoint wait no longer: its new address may be the cure."""
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
