"""Counters of pending readings per org, updated in the transaction of every change.

Transactions update these rows last, so that they cannot deadlock.
"""

from functools import cache

from sqlalchemy import ColumnElement, Integer, Select, bindparam, case, func, select

from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName, Plans
from recibo.store import upsert
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Org, PendingReadings

# Beyond this many orgs the estimate stops: the queue is long anyway.
_MAX_ORGS = 1000


async def add(session: Session, org_id: OrgId, count: int = 1) -> None:
    """Add to an org's number of pending readings, inside the caller's transaction."""
    await upsert.add(session, PendingReadings, {"org_id": org_id}, {"count": count})


async def total(session: ReadSession) -> int:
    """Return the number of pending readings of all orgs."""
    query = select(func.coalesce(func.sum(PendingReadings.count), 0))
    return int((await session.execute(query.where(PendingReadings.count > 0))).scalar_one())


async def of_org(session: ReadSession, org_id: OrgId, plans: Plans) -> tuple[int, int]:
    """Return an org's number of pending readings, and how many of them the queue may hold."""
    query = (
        select(PendingReadings.count.label("waiting"), Org.plan)
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.org_id == org_id)
    )
    row = (await session.execute(query)).one_or_none()
    return (max(0, row.waiting), plans.readings_carried(row.plan)) if row else (0, 1)


async def of_others(session: ReadSession, org_id: OrgId, plans: Plans, *, rounds: int) -> int:
    """Return how many readings of up to 1,000 other orgs come in this many rounds."""
    parameters = {"org_id": org_id, "rounds": rounds}
    return int((await session.execute(_coming_of_others(plans), parameters)).scalar_one())


@cache
def _coming_of_others(plans: Plans) -> Select[tuple[int]]:
    # Built once: each upload needs it, and building it takes longer than running it.
    in_rounds = _queued(plans) * bindparam("rounds", type_=Integer)
    coming = case((PendingReadings.count < in_rounds, PendingReadings.count), else_=in_rounds)
    others = (
        select(coming.label("coming"))
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.count > 0, PendingReadings.org_id != bindparam("org_id"))
        .limit(_MAX_ORGS)
        .subquery()
    )
    return select(func.coalesce(func.sum(others.c.coming), 0))


def waiting(plans: Plans, *, after: str, limit: int) -> Select[tuple[str, int]]:
    """Return a query of orgs with pending readings, and how many of each the queue may hold."""
    return (
        select(PendingReadings.org_id, _queued(plans).label("queued"))
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.count > 0, PendingReadings.org_id > after)
        .order_by(PendingReadings.org_id)
        .limit(limit)
    )


def _queued(plans: Plans) -> ColumnElement[int]:
    return case({plan: plans.readings_carried(plan) for plan in PlanName}, value=Org.plan)
