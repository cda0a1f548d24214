"""Limits on attempts: all attempts at some actions, failed ones at others.

Where all count, each is counted before it is made. Where only wrong ones do, tries at the same
thing take turns: many at once get no more than as many one after another, and right ones that come
together are not refused.
"""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

from recibo.errors import RateLimitExceeded
from recibo.lib import clock
from recibo.store import counters
from recibo.store.db import Database, ReadSession, Session


@dataclass(frozen=True, slots=True)
class Limit:
    """How often something may happen within a window that begins with the first time."""

    name: str
    times: int
    window: dt.timedelta


#: A limit and whom it is counted for: an account, an address, both.
Counted = tuple[Limit, str]


async def take(session: Session, counted: Sequence[Counted]) -> None:
    """Count a try before it is made, inside the caller's transaction.

    Raises:
        RateLimitExceeded: one of the limits is reached; roll back, a refused try is not counted.
    """
    reached = []
    for limit, subject in counted:
        count = await counters.add(session, limit.name, subject, window=limit.window)
        if count > limit.times:
            reached.append((limit, subject))
    await _refuse(session, reached)


async def count(session: Session, counted: Sequence[Counted]) -> None:
    """Count a try that was wrong, inside the caller's transaction."""
    for limit, subject in counted:
        await counters.add(session, limit.name, subject, window=limit.window)


async def refuse_if_reached(session: Session | ReadSession, counted: Sequence[Counted]) -> None:
    """Raise RateLimitExceeded when a limit is reached; nothing is counted."""
    reached = []
    for limit, subject in counted:
        if await counters.count(session, limit.name, subject) >= limit.times:
            reached.append((limit, subject))
    await _refuse(session, reached)


async def purge_expired(database: Database) -> int:
    """Delete up to 1,000 counters whose window has ended; return how many."""
    return await counters.purge_expired(database)


async def _refuse(session: Session | ReadSession, reached: Sequence[Counted]) -> None:
    """Raise RateLimitExceeded if any limit is reached, until the last of them is open again."""
    if reached:
        waits = [await _wait_seconds(session, limit, subject) for limit, subject in reached]
        raise RateLimitExceeded(retry_after=max(waits))


async def _wait_seconds(session: Session | ReadSession, limit: Limit, subject: str) -> int:
    ends_at = await counters.ends_at(session, limit.name, subject)
    left = ((ends_at or clock.now()) - clock.now()).total_seconds()
    return max(1, math.ceil(left))
