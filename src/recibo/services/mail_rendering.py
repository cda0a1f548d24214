"""Renders pending mails: checks that the recipient still exists and creates the token."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import select

from recibo.schemas import languages
from recibo.schemas.ids import InvitationId, UserId
from recibo.schemas.languages import Language
from recibo.schemas.states import MailKind, MailTokenKind
from recibo.services import mails
from recibo.services.identity import email_tokens
from recibo.services.mail_templates import MailContent
from recibo.services.mails import Lease
from recibo.services.receipt_mail import received_mails, replies
from recibo.store.db import Session
from recibo.store.tables import User

_TOKEN_KINDS: Mapping[MailKind, MailTokenKind] = {
    MailKind.VERIFY_EMAIL: MailTokenKind.VERIFY_EMAIL,
    MailKind.MAGIC_LINK: MailTokenKind.MAGIC_LINK,
    MailKind.PASSWORD_RESET: MailTokenKind.PASSWORD_RESET,
}


async def render_pending(session: Session, lease: Lease) -> MailContent | None:
    """Return the content of a mail with a new token, or None if it must not be sent.

    It must not be sent if no active user has the address, or if the invitation is no longer
    pending. The token is valid from the commit on.
    """
    content = MailContent(
        # A new id for each attempt: the second mail has another token, so it is another message.
        id=f"{lease.id}.{lease.attempt}",
        kind=lease.kind,
        to=lease.recipient,
        names=lease.names,
        created_at=lease.created_at,
        language=await _language(session, lease),
    )
    if lease.kind is MailKind.INVITATION:
        invitation_id = InvitationId(str(lease.names["invitation_id"]))
        token = await email_tokens.mint_invitation(session, invitation_id)
    elif lease.kind in _TOKEN_KINDS:
        token = await _mint(session, lease)
    elif lease.kind is MailKind.RECEIPTS_RECEIVED:
        reply = await replies.of(session, str(lease.names[received_mails.MAIL_ID]))
        return None if reply is None else replace(content, reply=reply)
    else:
        return content
    return None if token is None else replace(content, token=token)


async def _language(session: Session, lease: Lease) -> Language:
    """Return the language of the recipient; of one unknown, that of the request for the mail."""
    query = select(User.language).where(User.email == lease.recipient)
    own = languages.known((await session.execute(query)).scalar_one_or_none())
    return own or languages.known(lease.names.get(mails.LANGUAGE)) or Language.ENGLISH


async def _mint(session: Session, lease: Lease) -> str | None:
    query = select(User.id).where(User.email == lease.recipient, User.disabled_at.is_(None))
    user_id = (await session.execute(query)).scalar_one_or_none()
    if user_id is None:
        return None
    return await email_tokens.mint(session, _TOKEN_KINDS[lease.kind], UserId(user_id))
