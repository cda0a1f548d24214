"""Event counters with a time window that starts at the first event."""

import datetime as dt

from sqlalchemy import case, select

from recibo.lib import clock, tokens
from recibo.store import purging, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Counter


async def add(session: Session, name: str, subject: str, *, window: dt.timedelta) -> int:
    """Increment a counter inside the caller's transaction and return the new count."""
    now = clock.now()
    statement = upsert.insert(session, Counter).values(
        key=_key(name, subject), count=1, expires_at=now + window
    )
    is_expired = Counter.expires_at <= now
    statement = statement.on_conflict_do_update(
        index_elements=[Counter.key],
        set_={
            "count": case((is_expired, 1), else_=Counter.count + 1),
            "expires_at": case((is_expired, now + window), else_=Counter.expires_at),
        },
    ).returning(Counter.count)
    return int((await session.execute(statement)).scalar_one())


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
