"""Links in mails: sign in, verify the address, reset the password."""

import datetime as dt
from dataclasses import dataclass

from recibo.errors import AuthenticationFailed, RateLimitExceeded
from recibo.schemas.actor import ClientInfo, Person, SignedIn
from recibo.schemas.ids import UserId
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, MailTokenKind, ResourceType, SignInMethod
from recibo.services import audit, mails
from recibo.services.identity import (
    email_tokens,
    email_verification,
    orgs,
    password_auth,
    passwords,
    sessions,
    throttles,
)
from recibo.services.identity.identity import Identity
from recibo.services.identity.sessions import TokenClaims
from recibo.services.identity.throttles import Counted, Limit
from recibo.store.db import ReadSession
from recibo.store.tables import User

_HOUR = dt.timedelta(hours=1)
_A_MINUTE_FROM_HERE = Limit("mail:address+ip:minute", 1, dt.timedelta(minutes=1))
_AN_HOUR_FROM_HERE = Limit("mail:address+ip:hour", 5, _HOUR)
_AN_HOUR = Limit("mail:address:hour", 20, _HOUR)


@dataclass(frozen=True, slots=True)
class Proof:
    """A link's token, and who shows it."""

    token: str
    visit: ClientInfo
    #: The session that came with the token.
    shown: TokenClaims | None = None


async def request(
    identity: Identity, kind: MailKind, email: str, *, visit: ClientInfo, wanted: str = ""
) -> bool:
    """Enqueue a mail with a link; the mail worker checks whether the address has an account.

    So known and unknown addresses take the same time. Returns False if too many mails were sent
    already: then none is enqueued, and the last link stays valid.

    Args:
        identity: Who may sign in.
        kind: Which link.
        email: Where to.
        visit: Where the request comes from.
        wanted: The page of the portal that the link leads on to, if any.

    Raises:
        ValidationFailed: it is no address.
    """
    address = identity.email(email)
    try:
        async with identity.database.write() as session:
            await throttles.take(session, _mail_limits(kind, address, visit))
            mails.enqueue(session, kind, to=address, names=_names(visit, wanted))
    except RateLimitExceeded:
        return False
    return True


def _names(visit: ClientInfo, wanted: str) -> dict[str, str | int]:
    names: dict[str, str | int] = {"next": wanted} if wanted else {}
    if visit.language is not None:
        names[mails.LANGUAGE] = visit.language
    return names


async def resend_verification(identity: Identity, caller: SignedIn) -> bool:
    """Enqueue another verification link; False if the address is verified or at its limit."""
    if caller.is_email_verified:
        return False
    return await request(identity, MailKind.VERIFY_EMAIL, caller.email, visit=caller.visit)


async def sign_in(identity: Identity, proof: Proof) -> TokenResponse:
    """Start a session by magic link; it is pending if a second factor is required.

    Raises:
        ValidationFailed: the token is unknown, used or expired.
        AuthenticationFailed: the account is disabled.
    """
    async with identity.database.write() as session:
        user_id = await email_tokens.consume(session, MailTokenKind.MAGIC_LINK, proof.token)
        user = await session.get_one(User, user_id)
        if user.disabled_at is not None:
            raise AuthenticationFailed("This account is disabled.")
        await email_verification.prove(session, user, visit=proof.visit, shown=proof.shown)
        method = SignInMethod.MAGIC_LINK
        return await password_auth.signed_in(session, identity, user, method, proof.visit)


async def verify_email(identity: Identity, token: str, *, visit: ClientInfo) -> str:
    """Mark an address as verified and return it.

    Raises:
        ValidationFailed: the token is unknown, used or expired.
    """
    async with identity.database.write() as session:
        user_id = await email_tokens.consume(session, MailTokenKind.VERIFY_EMAIL, token)
        user = await session.get_one(User, user_id)
        await email_verification.verified(session, user, visit)
        return user.email


async def resets(session: ReadSession, token: str) -> str:
    """Return the address of the account whose password a link sets; nothing is spent.

    Raises:
        ValidationFailed: the token is unknown, used or expired.
    """
    user_id = await email_tokens.require_live(session, MailTokenKind.PASSWORD_RESET, token)
    return (await session.get_one(User, user_id)).email


async def reset_password(
    identity: Identity, proof: Proof, new_password: str
) -> TokenResponse | None:
    """Set a new password by a link, and end all sessions but the caller's.

    Returns the tokens of the caller's session, if one of this user is shown.

    Raises:
        ValidationFailed: the token is unknown, used or expired, or the password does not hold.
        AuthenticationFailed: the account is disabled.
    """
    passwords.require_valid(new_password, field="new_password")
    kind = MailTokenKind.PASSWORD_RESET
    async with identity.database.read() as reading:
        # Hashing is dear; a stranger's guess is not worth it.
        await email_tokens.require_live(reading, kind, proof.token)
    hashed = await identity.passwords.hash(new_password, client=proof.visit.limit_subject)
    async with identity.database.write() as session:
        user = await session.get_one(User, await email_tokens.consume(session, kind, proof.token))
        if user.disabled_at is not None:
            raise AuthenticationFailed("This account is disabled.")
        is_shown = await sessions.is_shown(session, proof.shown, user)
        await email_verification.prove(session, user, visit=proof.visit, shown=proof.shown)
        user.password_hash = hashed
        # Whatever other links were mailed: the password is set.
        await email_tokens.forget(session, kind, UserId(user.id))
        await sessions.end_all(session, user)
        person = Person(UserId(user.id), await orgs.home(session, user), proof.visit)
        audit.record(
            session,
            person,
            AuditAction.USER_PASSWORD_RESET,
            resource=(ResourceType.USER, user.id),
        )
        mails.enqueue(session, MailKind.PASSWORD_CHANGED, to=user.email)
        if not is_shown or proof.shown is None:
            return None
        shown = proof.shown.session_id
        return await sessions.live_session(session, identity, user, shown, proof.visit)


def _mail_limits(kind: MailKind, address: str, visit: ClientInfo) -> list[Counted]:
    here = f"{kind} {address} {visit.limit_subject}"
    return [
        (_A_MINUTE_FROM_HERE, here), (_AN_HOUR_FROM_HERE, here), (_AN_HOUR, f"{kind} {address}")
    ]  # fmt: skip
