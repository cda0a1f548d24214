"""Mails that are owed: a row of the change's own transaction each, taken by whoever sends it.

No row holds a token: it is made when the mail is composed, just before it is sent.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from recibo.lib import clock, ids
from recibo.schemas.states import MailKind
from recibo.services import backoff
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Mail

#: What the caller must name; what goes to the user alone names nothing.
NAMES: Mapping[MailKind, frozenset[str]] = {
    # The inviter's name or address; the invitation's id finds the row that gets the token.
    MailKind.INVITATION: frozenset({"invitation_id", "org", "role", "inviter"}),
    # `when` is the key's end, in ISO 8601.
    MailKind.KEY_EXPIRING: frozenset({"key", "org", "when"}),
    # Who made them, how many, and their names.
    MailKind.KEYS_REVOKED: frozenset({"org", "member", "count", "keys"}),
    # `when` is since when the endpoint of this host fails, in ISO 8601.
    MailKind.WEBHOOKS_SWITCHED_OFF: frozenset({"org", "host", "when"}),
    MailKind.ORG_DELETED: frozenset({"org", "by"}),
}
# Longer than a mail takes to be sent, or two would send it.
LEASE = dt.timedelta(minutes=2)
_LONGEST_WAIT = dt.timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Due:
    """A mail that was seen to be due; others may see it, too."""

    id: str
    due_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A mail that is ours to send until the lease is over."""

    id: str
    kind: MailKind
    recipient: str
    names: Mapping[str, str | int]
    created_at: dt.datetime
    attempt: int
    until: dt.datetime


def enqueue(
    session: Session, kind: MailKind, *, to: str, names: Mapping[str, str | int] | None = None
) -> None:
    """Have a mail sent soon, if the caller's transaction commits.

    Raises:
        ValueError: a name that this kind's text needs (`NAMES`) is missing.
    """
    named = dict(names or {})
    if missing := NAMES.get(kind, frozenset()) - named.keys():
        message = f"a mail of kind {kind} needs the names {sorted(missing)}"
        raise ValueError(message)
    now = clock.now()
    session.add(
        Mail(
            id=ids.new("mail"),
            kind=kind,
            recipient=to,
            names=named,
            created_at=now,
            due_at=now,
            attempts=0,
        )
    )


async def due(session: ReadSession, *, limit: int) -> list[Due]:
    """Return mails that are due, the longest due first."""
    query = (
        select(Mail.id, Mail.due_at)
        .where(Mail.due_at <= clock.now())
        .order_by(Mail.due_at)
        .limit(limit)
    )
    return [Due(row.id, row.due_at) for row in await session.execute(query)]


async def lease(session: Session, seen: Due) -> Lease | None:
    """Take a mail for a while; None when another has, or it is sent."""
    until = clock.now() + LEASE
    statement = (
        update(Mail)
        .where(Mail.id == seen.id, Mail.due_at == seen.due_at)
        .values(due_at=until, attempts=Mail.attempts + 1)
        .returning(Mail)
    )
    row = (await session.execute(statement)).scalar_one_or_none()
    if row is None:
        return None
    return Lease(
        id=row.id,
        kind=MailKind(row.kind),
        recipient=row.recipient,
        names=row.names,
        created_at=row.created_at,
        attempt=row.attempts,
        until=until,
    )


async def remove(session: Session, lease: Lease) -> None:
    """Drop a mail: it is sent, or never will be."""
    await session.execute(delete(Mail).where(Mail.id == lease.id))


async def defer(session: Session, lease: Lease) -> bool:
    """Have a mail that could not be sent tried again later; False when it is dropped for its age.

    Nothing happens when the lease is over and another took it.
    """
    now = clock.now()
    is_ours = (Mail.id == lease.id, Mail.due_at == lease.until)
    if now - lease.created_at >= _LONGEST_WAIT:
        await session.execute(delete(Mail).where(*is_ours))
        return False
    due_at = now + backoff.after(lease.attempt)
    await session.execute(update(Mail).where(*is_ours).values(due_at=due_at))
    return True
