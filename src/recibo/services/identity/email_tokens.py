"""Tokens of links in mails: created when the mail is rendered, stored hashed, used once."""

import datetime as dt
import re
from collections.abc import Mapping

from sqlalchemy import ColumnElement, delete, select, update

from recibo.errors import ValidationFailed
from recibo.lib import clock, tokens
from recibo.schemas.ids import InvitationId, UserId
from recibo.schemas.states import MailTokenKind
from recibo.store import purging
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Invitation, MailToken, User

#: How long a token works.
LIVES: Mapping[MailTokenKind, dt.timedelta] = {
    MailTokenKind.MAGIC_LINK: dt.timedelta(minutes=15),
    MailTokenKind.VERIFY_EMAIL: dt.timedelta(hours=48),
    MailTokenKind.PASSWORD_RESET: dt.timedelta(minutes=60),
}
_WELL_FORMED = re.compile(r"[0-9A-Za-z]{32}")


async def mint(session: Session, kind: MailTokenKind, user_id: UserId) -> str:
    """Make a token; of those that sign in, from the commit on only this one works."""
    if kind is MailTokenKind.MAGIC_LINK:
        # Two at once wait for one another here, or both would stay.
        await session.execute(select(User.id).where(User.id == user_id).with_for_update())
        await forget(session, kind, user_id)
    token = tokens.new_link_token()
    session.add(
        MailToken(
            token_hash=tokens.fingerprint(token),
            kind=kind,
            user_id=user_id,
            expires_at=clock.now() + LIVES[kind],
        )
    )
    return token


async def forget(session: Session, kind: MailTokenKind, user_id: UserId) -> None:
    """Invalidate a user's tokens of a kind, inside the caller's transaction."""
    await session.execute(
        delete(MailToken).where(MailToken.user_id == user_id, MailToken.kind == kind)
    )


async def mint_invitation(session: Session, invitation_id: InvitationId) -> str | None:
    """Make the token of an invitation in place of an earlier one; None when it is not pending."""
    token = tokens.new_link_token()
    statement = (
        update(Invitation)
        .where(
            Invitation.id == invitation_id,
            Invitation.accepted_at.is_(None),
            Invitation.revoked_at.is_(None),
            Invitation.expires_at > clock.now(),
        )
        .values(token_hash=tokens.fingerprint(token))
        .returning(Invitation.id)
    )
    found = (await session.execute(statement)).scalar_one_or_none()
    return None if found is None else token


async def require_live(session: ReadSession, kind: MailTokenKind, token: str) -> UserId:
    """Return what `consume` would return now, or refuse what it would; nothing is spent.

    Raises:
        ValidationFailed: it is unknown, spent, replaced, expired or of another kind.
    """
    user_id = await _user_of(session, kind, token)
    if user_id is None:
        raise _refusal()
    return user_id


async def consume(session: Session, kind: MailTokenKind, token: str) -> UserId:
    """Spend a token and return whose mailbox it proves; of two at once, one does.

    It stays spent only if the caller's transaction commits. The user's row is locked.

    Raises:
        ValidationFailed: it is unknown, spent, replaced, expired or of another kind.
    """
    user_id = await _user_of(session, kind, token)
    if user_id is None:
        raise _refusal()
    # Before the token's row, as in `mint`: the other way round the two would block one another.
    await session.execute(select(User.id).where(User.id == user_id).with_for_update())
    statement = delete(MailToken).where(*_is(kind, token)).returning(MailToken.user_id)
    if (await session.execute(statement)).scalar_one_or_none() is None:
        raise _refusal()
    return user_id


async def purge_expired(database: Database) -> int:
    """Delete up to a thousand tokens that work no more; return how many."""
    return await purging.purge_some(database, MailToken, MailToken.expires_at <= clock.now())


async def _user_of(
    session: Session | ReadSession, kind: MailTokenKind, token: str
) -> UserId | None:
    if not _WELL_FORMED.fullmatch(token):
        return None
    query = select(MailToken.user_id).where(*_is(kind, token))
    user_id = (await session.execute(query)).scalar_one_or_none()
    return None if user_id is None else UserId(user_id)


def _refusal() -> ValidationFailed:
    message = "The link is unknown, was used or has expired; ask for a new one."
    return ValidationFailed.of("token", message)


def _is(kind: MailTokenKind, token: str) -> tuple[ColumnElement[bool], ...]:
    return (
        MailToken.token_hash == tokens.fingerprint(token),
        MailToken.kind == kind,
        MailToken.expires_at > clock.now(),
    )
