"""The sessions of a user, by device: list them and end one."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import select

from recibo.errors import NotFound
from recibo.lib import clock, ids
from recibo.schemas.actor import SignedIn
from recibo.schemas.states import AuditAction, ResourceType, SignInMethod
from recibo.services import audit
from recibo.services.identity import sessions
from recibo.services.identity.identity import Identity
from recibo.store.db import ReadSession
from recibo.store.tables import Org, RefreshToken, UserSession

# More than a person has; scripts that sign in again and again have thousands.
_MOST = 50


@dataclass(frozen=True, slots=True)
class DeviceSession:
    """A session that is neither ended nor over."""

    #: It names the session and opens nothing.
    id: str
    method: SignInMethod
    user_agent: str | None
    #: Where it was last used.
    ip_address: str | None
    signed_in_at: dt.datetime
    #: Within 15 minutes: tokens are refreshed so often.
    last_seen_at: dt.datetime
    org_name: str | None
    is_current: bool


async def of_user(session: ReadSession, caller: SignedIn) -> list[DeviceSession]:
    """Return the sessions of the caller that can still be used, the current and newest first."""
    now = clock.now()
    live = (
        select(RefreshToken.session_id)
        .where(RefreshToken.session_id == UserSession.id, RefreshToken.used_at.is_(None),
               RefreshToken.expires_at > now)
        .exists()
    )  # fmt: skip
    query = (
        select(UserSession, Org.name)
        .outerjoin(Org, Org.id == UserSession.org_id)
        .where(
            UserSession.user_id == caller.user_id,
            UserSession.ended_at.is_(None),
            UserSession.pending_until.is_(None),
            UserSession.expires_at > now,
            live,
        )
        .order_by((UserSession.id == caller.session_id).desc(), UserSession.id.desc())
        .limit(_MOST)
    )
    found = [_shape(row, org, caller) for row, org in await session.execute(query)]
    return sorted(found, key=lambda one: (one.is_current, one.last_seen_at), reverse=True)


async def end(identity: Identity, caller: SignedIn, session_id: str) -> None:
    """End another session of the caller: its next request is refused.

    Raises:
        NotFound: there is no such session besides the caller's own.
        InsufficientScope: the caller's session is bound to its org.
    """
    async with identity.database.write() as session:
        await sessions.require_unbound(session, caller)
        if not ids.is_well_formed(session_id) or session_id == caller.session_id:
            raise _no_such_session()
        query = select(UserSession).where(
            UserSession.id == session_id,
            UserSession.user_id == caller.user_id,
            UserSession.ended_at.is_(None),
        )
        row = (await session.execute(query.with_for_update())).scalar_one_or_none()
        if row is None:
            raise _no_such_session()
        row.ended_at = clock.now()
        audit.record(
            session,
            caller.person,
            AuditAction.USER_SESSION_ENDED,
            resource=(ResourceType.USER, caller.user_id),
            before={
                "session_id": row.id,
                "ip_address": row.last_ip_address or row.ip_address,
                "user_agent": row.user_agent,
            },
        )


async def sign_out(identity: Identity, caller: SignedIn) -> None:
    """End the caller's session."""
    async with identity.database.write() as session:
        row = await session.get(UserSession, caller.session_id)
        if row is not None and row.ended_at is None:
            row.ended_at = clock.now()


def _no_such_session() -> NotFound:
    return NotFound("There is no such session; it may have ended.")


def _shape(row: UserSession, org_name: str | None, caller: SignedIn) -> DeviceSession:
    return DeviceSession(
        id=row.id,
        method=SignInMethod(row.method),
        user_agent=row.user_agent,
        ip_address=row.last_ip_address or row.ip_address,
        signed_in_at=row.created_at,
        last_seen_at=row.last_seen_at or row.created_at,
        org_name=org_name,
        is_current=row.id == caller.session_id,
    )
