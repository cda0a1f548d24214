"""Sessions: start, refresh, authenticate and end them.

A session is a refresh family (RFC 9700, 4.14.2): one sign-in, and all tokens refreshed from it.
What ends access tokens early is the user's epoch and the end of their session, which are read with
the membership at each request.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, bindparam, select, update

from recibo.errors import AuthenticationFailed, Detail, InsufficientScope, NoSession
from recibo.lib import clock, ids
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.actor import ClientInfo, SignedIn
from recibo.schemas.ids import OrgId, SessionId, UserId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import Role, SignInMethod
from recibo.services.identity import orgs
from recibo.services.identity.identity import Identity
from recibo.store import purging
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Membership, Org, RefreshToken, User, UserSession

ACCESS_LIFE = dt.timedelta(minutes=15)
REFRESH_LIFE = dt.timedelta(days=30)
FAMILY_LIFE = dt.timedelta(days=90)
# A login waits so long for its second factor.
_PENDING_LIFE = dt.timedelta(minutes=5)
# Two tabs of a browser refresh at once with the one cookie they share.
_GRACE = dt.timedelta(seconds=30)
_ACCESS = "access"
_REFRESH = "refresh"
# Tokens outlive the version that made them, and another may have made others.
_CLAIMS: Mapping[str, tuple[type, ...]] = {
    "sub": (str,),
    "sid": (str,),
    "org": (str, type(None)),
    "epoch": (int,),
    "pending": (bool, type(None)),
    "type": (str,),
    "jti": (str,),
    "iat": (int,),
    "exp": (int,),
}

# These prove one factor; the others follow from a session that has proven all.
_FIRST_FACTORS = {SignInMethod.PASSWORD, SignInMethod.MAGIC_LINK, SignInMethod.INVITATION}

# Built once: each request runs it, and building it takes longer than running it.
_USER_IN_ORG = (
    select(
        User.email,
        User.full_name,
        User.created_at.label("user_created_at"),
        User.email_verified_at,
        User.totp_enabled_at,
        User.disabled_at,
        User.epoch,
        Membership.role,
        Membership.created_at.label("joined_at"),
        UserSession.ended_at.label("session_ended_at"),
        *orgs.COLUMNS,
    )
    .outerjoin(
        Membership,
        (Membership.user_id == User.id) & (Membership.org_id == bindparam("org_id")),
    )
    .outerjoin(Org, Org.id == Membership.org_id)
    .outerjoin(UserSession, UserSession.id == bindparam("session_id"))
    .where(User.id == bindparam("user_id"))
)


@dataclass(frozen=True, slots=True)
class NewSession:
    """How a session begins."""

    method: SignInMethod
    org_id: OrgId | None
    visit: ClientInfo
    #: It may not leave its org, nor touch the account.
    is_bound: bool = False
    #: The second factor was shown, too.
    is_proven: bool = False
    #: When the user signed in, if that was in a session before this one.
    since: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a token says, whether or not its session still waits for the second factor."""

    user_id: UserId
    session_id: SessionId
    org_id: OrgId | None
    epoch: int
    #: Seconds since 1970, UTC; whole ones, as the JWT has them.
    issued_at: int
    is_pending: bool
    #: Of a refresh token, which works once; None of an access token.
    refresh_id: str | None = None


async def authenticate(
    database: Database,
    keyring: Keyring,
    token: str | None,
    *,
    visit: ClientInfo,
    plans: Plans = SOLD,
) -> SignedIn:
    """Return whose access token this is, with the role that the user has now.

    Raises:
        NoSession: it is missing, no access token, over, or the membership is gone.
        AuthenticationFailed: its session still waits for the second factor.
    """
    shown = read_access_token(keyring, token)
    if shown is None:
        raise NoSession
    whom = {"user_id": shown.user_id, "org_id": shown.org_id, "session_id": shown.session_id}
    found = await database.fetch_row(_USER_IN_ORG, whom)
    if found is None or found.epoch != shown.epoch or found.disabled_at is not None:
        raise NoSession
    if shown.org_id is not None and not _is_of_this_membership(found, shown):
        raise NoSession
    if shown.is_pending:
        async with database.read() as session:
            await _require_completed(session, shown)
    if found.session_ended_at is not None:
        raise NoSession
    return _signed_in(found, shown, visit, plans)


