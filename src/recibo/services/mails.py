"""Pending mails: rows added in the transaction of a change and leased by the mail worker.

No row holds a token; tokens are created when the mail is rendered, just before it is sent.
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

#: The variables that each kind's text needs; kinds that are not listed need none.
NAMES: Mapping[MailKind, frozenset[str]] = {
    # `inviter` is a name or address; the token is stored in the row of `invitation_id`.
    MailKind.INVITATION: frozenset({"invitation_id", "org", "role", "inviter"}),
    # `when` is the expiry of the key, in ISO 8601.
    MailKind.KEY_EXPIRING: frozenset({"key", "org", "when"}),
    # The creator, number and names of the keys.
    MailKind.KEYS_REVOKED: frozenset({"org", "member", "count", "keys"}),
    # `when` is the time of the first failure, in ISO 8601.
    MailKind.WEBHOOKS_SWITCHED_OFF: frozenset({"org", "host", "when"}),
    MailKind.ORG_DELETED: frozenset({"org", "by"}),
}
# Longer than sending a mail takes, so that no two workers send it.
LEASE = dt.timedelta(minutes=2)
_MAX_AGE = dt.timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Due:
    """A due mail that is not leased yet; other workers may see it, too."""

    id: str
    due_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A mail that this worker may send until the lease expires."""

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
    """Enqueue a mail, inside the caller's transaction.

    Raises:
        ValueError: a variable that this kind's text needs (`NAMES`) is missing.
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
    """Return due mails, the longest due first."""
    query = (
        select(Mail.id, Mail.due_at)
        .where(Mail.due_at <= clock.now())
        .order_by(Mail.due_at)
        .limit(limit)
    )
    return [Due(row.id, row.due_at) for row in await session.execute(query)]


async def lease(session: Session, seen: Due) -> Lease | None:
    """Lease a mail; None if another worker leased or sent it."""
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
    """Delete a mail that was sent or will never be sent."""
    await session.execute(delete(Mail).where(Mail.id == lease.id))


async def defer(session: Session, lease: Lease) -> bool:
    """Schedule the next attempt of a mail that failed; False if it is too old and was deleted.

    Does nothing if the lease has expired and another worker has the mail.
    """
    now = clock.now()
    is_ours = (Mail.id == lease.id, Mail.due_at == lease.until)
    if now - lease.created_at >= _MAX_AGE:
        await session.execute(delete(Mail).where(*is_ours))
        return False
    due_at = now + backoff.after(lease.attempt)
    await session.execute(update(Mail).where(*is_ours).values(due_at=due_at))
    return True
