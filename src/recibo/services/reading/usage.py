"""The monthly quota, reserved when an upload is accepted, and the billing of readings."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, RowMapping, bindparam, update

from recibo.errors import RateLimitExceeded
from recibo.lib import clock, ids
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import Plan
from recibo.schemas.states import EventType
from recibo.services import meter_events
from recibo.services.webhooks import events
from recibo.store import scope, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import UsageDay, UsageEvent, UsageMonth

CREDITS = {"standard": 1, "high": 5}
# Percentages of the month's quota at which the org gets an event.
_THRESHOLDS = (80, 100)
_MONTH = scope.prepared(
    UsageMonth, UsageMonth.held, UsageMonth.completed, UsageMonth.credits
).where(UsageMonth.month == bindparam("month"))


@dataclass(frozen=True, slots=True)
class Usage:
    """An org's use of the current month."""

    held: int = 0
    completed: int = 0
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """An org's use of its monthly quota."""

    limit: int
    left: int
    renews_at: dt.datetime

    @classmethod
    def of(cls, plan: Plan, *, held: int = 0) -> "Quota | None":
        """Return the quota of a plan after this many receipts.

        Returns None if the plan has no quota.
        """
        limit = plan.receipts_a_month
        if limit is None:
            return None
        return cls(limit, max(0, limit - held), month_end(clock.now()))


def month_of(time: dt.datetime) -> str:
    """Return the calendar month of a time, UTC, as `YYYY-MM`."""
    return f"{time.astimezone(dt.UTC):%Y-%m}"


def month_end(time: dt.datetime) -> dt.datetime:
    """Return the first instant of the next calendar month, UTC."""
    first = time.astimezone(dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + dt.timedelta(days=32)).replace(day=1)


async def this_month(session: ReadSession, actor: Actor) -> Usage:
    """Return what the actor's org has used of the current month."""
    return _usage((await session.execute(_MONTH, _this_month(actor))).one_or_none())


async def quota(database: Database, actor: Actor) -> Quota | None:
    """Return the use of the org's quota, or None if it has no quota."""
    if actor.plan.receipts_a_month is None:
        return None
    return Quota.of(actor.plan, held=await _held(database, actor))


async def refuse_over_quota(database: Database, actor: Actor) -> None:
    """Raise RateLimitExceeded if the quota is used up; `hold` makes the final check."""
    quota = actor.plan.receipts_a_month
    if quota is not None and await _held(database, actor) >= quota:
        raise _over_quota(quota)


async def hold(session: Session, actor: Actor, month: str) -> None:
    """Reserve one receipt of a month's quota, inside the caller's transaction.

    The count is locked until the transaction ends, so parallel uploads cannot exceed the quota
    together. Without a quota it only counts.

    Raises:
        RateLimitExceeded: nothing is left; roll back.
    """
    key = {"org_id": actor.org_id, "month": month}
    row = await upsert.add(session, UsageMonth, key, {"held": 1}, completed=0, credits=0)
    quota = actor.plan.receipts_a_month
    if quota is not None and row["held"] > quota:
        raise _over_quota(quota)


async def give_back(session: Session, org_id: OrgId, month: str) -> None:
    """Return one receipt to a month's quota: its reading failed."""
    await session.execute(
        update(UsageMonth)
        .where(UsageMonth.org_id == org_id, UsageMonth.month == month, UsageMonth.held > 0)
        .values(held=UsageMonth.held - 1)
    )


async def bill(
    session: Session,
    org_id: OrgId,
    receipt_id: ReceiptId,
    *,
    accuracy: str,
    again: bool,
    quota: int | None = None,
    is_metered: bool = False,
) -> None:
    """Bill one completed reading; one `again` at a higher accuracy costs only the difference.

    The org gets events when it reaches thresholds of the month's `quota`. If usage `is_metered`, it
    is also reported to the payment provider.
    """
    credits_due = CREDITS[accuracy] - (CREDITS["standard"] if again else 0)
    now = clock.now()
    event = UsageEvent(
        id=ids.new("use"),
        org_id=org_id,
        receipt_id=receipt_id,
        accuracy=accuracy,
        credits=credits_due,
        created_at=now,
    )
    session.add(event)
    if is_metered:
        await meter_events.enqueue(session, event)
    day = now.astimezone(dt.UTC).date()
    await upsert.add(session, UsageDay, {"org_id": org_id, "day": day}, {"count": 1})
    key = {"org_id": org_id, "month": month_of(now)}
    amounts = {"completed": 0 if again else 1, "credits": credits_due}
    month = await upsert.add(session, UsageMonth, key, amounts, held=0)
    if quota is not None and not again:
        await _emit_thresholds(session, month, quota)


async def _emit_thresholds(session: Session, month: RowMapping, quota: int) -> None:
    """Emit an event for each threshold of the quota that the org has reached, once each.

    The counting statement has locked the month's row, so no threshold is emitted twice.
    """
    org_id = OrgId(month["org_id"])
    last = month["notified_percent"] if month["notified_quota"] == quota else 0
    reached = [one for one in _THRESHOLDS if last < one and month["completed"] * 100 >= one * quota]
    for threshold in reached:
        data = {"threshold": threshold, "used": month["completed"], "quota": quota}
        await events.emit(session, org_id, EventType.USAGE_THRESHOLD_REACHED, data)
    if reached:
        await session.execute(
            update(UsageMonth)
            .where(UsageMonth.org_id == org_id, UsageMonth.month == month["month"])
            .values(notified_percent=reached[-1], notified_quota=quota)
        )


async def _held(database: Database, actor: Actor) -> int:
    return _usage(await database.fetch_row(_MONTH, _this_month(actor))).held


def _this_month(actor: Actor) -> Mapping[str, object]:
    return {**scope.parameters(actor), "month": month_of(clock.now())}


def _usage(row: Row[Any] | None) -> Usage:
    return Usage(row.held, row.completed, row.credits) if row else Usage()


def _over_quota(quota: int | None) -> RateLimitExceeded:
    now = clock.now()
    return RateLimitExceeded(
        f"The month's quota of {quota} receipts is used up; it renews on the first, or upgrade.",
        retry_after=max(1, int((month_end(now) - now).total_seconds())),
    )
