"""Endpoints that fail: since when, and that they are switched off when it takes too long."""

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

#: An endpoint at which nothing succeeded for so long is switched off.
LIMIT = dt.timedelta(days=5)
_TOLD = (Role.OWNER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class Try:
    """How one try at an endpoint ended."""

    endpoint_id: EndpointId
    #: Where it went; an endpoint whose address was changed since has nothing to do with it.
    url: str
    ended_at: dt.datetime
    is_success: bool
    #: Whether the same event had failed before, for half an hour at least, or comes no more.
    is_late: bool


async def note(session: Session, tries: Iterable[Try]) -> None:
    """Note how tries ended, in their order, and switch off what fails for too long.

    An endpoint that is tried seldom is not switched off by the first try after a long silence:
    only by one that comes late in the schedule of its event, or ends it.
    """
    by_endpoint: dict[EndpointId, list[Try]] = {}
    for one in tries:
        by_endpoint.setdefault(one.endpoint_id, []).append(one)
    query = select(
        WebhookEndpoint.id,
        WebhookEndpoint.org_id,
        WebhookEndpoint.url,
        WebhookEndpoint.failing_since,
    ).where(WebhookEndpoint.id.in_(by_endpoint), WebhookEndpoint.disabled_at.is_(None))
    # In the order of their ids, so that two couriers wait for each other, and do not embrace.
    for row in (await session.execute(query.order_by(WebhookEndpoint.id))).all():
        ended = [one for one in by_endpoint[EndpointId(row.id)] if one.url == row.url]
        since = _failing_since(row.failing_since, ended)
        if since != row.failing_since:
            await session.execute(_same(row).values(failing_since=since))
        is_late = any(one.is_late and not one.is_success for one in ended)
        if since is not None and is_late and clock.now() - since >= LIMIT:
            await _switch_off(session, row, since)


def _failing_since(since: dt.datetime | None, ended: Iterable[Try]) -> dt.datetime | None:
    for one in ended:
        since = None if one.is_success else since or one.ended_at
    return since


def _same(row: Row[Any]) -> Update:
    """Update the endpoint unless its address was changed meanwhile, and so its luck."""
    return update(WebhookEndpoint).where(
        WebhookEndpoint.id == row.id,
        WebhookEndpoint.url == row.url,
        WebhookEndpoint.disabled_at.is_(None),
    )


async def _switch_off(session: Session, row: Row[Any], since: dt.datetime) -> None:
    now = clock.now()
    statement = _same(row).values(disabled_at=now, updated_at=now).returning(WebhookEndpoint.id)
    if (await session.execute(statement)).one_or_none() is None:
        return
    audit.record_by_operator(
        session,
        OrgId(row.org_id),
        AuditAction.WEBHOOK_ENDPOINT_DISABLED,
        resource=(ResourceType.WEBHOOK_ENDPOINT, row.id),
        before={"url": row.url, "disabled_at": None},
        after={"url": row.url, "disabled_at": now.isoformat().replace("+00:00", "Z")},
    )
    await endpoints.drop_owed(session, EndpointId(row.id))
    await _write_to_admins(session, OrgId(row.org_id), row.url, since)


async def _write_to_admins(session: Session, org_id: OrgId, url: str, since: dt.datetime) -> None:
    query = (
        select(Org.name, User.email)
        .join(Membership, Membership.org_id == Org.id)
        .join(User, User.id == Membership.user_id)
        .where(Org.id == org_id, Membership.role.in_(_TOLD), User.disabled_at.is_(None))
    )
    # The rest of an address may be a secret.
    host = urlsplit(url).hostname or ""
    for name, email in (await session.execute(query)).all():
        names = {"org": name, "host": host, "when": since.isoformat()}
        mails.enqueue(session, MailKind.WEBHOOKS_SWITCHED_OFF, to=email, names=names)
