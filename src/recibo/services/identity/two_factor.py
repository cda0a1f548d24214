"""Sign-in with a second factor: codes that complete a pending session.

Tries at one account take turns, as each holds the user's row: many guesses at once get no more
checks than as many in turn, and right codes that come together are all checked.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from recibo.errors import AuthenticationFailed
from recibo.schemas.actor import ClientInfo, Person
from recibo.schemas.ids import OrgId, SessionId, UserId
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, ResourceType, SignInMethod, TotpLedger
from recibo.services import audit, mails
from recibo.services.identity import (
    orgs,
    password_auth,
    pending_sessions,
    second_factors,
    sessions,
    throttles,
)
from recibo.services.identity.identity import Identity
from recibo.services.identity.second_factors import FOR_AN_ACCOUNT, WRONG
from recibo.services.identity.sessions import NewSession, TokenClaims
from recibo.services.identity.throttles import Counted, Limit
from recibo.store import counters
from recibo.store.db import Session
from recibo.store.tables import User, UserSession

_QUARTER = dt.timedelta(minutes=15)
_FOR_A_SESSION = Limit("second_factor:session", 5, _QUARTER)
_FROM_ONE_IP = Limit("second_factor:account+ip", 5, _QUARTER)
# On checks alone, which complete nothing: who knows the password could have many addresses find the
# code that completes a session.
_WITHOUT_SESSION = Limit("second_factor:without_session", 100, dt.timedelta(hours=1))
_EXPIRED = "This sign-in took too long, or another began after it; sign in again."


class Factor(StrEnum):
    """What a code comes from."""

    TOTP = "totp"
    RECOVERY_CODE = "recovery_code"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A second-factor code and the client that sent it."""

    factor: Factor
    #: As sent by the caller, not yet checked.
    user_id: str
    code: str
    visit: ClientInfo
    #: The session that the caller sent with the code.
    shown: TokenClaims | None = None


@dataclass(frozen=True, slots=True)
class _Aim:
    """What an attempt would complete, and what it counts on."""

    #: Where a wrong code is counted.
    counted: Sequence[Counted]
    #: None when the code is only checked.
    session_id: SessionId | None = None
    #: Whether the caller shows that session, and so gets tokens; without one, whether the caller
    #: shows a session that is complete already.
    is_shown: bool = False


async def complete(identity: Identity, attempt: Attempt) -> TokenResponse | None:
    """Complete a pending session by a code; with none to complete, check the code.

    A caller who sends the session gets a new token family. A caller without one completes the
    user's newest session from the same IP and user agent, and gets no tokens. A code that completes
    a session is used up; a recovery code is used up by a check, too.

    Raises:
        AuthenticationFailed: the code is wrong or spent, there is no such user, or none with a
            second factor, or the pending session has expired.
        RateLimitExceeded: too many codes were wrong, for that session, from that IP, or for that
            account.
    """
    async with identity.database.write() as session:
        user = await _enabled(session, attempt.user_id)
        aim = await _aim(session, user, attempt)
        await throttles.refuse_if_reached(session, [_on_account(attempt), *aim.counted])
        row = await pending_sessions.held(session, aim.session_id) if aim.session_id else None
        # A newer login may have ended it meanwhile.
        is_there = row is not None or aim.session_id is None
        is_right = is_there and await _is_right(session, identity, user, attempt, aim)
        if user is not None and is_right:
            await _record(session, user, attempt, row)
            if row is None:
                return None
            pending_sessions.complete(user, row)
            start = _start(row, attempt.visit)
            return await sessions.begin(session, identity, user, start) if aim.is_shown else None
        await throttles.count(session, aim.counted)
        await _refuse(session, attempt, aim)
    raise AuthenticationFailed(WRONG)


async def _aim(session: Session, user: User | None, attempt: Attempt) -> _Aim:
    on_account = _on_account(attempt)
    row, is_shown = await _meant(session, attempt)
    if row is not None:
        session_id = SessionId(row.id)
        return _Aim([on_account, (_FOR_A_SESSION, session_id)], session_id, is_shown)
    here = (_FROM_ONE_IP, f"{attempt.user_id} {attempt.visit.limit_subject}")
    is_signed_in = user is not None and await sessions.is_shown(session, attempt.shown, user)
    # User ids are not secret: without the user's session, wrong codes do not lock the account.
    whole = on_account if is_shown or is_signed_in else (_WITHOUT_SESSION, attempt.user_id)
    counted = [whole, here]
    return _Aim(counted, is_shown=is_shown)


