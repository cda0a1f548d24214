"""Mails that are owed: a row of the change's own transaction each, sent by the worker.

No row holds a token: it is made when the mail is written, just before it is sent.
"""

from collections.abc import Mapping

from recibo.kit import clock, ids
from recibo.shapes.states import MailKind
from recibo.store.db import Session
from recibo.store.tables import Mail

#: What the caller must name; what goes to the user alone names nothing.
NAMES: Mapping[MailKind, frozenset[str]] = {
    # The inviter's name or address; the invitation's id finds the row that gets the token.
    MailKind.INVITATION: frozenset({"invitation_id", "org", "role", "inviter"}),
    # `when` is the key's end, in ISO 8601.
    MailKind.KEY_EXPIRING: frozenset({"key", "org", "when"}),
}


def owe(
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
