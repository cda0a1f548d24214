"""Limits on tries: each is counted before it is made, so that many at once get no more."""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

from recibo.errors import RateLimitExceeded
from recibo.kit import clock
from recibo.store import counters
from recibo.store.db import Session


@dataclass(frozen=True, slots=True)
class Limit:
    """How often something may happen within a window that begins with the first time."""

    name: str
    times: int
    window: dt.timedelta


#: A limit and whom it is counted for: an account, an address, both.
Counted = tuple[Limit, str]


async def take(session: Session, counted: Sequence[Counted]) -> None:
    """Count a try; the caller's transaction must end before the try is made.

    Raises:
        RateLimitExceeded: one of the limits is reached; roll back, a refused try is not counted.
    """
    for limit, subject in counted:
        count = await counters.add(session, limit.name, subject, window=limit.window)
        if count > limit.times:
            raise RateLimitExceeded(retry_after=await _wait_seconds(session, limit, subject))


async def give_back(session: Session, counted: Sequence[Counted]) -> None:
    """Count a try no more, inside the caller's transaction: it was none, or a good one."""
    for limit, subject in counted:
        await counters.take_back(session, limit.name, subject)


async def refuse_if_reached(session: Session, counted: Sequence[Counted]) -> None:
    """Raise RateLimitExceeded when a limit is reached, without counting."""
    for limit, subject in counted:
        if await counters.count(session, limit.name, subject) >= limit.times:
            raise RateLimitExceeded(retry_after=await _wait_seconds(session, limit, subject))


async def purge_expired(session: Session) -> None:
    """Delete the counts whose window is over."""
    await counters.purge_expired(session)


async def _wait_seconds(session: Session, limit: Limit, subject: str) -> int:
    ends_at = await counters.ends_at(session, limit.name, subject)
    left = ((ends_at or clock.now()) - clock.now()).total_seconds()
    return max(1, math.ceil(left))