def read_access_token(keyring: Keyring, token: str | None) -> TokenClaims | None:
    """Return the claims of an access token; None if it is invalid or expired."""
    claims = _claims(keyring, token, _ACCESS)
    return None if claims is None else _shown(claims)


def read_refresh_token(keyring: Keyring, token: str | None) -> TokenClaims | None:
    """Return what a refresh token says, used or not; None when it is none, or over."""
    claims = _claims(keyring, token, _REFRESH)
    return None if claims is None else replace(_shown(claims), refresh_id=claims["jti"])


async def begin(
    session: Session, identity: Identity, user: User, start: NewSession
) -> TokenResponse:
    """Start a session inside the caller's transaction and return its first tokens.

    With a second factor the pair is pending, and ends what waited from the same place before.
    """
    is_required = user.totp_enabled_at is not None and start.method in _FIRST_FACTORS
    is_pending = is_required and not start.is_proven
    if is_pending:
        await _end_pending(session, user, start.visit)
    now = clock.now()
    row = UserSession(
        id=ids.new("ses"),
        user_id=user.id,
        org_id=start.org_id,
        method=start.method,
        is_bound=start.is_bound,
        ip_address=start.visit.ip_address,
        user_agent=start.visit.user_agent,
        created_at=(since := start.since or now),
        expires_at=since + FAMILY_LIFE,
        pending_until=now + _PENDING_LIFE if is_pending else None,
        last_seen_at=now,
        last_ip_address=start.visit.ip_address,
    )
    session.add(row)
    if start.org_id is not None and not is_pending:
        user.last_org_id = start.org_id
    if start.visit.language is not None:
        user.language = start.visit.language
    # The refresh token's row refers to it.
    await session.flush()
    return _mint(session, identity.keyring, row, user)


async def refresh(
    identity: Identity, token: str | None, *, from_cookie: bool, visit: ClientInfo
) -> TokenResponse:
    """Use up a refresh token and return the next pair of its family.

    Raises:
        AuthenticationFailed: it is missing, no refresh token, over or used, or its session ended,
            or still waits for the second factor.
    """
    claims = _claims(identity.keyring, token, _REFRESH)
    if claims is None:
        raise AuthenticationFailed("The refresh token is not valid; sign in again.")
    async with identity.database.write() as session:
        session_family = await _spent(session, claims["jti"], is_forgiving=from_cookie)
        if session_family is not None:
            session_family.last_seen_at = clock.now()
            session_family.last_ip_address = visit.ip_address
        tokens = await _next(session, identity.keyring, session_family, claims["epoch"])
    # Beyond the transaction: what a reuse ends must stay ended.
    if tokens is None:
        raise AuthenticationFailed("The refresh token is used up or over; sign in again.")
    return tokens


def refresh_seconds(keyring: Keyring, tokens: TokenResponse) -> int:
    """Return how long a refresh token works from its making: less near the end of its session."""
    claims = _claims(keyring, tokens.refresh_token, _REFRESH)
    return int(claims["exp"] - claims["iat"]) if claims else 0


async def session_family(
    session: Session | ReadSession, session_id: SessionId
) -> UserSession | None:
    """Return the row of a session that is neither ended nor over."""
    query = select(UserSession).where(
        UserSession.id == session_id,
        UserSession.ended_at.is_(None),
        UserSession.expires_at > clock.now(),
    )
    return (await session.execute(query)).scalar_one_or_none()


