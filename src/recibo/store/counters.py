"""Event counters with a time window that starts at the first event."""

import datetime as dt

from sqlalchemy import bindparam, select

from recibo.lib import clock, tokens
from recibo.store import purging, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Counter

_EXPIRED = "counters.expires_at <= :now"
_ADD = upsert.statement_of(
    Counter,
    ("key", "count", "expires_at"),
    ("key",),
    (
        f"count = CASE WHEN {_EXPIRED} THEN 1 ELSE counters.count + 1 END",
        f"expires_at = CASE WHEN {_EXPIRED} THEN excluded.expires_at ELSE counters.expires_at END",
    ),
    is_returned=True,
).bindparams(bindparam("now", type_=Counter.__table__.c.expires_at.type))


async def add(session: Session, name: str, subject: str, *, window: dt.timedelta) -> int:
    """Increment a counter inside the caller's transaction and return the new count."""
    now = clock.now()
    values = {"key": _key(name, subject), "count": 1, "expires_at": now + window, "now": now}
    return int((await session.execute(_ADD, values)).mappings().one()["count"])


async def ends_at(session: Session | ReadSession, name: str, subject: str) -> dt.datetime | None:
    """Return when the current window ends; None if there is none."""
    query = select(Counter.expires_at).where(
        Counter.key == _key(name, subject), Counter.expires_at > clock.now()
    )
    return (await session.execute(query)).scalar_one_or_none()


async def count(session: Session | ReadSession, name: str, subject: str) -> int:
    """Return the count of the current window."""
    query = select(Counter.count).where(
        Counter.key == _key(name, subject), Counter.expires_at > clock.now()
    )
    return (await session.execute(query)).scalar_one_or_none() or 0


async def purge_expired(database: Database) -> int:
    """Delete up to a thousand expired counters; return how many."""
    return await purging.purge_some(database, Counter, Counter.expires_at <= clock.now())


def _key(name: str, subject: str) -> str:
    # A subject may contain an email address of any length.
    return f"{name}:{tokens.fingerprint(subject)}"
