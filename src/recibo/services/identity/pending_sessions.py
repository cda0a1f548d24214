"""Sessions that wait for the second factor: find and complete them."""

from sqlalchemy import select, update

from recibo.lib import clock
from recibo.schemas.actor import ClientInfo
from recibo.schemas.ids import OrgId, SessionId
from recibo.store.db import Session
from recibo.store.tables import User, UserSession


async def newest_from(session: Session, user_id: str, visit: ClientInfo) -> UserSession | None:
    """Return the session that a user began last from this IP and user agent and never completed.

    It may be over.
    """
    query = (
        select(UserSession)
        .where(
            UserSession.user_id == user_id,
            UserSession.pending_until.is_not(None),
            UserSession.ip_address.is_not_distinct_from(visit.ip_address),
            UserSession.user_agent.is_not_distinct_from(visit.user_agent),
        )
        .order_by(UserSession.id.desc())
    )
    return (await session.execute(query.limit(1))).scalar_one_or_none()


def is_waiting(row: UserSession) -> bool:
    """Return whether a session can still be completed."""
    return (
        row.ended_at is None and row.pending_until is not None and row.pending_until > clock.now()
    )


def is_completed(row: UserSession) -> bool:
    """Return whether a session is complete and not ended."""
    return row.ended_at is None and row.pending_until is None


async def held(session: Session, session_id: SessionId) -> UserSession | None:
    """Return a session that waits, held until the transaction ends; None when it waits no more."""
    query = select(UserSession).where(UserSession.id == session_id).with_for_update(key_share=True)
    row = (await session.execute(query)).scalar_one_or_none()
    return row if row is not None and is_waiting(row) else None


def complete(user: User, row: UserSession) -> None:
    """Make a session that waits a full one inside the caller's transaction."""
    row.pending_until = None
    if row.org_id is not None:
        user.last_org_id = OrgId(row.org_id)


async def end(session: Session, session_id: SessionId) -> None:
    """End a session inside the caller's transaction if it still waits."""
    await session.execute(
        update(UserSession)
        .where(
            UserSession.id == session_id,
            UserSession.pending_until.is_not(None),
            UserSession.ended_at.is_(None),
        )
        .values(ended_at=clock.now())
    )