async def require_unbound(session: Session | ReadSession, caller: SignedIn) -> UserSession:
    """Return the caller's session, which may touch the account.

    Raises:
        NoSession: it has ended.
        InsufficientScope: it came from an invitation and is bound to that org.
    """
    row = await session_family(session, caller.session_id)
    if row is None:
        raise NoSession
    if row.is_bound:
        message = "This session came from an invitation and is bound to its org; sign in first."
        raise InsufficientScope(message, details=(Detail("session", "is bound to its org"),))
    return row


async def is_bound(session: ReadSession, caller: SignedIn) -> bool:
    """Return whether the caller's session may not leave its org."""
    row = await session_family(session, caller.session_id)
    return row is not None and row.is_bound


async def is_shown(session: Session | ReadSession, shown: TokenClaims | None, user: User) -> bool:
    """Return whether the token claims belong to a live, complete session of this user."""
    if shown is None or shown.user_id != user.id or shown.epoch != user.epoch:
        return False
    row = await session_family(session, shown.session_id)
    if row is None or row.pending_until is not None:
        return False
    return shown.refresh_id is None or await _is_unused(session, shown.refresh_id)


async def end_all(session: Session, user: User) -> None:
    """End every session of a user inside the caller's transaction, access tokens at once."""
    user.epoch = User.epoch + 1
    await session.flush()
    await session.refresh(user, ["epoch"])
    await session.execute(
        update(UserSession)
        .where(UserSession.user_id == user.id, UserSession.ended_at.is_(None))
        .values(ended_at=clock.now())
    )


async def end_in_org(session: Session, user_id: UserId, org_id: OrgId) -> None:
    """End a user's sessions of one org inside the caller's transaction."""
    await session.execute(
        update(UserSession)
        .where(
            UserSession.user_id == user_id,
            UserSession.org_id == org_id,
            UserSession.ended_at.is_(None),
        )
        .values(ended_at=clock.now())
    )


async def live_session(
    session: Session, identity: Identity, user: User, session_id: SessionId, visit: ClientInfo
) -> TokenResponse:
    """Start a session to replace the caller's, which ended with all others.

    It is as old as that one, and in the same org unless the user was removed from it meanwhile.
    """
    row = await session.get_one(UserSession, session_id)
    start = NewSession(
        method=SignInMethod(row.method),
        org_id=await orgs.home(session, user, rather=OrgId(row.org_id) if row.org_id else None),
        visit=visit,
        is_bound=row.is_bound,
        is_proven=True,
        since=row.created_at,
    )
    return await begin(session, identity, user, start)


async def purge_expired(database: Database) -> int:
    """Delete up to a thousand sessions and refresh tokens that are over; return how many."""
    now = clock.now()
    tokens_ = await purging.purge_some(database, RefreshToken, RefreshToken.expires_at <= now)
    return tokens_ or await purging.purge_some(database, UserSession, UserSession.expires_at <= now)


def _shown(claims: Mapping[str, Any]) -> TokenClaims:
    return TokenClaims(
        user_id=UserId(claims["sub"]),
        session_id=SessionId(claims["sid"]),
        org_id=OrgId(claims["org"]) if claims["org"] else None,
        epoch=claims["epoch"],
        issued_at=claims["iat"],
        is_pending=bool(claims.get("pending")),
    )


def _is_of_this_membership(found: Row[Any], shown: TokenClaims) -> bool:
    """Refuse tokens of a membership that ended, although the user has joined again."""
    return found.role is not None and int(found.joined_at.timestamp()) <= shown.issued_at


def _signed_in(found: Row[Any], shown: TokenClaims, visit: ClientInfo, plans: Plans) -> SignedIn:
    return SignedIn(
        user_id=shown.user_id,
        session_id=shown.session_id,
        epoch=shown.epoch,
        email=found.email,
        full_name=found.full_name,
        created_at=found.user_created_at,
        is_email_verified=found.email_verified_at is not None,
        has_second_factor=found.totp_enabled_at is not None,
        org=orgs.shape(found, plans) if found.role else None,
        plan=plans.of(found.plan, found.agreed) if found.role else None,
        role=Role(found.role) if found.role else None,
        visit=visit,
        viewers_write=bool(found.viewers_write),
    )


