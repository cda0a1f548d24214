"""Counters of pending readings per org, updated in the transaction of every change.

Transactions update these rows last, so that they cannot deadlock.
"""

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, case, func, select

from recibo.schemas.ids import OrgId
from recibo.schemas.plans import SOLD, PlanName, Plans
from recibo.store import upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Org, PendingReadings

# Beyond this many orgs the estimate stops: the queue is long anyway.
_MAX_ORGS = 1000


async def add(session: Session, org_id: OrgId, count: int = 1) -> int:
    """Add to an org's number of pending readings inside the caller's transaction; return it."""
    row = await upsert.add(session, PendingReadings, {"org_id": org_id}, {"count": count})
    return int(row["count"])


async def total(session: ReadSession) -> int:
    """Return the number of pending readings of all orgs."""
    query = select(func.coalesce(func.sum(PendingReadings.count), 0))
    return int((await session.execute(query.where(PendingReadings.count > 0))).scalar_one())


async def ahead_of(database: Database, org_id: OrgId, *, plans: Plans = SOLD) -> int:
    """Return about how many readings would come before a new one of an org.

    Orgs are served round-robin, so of up to 1,000 others only those count that come in as many
    rounds as the org's own take.
    """
    [row] = await database.fetch_rows(_ahead(plans), {"org_id": org_id})
    return int(row[0])


@cache
def _ahead(plans: Plans) -> Select[tuple[int]]:
    # Built once: each upload needs it, and building it takes longer than running it.
    own = (
        _some(PendingReadings.count, (PendingReadings.count // _queued(plans) + 1).label("rounds"))
        .where(PendingReadings.org_id == bindparam("org_id"))
        .cte("own")
    )
    rounds = func.coalesce(select(own.c.rounds).scalar_subquery(), 1)
    in_rounds = _queued(plans) * rounds
    coming = case((PendingReadings.count < in_rounds, PendingReadings.count), else_=in_rounds)
    others = (
        _some(coming.label("coming"))
        .where(PendingReadings.org_id != bindparam("org_id"))
        .limit(_MAX_ORGS)
        .subquery()
    )
    of_own = func.coalesce(select(own.c.count).scalar_subquery(), 0)
    return select(of_own + func.coalesce(func.sum(others.c.coming), 0))


def waiting(plans: Plans, *, after: str, limit: int) -> Select[tuple[str, int]]:
    """Return a query of orgs with pending readings, and how many of each the queue may hold."""
    return (
        _some(PendingReadings.org_id, _queued(plans).label("queued"))
        .where(PendingReadings.org_id > after)
        .order_by(PendingReadings.org_id)
        .limit(limit)
    )


def _some(*columns: Any) -> Select[Any]:
    """Select from the orgs with pending readings."""
    return (
        select(*columns)
        .select_from(PendingReadings)
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.count > 0)
    )


def _queued(plans: Plans) -> ColumnElement[int]:
    return case({plan: plans.readings_carried(plan) for plan in PlanName}, value=Org.plan)