def _on_account(attempt: Attempt) -> Counted:
    return FOR_AN_ACCOUNT, attempt.user_id


async def _meant(session: Session, attempt: Attempt) -> tuple[UserSession | None, bool]:
    """Return the session that an attempt is about, and whether the caller shows it.

    It still waits, or wrong codes have ended it. None and True for a session that is complete.
    """
    shown = attempt.shown
    is_complete = False
    if shown is not None and shown.is_pending and shown.user_id == attempt.user_id:
        row = await session.get(UserSession, shown.session_id)
        if row is not None and await _counts(session, row):
            return row, True
        # The caller means this session. Completing another one instead would let an attacker who
        # knows the password have it completed from the same network.
        is_complete = row is not None and pending_sessions.is_completed(row)
        if not is_complete:
            await throttles.refuse_if_reached(session, [_on_account(attempt)])
            raise AuthenticationFailed(_EXPIRED)
    row = await pending_sessions.newest_from(session, attempt.user_id, attempt.visit)
    if row is not None and await _counts(session, row):
        return row, False
    return None, is_complete


async def _counts(session: Session, row: UserSession) -> bool:
    return pending_sessions.is_waiting(row) or await _is_used_up(session, SessionId(row.id))


async def _is_used_up(session: Session, session_id: SessionId) -> bool:
    """Return whether a session has used up its attempts."""
    tried = await counters.count(session, _FOR_A_SESSION.name, session_id)
    return tried >= _FOR_A_SESSION.times


async def _enabled(session: Session, user_id: str) -> User | None:
    """Return a user with a second factor, held; None when there is no such user."""
    user = await second_factors.held(session, user_id)
    is_enabled = user is not None and user.totp_enabled_at is not None and user.disabled_at is None
    return user if is_enabled else None


async def _is_right(
    session: Session, identity: Identity, user: User | None, attempt: Attempt, aim: _Aim
) -> bool:
    """Check a code and use it up; wrong codes and unknown users take the same time."""
    keyring = identity.keyring
    user_id = user.id if user else ""
    if attempt.factor is Factor.RECOVERY_CODE:
        return await second_factors.use_recovery_code(session, keyring, user_id, attempt.code)
    step = second_factors.matching_step(keyring, user, attempt.code)
    if step is None:
        return False
    if aim.session_id is not None:
        return await second_factors.spend(session, user_id, TotpLedger.VERIFY, step)
    # Of many at once that show one session, those that come late must not do better than those
    # that were beaten to it.
    return not (
        aim.is_shown and await second_factors.is_spent(session, user_id, TotpLedger.VERIFY, step)
    )


async def _record(
    session: Session, user: User, attempt: Attempt, completes: UserSession | None
) -> None:
    """Record a correct code in the audit log and notify the user."""
    org_id = completes.org_id if completes else await orgs.home(session, user)
    person = Person(UserId(user.id), OrgId(org_id) if org_id else None, attempt.visit)
    resource = (ResourceType.USER, user.id)
    if attempt.factor is Factor.RECOVERY_CODE:
        _, unused = await second_factors.count_recovery_codes(session, user.id)
        action = AuditAction.USER_RECOVERY_CODE_USED
        audit.record(session, person, action, resource=resource, after={"unused": unused})
        mails.enqueue(session, MailKind.RECOVERY_CODE_USED, to=user.email)
    if completes is not None:
        after = {"method": completes.method, "second_factor": attempt.factor}
        audit.record(session, person, AuditAction.USER_SIGNED_IN, resource=resource, after=after)


def _start(row: UserSession, visit: ClientInfo) -> NewSession:
    """Return how a session begins in which that of the first factor goes on."""
    return NewSession(
        method=SignInMethod(row.method),
        org_id=OrgId(row.org_id) if row.org_id else None,
        visit=visit,
        is_bound=row.is_bound,
        is_proven=True,
    )


async def _refuse(session: Session, attempt: Attempt, aim: _Aim) -> None:
    """Write a wrong code to the log; the last one that a session gets ends it."""
    if aim.session_id is not None and await _is_used_up(session, aim.session_id):
        await pending_sessions.end(session, aim.session_id)
    await password_auth.record_failure(
        session,
        User.id == attempt.user_id,
        visit=attempt.visit,
        after={"second_factor": attempt.factor},
    )
