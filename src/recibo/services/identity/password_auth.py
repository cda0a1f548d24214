"""Sign-up and sign-in with a password."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.exc import IntegrityError

from recibo.errors import AuthenticationFailed, Conflict
from recibo.lib import clock, ids
from recibo.schemas.actor import ClientInfo, Person
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, ResourceType, Role, SignInMethod
from recibo.services import audit, mails
from recibo.services.identity import orgs, passwords, sessions, throttles
from recibo.services.identity.identity import Identity
from recibo.services.identity.sessions import NewSession
from recibo.services.identity.throttles import Counted, Limit
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Membership, User

_HOUR = dt.timedelta(hours=1)
_QUARTER = dt.timedelta(minutes=15)
_FROM_ONE_IP = Limit("password:account+ip", 10, _QUARTER)
_FOR_AN_ACCOUNT = Limit("password:account", 100, _QUARTER)
_FOR_AN_IP = Limit("password:ip", 50, _QUARTER)
# Tries at one account wait for each other before they wait to be verified.
_LONGEST_TURN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Signup:
    """Who signs up, and for what org."""

    email: str
    password: str
    full_name: str | None
    org_name: str


async def sign_up(identity: Identity, wanted: Signup, *, visit: ClientInfo) -> TokenResponse:
    """Create a user with an org of their own, enqueue the verification link, start a session.

    Raises:
        SignupClosed: accounts come by invitation, or not at all.
        ValidationFailed: a field does not hold; the address is disposable.
        RateLimitExceeded: too many signups from this IP within the hour.
        Conflict: the address is registered already.
        Overloaded: too many passwords are being hashed.
    """
    identity.require_open_signup()
    address = identity.lasting_email(wanted.email)
    async with identity.database.write() as session:
        await throttles.take(session, _signup_limits(identity, visit))
    hashed = await identity.passwords.hash(wanted.password, client=visit.limit_subject)
    user = User(
        id=ids.new("usr"),
        email=address,
        full_name=wanted.full_name,
        created_at=clock.now(),
        password_hash=hashed,
        signup_ip_address=visit.ip_address,
        signup_user_agent=visit.user_agent,
    )
    async with identity.database.write() as session:
        return await _sign_up(session, identity, user, wanted.org_name, visit)


async def _sign_up(
    session: Session, identity: Identity, user: User, org_name: str, visit: ClientInfo
) -> TokenResponse:
    session.add(user)
    try:
        # The address is free here or nowhere.
        await session.flush()
    except IntegrityError:
        raise Conflict("This e-mail address is registered already; sign in.") from None
    org_id = await orgs.add(session, org_name, billing_email=user.email)
    session.add(Membership(org_id=org_id, user_id=user.id, role=Role.OWNER, created_at=clock.now()))
    who = Person(UserId(user.id), org_id, visit)
    audit.record(
        session,
        who,
        AuditAction.ORG_CREATED,
        resource=(ResourceType.ORG, org_id),
        after={"name": org_name, "plan": "free"},
    )
    audit.record(
        session,
        who,
        AuditAction.USER_SIGNED_UP,
        resource=(ResourceType.USER, user.id),
        after={"email": user.email, "full_name": user.full_name},
    )
    mails.enqueue(session, MailKind.VERIFY_EMAIL, to=user.email)
    return await sessions.begin(
        session, identity, user, NewSession(SignInMethod.SIGNUP, org_id, visit)
    )


async def sign_in(
    identity: Identity, *, email: str, password: str, visit: ClientInfo
) -> TokenResponse:
    """Start a session by password; it is pending if a second factor is required.

    Unknown addresses, wrong passwords and disabled accounts take the same time and get the same
    answer.

    Raises:
        AuthenticationFailed: no such account with this password, or it is disabled.
        RateLimitExceeded: too many wrong passwords.
        Overloaded: too many passwords are being verified; nothing is counted.
    """
    address = identity.email(email)
    counted = _password_limits(address, visit)
    async with _in_turn(identity, counted):
        async with identity.passwords.place(visit.limit_subject):
            async with identity.database.read() as reading:
                await throttles.refuse_if_reached(reading, counted)
                stored = await _by_email(reading, address)
            hash_ = stored.password_hash if stored and not stored.disabled_at else None
            is_right = await identity.passwords.verify(hash_, _cut(password))
        async with identity.database.write() as session:
            # Looked up again: it may have been changed while the password was verified.
            user = await _by_email(session, address)
            is_same = user is not None and user.password_hash == hash_ and not user.disabled_at
            if is_right and user is not None and is_same:
                return await signed_in(session, identity, user, SignInMethod.PASSWORD, visit)
            await throttles.count(session, counted)
            await record_failure(session, User.email == address, visit=visit)
    raise AuthenticationFailed("The e-mail address or the password is wrong.")


async def signed_in(
    session: Session, identity: Identity, user: User, method: SignInMethod, visit: ClientInfo
) -> TokenResponse:
    """Start a session in the org last used, inside the caller's transaction."""
    start = NewSession(method, await orgs.home(session, user), visit)
    return await begin_session(session, identity, user, start)


