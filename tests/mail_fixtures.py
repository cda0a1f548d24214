"""Pending mails and their recipients."""

import datetime as dt
import re
from email.message import EmailMessage

from sqlalchemy import select

from recibo.lib import clock, ids
from recibo.schemas.ids import InvitationId, UserId
from recibo.schemas.states import MailKind, Role
from recibo.services import mails
from recibo.store import tables
from recibo.store.db import Database
from tests import make
from tests.mail_servers import part

MARA = "mara@acme.test"
WEEK = dt.timedelta(days=7)


async def user(
    database: Database, email: str = MARA, *, disabled_at: dt.datetime | None = None
) -> UserId:
    """Add a user with an address."""
    user_id = ids.new("usr")
    async with database.write() as session:
        session.add(
            tables.User(id=user_id, email=email, created_at=clock.now(), disabled_at=disabled_at)
        )
    return UserId(user_id)


async def invitation(
    database: Database,
    email: str = MARA,
    *,
    accepted_at: dt.datetime | None = None,
    revoked_at: dt.datetime | None = None,
) -> InvitationId:
    """Add an invitation that is valid for a week."""
    org_id = await make.org(database)
    async with database.write() as session:
        row = tables.Invitation(
            id=ids.new("inv"),
            org_id=org_id,
            email=email,
            role=Role.DEVELOPER,
            invited_by=ids.new("usr"),
            created_at=clock.now(),
            expires_at=clock.now() + WEEK,
            accepted_at=accepted_at,
            revoked_at=revoked_at,
        )
        session.add(row)
    return InvitationId(row.id)


async def mail(
    database: Database,
    kind: MailKind = MailKind.PASSWORD_CHANGED,
    *,
    to: str = MARA,
    **names: str | int,
) -> None:
    """Enqueue a mail."""
    async with database.write() as session:
        mails.enqueue(session, kind, to=to, names=names)


async def invitation_mail(database: Database, invitation_id: InvitationId) -> None:
    """Enqueue the mail of an invitation."""
    names = {"org": "Aurora", "role": Role.DEVELOPER, "inviter": "Ana"}
    await mail(database, MailKind.INVITATION, invitation_id=invitation_id, **names)


async def rows(database: Database) -> list[tables.Mail]:
    """Return the pending mails, oldest first."""
    async with database.read() as session:
        query = select(tables.Mail).order_by(tables.Mail.id)
        return list((await session.execute(query)).scalars())


def token(message: EmailMessage) -> str:
    """Return the bare token of a mail."""
    (found,) = _tokens(message)
    return found


def has_token(message: EmailMessage) -> bool:
    """Return whether a mail has a token."""
    return len(_tokens(message)) > 0


def _tokens(message: EmailMessage) -> list[str]:
    found: list[str] = re.findall(r"^([0-9A-Za-z]{32})$", part(message, "plain"), re.MULTILINE)
    return found
