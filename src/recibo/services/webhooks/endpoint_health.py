"""Tracks since when endpoints fail and disables those that fail for too long."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row, Update, select, update

from recibo.lib import clock
from recibo.schemas.ids import EndpointId, OrgId
from recibo.schemas.states import AuditAction, MailKind, ResourceType, Role
from recibo.services import audit, mails
from recibo.services.webhooks import endpoints
from recibo.store.db import Session
from recibo.store.tables import Membership, Org, User, WebhookEndpoint

#: An endpoint without a successful delivery for this long is disabled.
LIMIT = dt.timedelta(days=5)
_NOTIFIED_ROLES = (Role.OWNER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class EndpointResult:
    """The result of one attempt to deliver to an endpoint."""

    endpoint_id: EndpointId
    #: The URL of the request; the result is ignored if the endpoint's URL has changed since.
    url: str
    ended_at: dt.datetime
    is_success: bool
    #: Whether the event has failed for at least half an hour, or this was its last attempt.
    is_late: bool


async def record(session: Session, results: Iterable[EndpointResult]) -> None:
    """Record results in order and disable endpoints that fail for too long.

    Only a late failure disables an endpoint, so the first failure after a long silence does not.
    """
    by_endpoint: dict[EndpointId, list[EndpointResult]] = {}
    for one in results:
        by_endpoint.setdefault(one.endpoint_id, []).append(one)
    query = select(
        WebhookEndpoint.id,
        WebhookEndpoint.org_id,
        WebhookEndpoint.url,
        WebhookEndpoint.failing_since,
    ).where(WebhookEndpoint.id.in_(by_endpoint), WebhookEndpoint.disabled_at.is_(None))
    disabled = list[EndpointId]()
    # Rows are locked in id order, so two dispatchers cannot deadlock.
    for row in (await session.execute(query.order_by(WebhookEndpoint.id))).all():
        current = [one for one in by_endpoint[EndpointId(row.id)] if one.url == row.url]
        since = _failing_since(row.failing_since, current)
        if since != row.failing_since:
            await session.execute(_update_unchanged(row).values(failing_since=since))
        is_late = any(one.is_late and not one.is_success for one in current)
        if since is not None and is_late and clock.now() - since >= LIMIT:
            disabled += await _disable(session, row, since)
    # Last, because all endpoints are locked before any delivery.
    await endpoints.drop_pending(session, disabled)


def _failing_since(
    since: dt.datetime | None, results: Iterable[EndpointResult]
) -> dt.datetime | None:
    for one in results:
        since = None if one.is_success else since or one.ended_at
    return since


def _update_unchanged(row: Row[Any]) -> Update:
    """Return an update of the endpoint that does nothing if its URL has changed meanwhile."""
    return update(WebhookEndpoint).where(
        WebhookEndpoint.id == row.id,
        WebhookEndpoint.url == row.url,
        WebhookEndpoint.disabled_at.is_(None),
    )


async def _disable(session: Session, row: Row[Any], since: dt.datetime) -> list[EndpointId]:
    """Disable an endpoint; return its id, or nothing if it was changed meanwhile."""
    now = clock.now()
    statement = _update_unchanged(row).values(disabled_at=now, updated_at=now)
    updated = await session.execute(statement.returning(WebhookEndpoint.id))
    if updated.one_or_none() is None:
        return []
    audit.record_by_operator(
        session,
        OrgId(row.org_id),
        AuditAction.WEBHOOK_ENDPOINT_DISABLED,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before={"url": row.url, "disabled_at": None},
        after={"url": row.url, "disabled_at": now.isoformat().replace("+00:00", "Z")},
    )
    await _notify_admins(session, OrgId(row.org_id), row.url, since)
    return [EndpointId(row.id)]


async def _notify_admins(session: Session, org_id: OrgId, url: str, since: dt.datetime) -> None:
    query = (
        select(Org.name, User.email)
        .join(Membership, Membership.org_id == Org.id)
        .join(User, User.id == Membership.user_id)
        .where(Org.id == org_id, Membership.role.in_(_NOTIFIED_ROLES), User.disabled_at.is_(None))
    )
    # The rest of the URL may be a secret.
    host = urlsplit(url).hostname or ""
    for name, email in (await session.execute(query)).all():
        names = {"org": name, "host": host, "when": since.isoformat()}
        mails.enqueue(session, MailKind.WEBHOOKS_SWITCHED_OFF, to=email, names=names)