async def begin_session(
    session: Session, identity: Identity, user: User, start: NewSession
) -> TokenResponse:
    """Start a session after a first factor; record whether the second one is required."""
    tokens = await sessions.begin(session, identity, user, start)
    is_pending = tokens.two_factor_required
    audit.record(
        session,
        Person(UserId(user.id), start.org_id, start.visit),
        AuditAction.USER_2FA_REQUIRED if is_pending else AuditAction.USER_SIGNED_IN,
        resource=(ResourceType.USER, user.id),
        after={"method": start.method},
    )
    return tokens


async def require_password(
    identity: Identity, user: User, password: str, *, visit: ClientInfo
) -> None:
    """Verify a password of a known account as a sign-in would, outside any transaction.

    Raises:
        AuthenticationFailed: it is wrong.
        RateLimitExceeded: too many wrong ones.
        Overloaded: too many passwords are being verified; nothing is counted.
    """
    counted = _password_limits(user.email, visit)
    async with _in_turn(identity, counted):
        async with identity.passwords.place(visit.limit_subject):
            async with identity.database.read() as reading:
                await throttles.refuse_if_reached(reading, counted)
            if await identity.passwords.verify(user.password_hash, _cut(password)):
                return
        async with identity.database.write() as session:
            await throttles.count(session, counted)
    raise AuthenticationFailed("The current password is wrong.")


@asynccontextmanager
async def _in_turn(identity: Identity, counted: Sequence[Counted]) -> AsyncIterator[None]:
    """Let tries that count for the same account or IP wait for one another, but not for long.

    Of those that come at once, no more are made than of those that come one by one; but for one
    each other process.
    """
    names = [f"{limit.name} {subject}" for limit, subject in counted]
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(_LONGEST_TURN_SECONDS):
                await stack.enter_async_context(identity.turns.hold(*names))
        except TimeoutError:
            raise passwords.too_busy() from None
        yield


def _cut(password: str) -> str:
    # Longer than any password is: as wrong as the whole, and cheaper.
    return password[: passwords.MAX_LENGTH + 1]


def _signup_limits(identity: Identity, visit: ClientInfo) -> list[Counted]:
    if not (visit.is_limited_by_ip or identity.loopback_signups_are_limited):
        return []
    return [(Limit("signup:ip", identity.signups_per_ip_per_hour, _HOUR), visit.limit_subject)]


def _password_limits(address: str, visit: ClientInfo) -> list[Counted]:
    here = visit.limit_subject
    counted = [(_FROM_ONE_IP, f"{address} {here}"), (_FOR_AN_ACCOUNT, address)]
    return [*counted, (_FOR_AN_IP, here)] if visit.is_limited_by_ip else counted


async def _by_email(session: Session | ReadSession, address: str) -> User | None:
    query = select(User).where(User.email == address)
    return (await session.execute(query)).scalar_one_or_none()


async def record_failure(
    session: Session,
    whose: ColumnElement[bool],
    *,
    visit: ClientInfo,
    after: Mapping[str, str] | None = None,
) -> None:
    """Record a failed sign-in in the audit log of the account's org.

    It takes one query whether or not the account exists, and names no actor: none is proven.
    """
    query = (
        select(User.id, Membership.org_id)
        .outerjoin(Membership, Membership.user_id == User.id)
        .where(whose)
        .order_by((Membership.org_id == User.last_org_id).desc(), Membership.created_at)
    )
    found = (await session.execute(query.limit(1))).one_or_none()
    audit.record(
        session,
        Person(None, OrgId(found.org_id) if found and found.org_id else None, visit),
        AuditAction.USER_SIGN_IN_FAILED,
        resource=(ResourceType.USER, found.id if found else None),
        after=after,
    )