async def _require_completed(session: ReadSession, shown: TokenClaims) -> None:
    row = await session_family(session, shown.session_id)
    if row is None or row.pending_until is not None:
        message = "This session waits for the second factor: POST /v1/auth/2fa/verify."
        raise AuthenticationFailed(message)


async def _end_pending(session: Session, user: User, visit: ClientInfo) -> None:
    await session.execute(
        update(UserSession)
        .where(
            UserSession.user_id == user.id,
            UserSession.pending_until.is_not(None),
            UserSession.ended_at.is_(None),
            UserSession.ip_address.is_not_distinct_from(visit.ip_address),
            UserSession.user_agent.is_not_distinct_from(visit.user_agent),
        )
        .values(ended_at=clock.now())
    )


async def _is_unused(session: Session | ReadSession, jti: str) -> bool:
    query = select(RefreshToken.id).where(RefreshToken.id == jti, RefreshToken.used_at.is_(None))
    return (await session.execute(query)).scalar_one_or_none() is not None


async def _spent(session: Session, jti: str, *, is_forgiving: bool) -> UserSession | None:
    """Use up a refresh token and return its family; a reuse that is no second tab ends that."""
    now = clock.now()
    token = (
        await session.execute(
            select(RefreshToken).where(RefreshToken.id == jti).with_for_update(key_share=True)
        )
    ).scalar_one_or_none()
    if token is None:
        return None
    found = await session_family(session, SessionId(token.session_id))
    if found is not None and found.pending_until is not None:
        # Not used up: it works once the second factor is shown.
        return None
    if token.used_at is None:
        token.used_at = now
        return found
    if now - token.used_at > _GRACE:
        if found is not None:
            found.ended_at = now
        return None
    return found if is_forgiving else None


async def _next(
    session: Session, keyring: Keyring, row: UserSession | None, epoch: int
) -> TokenResponse | None:
    if row is None:
        return None
    user = await session.get_one(User, row.user_id)
    if user.disabled_at is not None or user.epoch != epoch:
        return None
    if row.org_id is None:
        row.org_id = await orgs.home(session, user)
    return _mint(session, keyring, row, user)


def _mint(session: Session, keyring: Keyring, row: UserSession, user: User) -> TokenResponse:
    now = clock.now()
    token = RefreshToken(
        id=ids.new("rft"),
        session_id=row.id,
        expires_at=min(now + REFRESH_LIFE, row.expires_at),
    )
    session.add(token)
    is_pending = row.pending_until is not None
    claims: dict[str, Any] = {
        "sub": user.id,
        "org": row.org_id,
        "sid": row.id,
        "epoch": user.epoch,
        "iat": int(now.timestamp()),
    }
    if is_pending:
        claims["pending"] = True
    access = {**claims, "jti": ids.new("act"), "exp": int((now + ACCESS_LIFE).timestamp())}
    refresh_ = {**claims, "jti": token.id, "exp": int(token.expires_at.timestamp())}
    return TokenResponse(
        access_token=_signed(keyring, access, _ACCESS),
        refresh_token=_signed(keyring, refresh_, _REFRESH),
        expires_in=int(ACCESS_LIFE.total_seconds()),
        user_id=user.id,
        org_id=row.org_id,
        two_factor_required=True if is_pending else None,
    )


def _signed(keyring: Keyring, claims: dict[str, Any], type_: str) -> str:
    return keyring.sign({**claims, "type": type_}, audience=f"recibo:{type_}")


def _claims(keyring: Keyring, token: str | None, type_: str) -> Mapping[str, Any] | None:
    if not token:
        return None
    try:
        claims = keyring.claims(token, audience=f"recibo:{type_}")
    except BadTokenError:
        return None
    if any(type(claims.get(name)) not in types for name, types in _CLAIMS.items()):
        return None
    is_live = claims["type"] == type_ and claims["exp"] > clock.now().timestamp()
    return claims if is_live else None
