"""Pending mails: rows added in the transaction of a change and leased by the mail worker.

No row holds a token; tokens are created when the mail is rendered, just before it is sent.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from recibo.lib import clock, ids
from recibo.schemas.states import MailKind
from recibo.services import outbox
from recibo.store.db import Session
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
    # The id of the mail that it answers.
    MailKind.RECEIPTS_RECEIVED: frozenset({"mail_id"}),
}
#: The name of the language for recipients whose own is unknown.
LANGUAGE = "language"
#: The pending mails.
ROWS = outbox.Rows(Mail, group="id")
_MAX_AGE = dt.timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Lease(outbox.Lease):
    """A mail that this worker may send until the lease expires."""

    kind: MailKind
    recipient: str
    names: Mapping[str, str | int]
    created_at: dt.datetime


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


async def lease(session: Session, mail_id: str) -> Lease | None:
    """Lease a mail; None if another worker leased or sent it."""
    row = await ROWS.lease(session, mail_id)
    if row is None:
        return None
    return Lease(
        id=row.id,
        attempt=row.attempts,
        until=row.due_at,
        kind=MailKind(row.kind),
        recipient=row.recipient,
        names=row.names,
        created_at=row.created_at,
    )


async def defer(session: Session, lease: Lease) -> bool:
    """Schedule the next attempt of a mail that failed; False if it is too old and was deleted."""
    is_too_old = clock.now() - lease.created_at >= _MAX_AGE
    await ROWS.defer(session, lease, is_given_up=is_too_old)
    return not is_too_old
