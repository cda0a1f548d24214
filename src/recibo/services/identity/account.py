"""Changes that signed-in users make to their own account."""

import datetime as dt
from dataclasses import dataclass, replace

from sqlalchemy import select

from recibo.errors import AuthenticationFailed, NoSession, NotFound, ValidationFailed
from recibo.lib import clock, ids
from recibo.schemas.actor import SignedIn
from recibo.schemas.ids import OrgId
from recibo.schemas.languages import Language
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, ResourceType, SignInMethod
from recibo.services import audit, mails
from recibo.services.identity import password_auth, passwords, sessions
from recibo.services.identity.identity import Identity
from recibo.services.identity.sessions import NewSession
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Membership, User, UserSession

MAX_NAME = 255
# A session that began by an email link this recently may set a password without the old one.
_FRESH = dt.timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Protection:
    """What the caller's session may do to the account, and what that takes."""

    #: Bound to its org: it may touch neither password nor second factor.
    is_bound: bool
    has_password: bool
    #: Whether a new password takes the current one.
    needs_current: bool


async def rename(identity: Identity, caller: SignedIn, name: str | None) -> SignedIn:
    """Change the caller's name and return the caller with it.

    Raises:
        ValidationFailed: it is longer than 255 characters.
    """
    if name is not None and len(name) > MAX_NAME:
        raise ValidationFailed.of("name", f"has at most {MAX_NAME} characters")
    async with identity.database.write() as session:
        user = await session.get_one(User, caller.user_id)
        audit.record(
            session,
            caller.person,
            AuditAction.USER_UPDATED,
            resource=(ResourceType.USER, user.id),
            before={"full_name": user.full_name},
            after={"full_name": name},
        )
        user.full_name = name
    return replace(caller, full_name=name)


async def set_language(identity: Identity, caller: SignedIn, language: Language) -> None:
    """Set the language of the mails to the caller."""
    async with identity.database.write() as session:
        user = await session.get_one(User, caller.user_id)
        user.language = language


async def change_password(
    identity: Identity, caller: SignedIn, new_password: str, current_password: str | None
) -> TokenResponse:
    """Set a password, end all sessions and return the tokens of the caller's new one.

    The current password is not asked for when there is none, or within 15 minutes of a sign-in
    by magic link.

    Raises:
        ValidationFailed: the new one does not hold, or the current one is missing.
        AuthenticationFailed: the current one is wrong.
        RateLimitExceeded: too many wrong ones.
        InsufficientScope: the session is bound to its org.
    """
    passwords.require_valid(new_password, field="new_password")
    async with identity.database.read() as reading:
        row = await sessions.require_unbound(reading, caller)
        user = await reading.get_one(User, caller.user_id)
    if user.password_hash is not None and not _is_fresh(row):
        if current_password is None:
            message = "is needed: this account has a password"
            raise ValidationFailed.of("current_password", message)
        await password_auth.require_password(identity, user, current_password, visit=caller.visit)
    hashed = await identity.passwords.hash(new_password, client=caller.visit.limit_subject)
    async with identity.database.write() as session:
        return await _change_password(session, identity, caller, (user.password_hash, hashed))


async def protection(session: ReadSession, caller: SignedIn) -> Protection:
    """Return what the caller's session may do to the account; raises NoSession when it ended."""
    row = await sessions.session_family(session, caller.session_id)
    if row is None:
        raise NoSession
    has_password = (await session.get_one(User, caller.user_id)).password_hash is not None
    return Protection(row.is_bound, has_password, has_password and not _is_fresh(row))


async def lacks_password(session: ReadSession, caller: SignedIn) -> bool:
    """Return whether the caller has no password and the session may set one."""
    row = await sessions.session_family(session, caller.session_id)
    user = await session.get_one(User, caller.user_id)
    return row is not None and not row.is_bound and user.password_hash is None


async def end_sessions(identity: Identity, caller: SignedIn) -> TokenResponse:
    """End every session of the caller and return the tokens of a new one.

    Raises:
        InsufficientScope: the session is bound to its org.
    """
    async with identity.database.write() as session:
        user = await _held(session, caller)
        await sessions.require_unbound(session, caller)
        _record(session, caller, AuditAction.USER_SESSIONS_ENDED)
        return await _alone(session, identity, user, caller)


async def switch_org(
    identity: Identity, caller: SignedIn, org_id: str, *, ends_current: bool = False
) -> TokenResponse:
    """Start a session in another org of the caller, with the age of the current one.

    A browser has one session at a time, so there the current one ends.

    Raises:
        NotFound: the caller is no member there.
        InsufficientScope: the session is bound to its org.
    """
    async with identity.database.write() as session:
        user = await _held(session, caller)
        row = await sessions.require_unbound(session, caller)
        if not ids.is_well_formed(org_id):
            raise NotFound("There is no such org of yours.")
        query = select(Membership.org_id).where(
            Membership.user_id == caller.user_id, Membership.org_id == org_id
        )
        if (await session.execute(query)).scalar_one_or_none() is None:
            raise NotFound("There is no such org of yours.")
        there = OrgId(org_id)
        audit.record(
            session,
            replace(caller.person, org_id=there),
            AuditAction.USER_ORG_SWITCHED,
            resource=(ResourceType.USER, caller.user_id),
            before={"org_id": caller.person.org_id},
            after={"org_id": there},
        )
        method, since = SignInMethod(row.method), row.created_at
        if ends_current:
            row.ended_at = clock.now()
        start = NewSession(method, there, caller.visit, is_proven=True, since=since)
        return await sessions.begin(session, identity, user, start)


async def _change_password(
    session: Session, identity: Identity, caller: SignedIn, hashes: tuple[str | None, str]
) -> TokenResponse:
    before, after = hashes
    # Checked again: hashing takes long, and the password may have changed meanwhile.
    row = await _held(session, caller)
    await sessions.require_unbound(session, caller)
    if row.password_hash != before:
        raise AuthenticationFailed("The password was changed meanwhile; sign in again.")
    row.password_hash = after
    _record(session, caller, AuditAction.USER_PASSWORD_CHANGED)
    mails.enqueue(session, MailKind.PASSWORD_CHANGED, to=row.email)
    return await _alone(session, identity, row, caller)


async def _held(session: Session, caller: SignedIn) -> User:
    """Return the caller's row, locked until the transaction ends.

    Only then the session is looked at: while the lock is waited for, all may have been ended, and
    one that began from them would outlive that.
    """
    return await session.get_one(User, caller.user_id, with_for_update={"key_share": True})


async def _alone(
    session: Session, identity: Identity, user: User, caller: SignedIn
) -> TokenResponse:
    """End all sessions and begin one for the caller."""
    await sessions.end_all(session, user)
    return await sessions.live_session(session, identity, user, caller.session_id, caller.visit)


def _is_fresh(row: UserSession) -> bool:
    by_link = row.method == SignInMethod.MAGIC_LINK
    return by_link and clock.now() - row.created_at < _FRESH


def _record(session: Session, caller: SignedIn, action: AuditAction) -> None:
    resource = (ResourceType.USER, caller.user_id)
    audit.record(session, caller.person, action, resource=resource)
