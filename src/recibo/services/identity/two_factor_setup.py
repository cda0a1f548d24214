"""Setting up and removing a user's own second factor."""

import base64
from dataclasses import dataclass

from recibo.errors import AuthenticationFailed, Conflict, NoSession, ValidationFailed
from recibo.lib import clock, totp
from recibo.schemas.actor import SignedIn
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, ResourceType, TotpLedger
from recibo.services import audit, mails
from recibo.services.identity import second_factors, sessions, throttles
from recibo.services.identity.identity import Identity
from recibo.services.identity.second_factors import FOR_AN_ACCOUNT, WRONG
from recibo.store.db import ReadSession, Session
from recibo.store.tables import User

_IS_ON = "Two-factor authentication is on already; disable it first."


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What an authenticator app takes in; not active yet."""

    secret: str
    provisioning_uri: str
    #: A QR code of the URI.
    qr_png: bytes

    @property
    def qr_png_base64(self) -> str:
        """The QR code as text."""
        return base64.b64encode(self.qr_png).decode()


@dataclass(frozen=True, slots=True)
class RecoveryCodes:
    """How many recovery codes a user has."""

    total: int
    unused: int


async def enroll(identity: Identity, caller: SignedIn) -> Enrolment:
    """Create a secret for the caller; it replaces one that is not active yet.

    Raises:
        InsufficientScope: the session is bound to its org.
        Conflict: two-factor authentication is on.
    """
    async with identity.database.write() as session:
        user = await _own(session, caller)
        if user.totp_enabled_at is not None:
            raise Conflict(_IS_ON)
        secret = await second_factors.replace_secret(session, identity.keyring, user)
        _record(session, caller, AuditAction.USER_2FA_ENROLLING)
    return _enrolment(caller, secret)


async def tentative(session: ReadSession, identity: Identity, caller: SignedIn) -> Enrolment | None:
    """Return what the caller's app was given and is not active yet; None when nothing was.

    Raises:
        InsufficientScope: the session is bound to its org.
    """
    await sessions.require_unbound(session, caller)
    user = await session.get_one(User, caller.user_id)
    secret = second_factors.secret_of(identity.keyring, user)
    return _enrolment(caller, secret) if secret and user.totp_enabled_at is None else None


async def enable(identity: Identity, caller: SignedIn, code: str) -> list[str]:
    """Switch two-factor authentication on by a first code, and return ten recovery codes.

    Raises:
        InsufficientScope: the session is bound to its org.
        Conflict: it is on.
        ValidationFailed: `enroll` was not called first.
        AuthenticationFailed: the code is wrong.
    """
    async with identity.database.write() as session:
        user = await _own(session, caller)
        if user.totp_enabled_at is not None:
            raise Conflict(_IS_ON)
        if user.totp_secret is None:
            raise ValidationFailed("Enroll first: POST /v1/auth/2fa/enroll.")
        if not await _spends(session, identity, user, TotpLedger.ENROLL, code):
            raise AuthenticationFailed(WRONG)
        user.totp_enabled_at = clock.now()
        codes = await second_factors.issue_recovery_codes(session, identity.keyring, user)
        _record(session, caller, AuditAction.USER_2FA_ENABLED)
        mails.enqueue(session, MailKind.SECOND_FACTOR_ENABLED, to=user.email)
    return codes


async def disable(identity: Identity, caller: SignedIn, code: str) -> TokenResponse:
    """Wipe the caller's second factor, end all sessions and return the tokens of a new one.

    Raises:
        InsufficientScope: the session is bound to its org.
        ValidationFailed: two-factor authentication is off.
        AuthenticationFailed: the code is wrong; recovery codes are.
        RateLimitExceeded: too many codes of this account were wrong.
    """
    counted = [(FOR_AN_ACCOUNT, str(caller.user_id))]
    async with identity.database.write() as session:
        user = await _own(session, caller)
        if user.totp_enabled_at is None:
            raise ValidationFailed("Two-factor authentication is off.")
        # The row is held: tries take turns.
        await throttles.refuse_if_reached(session, counted)
        if await _spends(session, identity, user, TotpLedger.DISABLE, code):
            return await _disable(session, identity, user, caller)
        await throttles.count(session, counted)
    raise AuthenticationFailed(WRONG)


async def recovery_codes(session: ReadSession, caller: SignedIn) -> RecoveryCodes:
    """Return how many recovery codes the caller has; none without a second factor."""
    return RecoveryCodes(*await second_factors.count_recovery_codes(session, caller.user_id))


def _enrolment(caller: SignedIn, secret: str) -> Enrolment:
    uri = totp.provisioning_uri(secret, account=caller.email)
    return Enrolment(secret, uri, totp.qr_png(uri))


async def _disable(
    session: Session, identity: Identity, user: User, caller: SignedIn
) -> TokenResponse:
    await second_factors.wipe(session, user)
    await sessions.end_all(session, user)
    _record(session, caller, AuditAction.USER_2FA_DISABLED)
    mails.enqueue(session, MailKind.SECOND_FACTOR_DISABLED, to=user.email)
    return await sessions.live_session(session, identity, user, caller.session_id, caller.visit)


async def _own(session: Session, caller: SignedIn) -> User:
    """Return the caller's row, held; then look at the session, which may have ended meanwhile."""
    user = await second_factors.held(session, caller.user_id)
    if user is None:
        raise NoSession
    await sessions.require_unbound(session, caller)
    return user


async def _spends(
    session: Session, identity: Identity, user: User, ledger: TotpLedger, code: str
) -> bool:
    step = second_factors.matching_step(identity.keyring, user, code)
    return step is not None and await second_factors.spend(session, user.id, ledger, step)


def _record(session: Session, caller: SignedIn, action: AuditAction) -> None:
    was_on = action is AuditAction.USER_2FA_DISABLED
    is_on = action is AuditAction.USER_2FA_ENABLED
    audit.record(
        session,
        caller.person,
        action,
        resource=(ResourceType.USER, caller.user_id),
        before={"two_factor_enabled": was_on},
        after={"two_factor_enabled": is_on},
    )
