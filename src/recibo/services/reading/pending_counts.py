"""How many readings each org waits for, kept beside the receipts by whoever changes that.

Whoever changes a row here does it last in the transaction: no two wait for each other.
"""

from sqlalchemy import ColumnElement, Select, case, func, select

from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName, Plans
from recibo.store import upsert
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Org, PendingReadings

# What more orgs than these wait for tells nobody more: the queue is long.
_MOST_ORGS = 1000


async def add(session: Session, org_id: OrgId, count: int = 1) -> None:
    """Count readings that an org waits for from now on, or no more, in the caller's transaction."""
    await session.execute(
        upsert.insert(session, PendingReadings)
        .values(org_id=org_id, count=count)
        .on_conflict_do_update(
            index_elements=["org_id"], set_={"count": PendingReadings.count + count}
        )
    )


async def total(session: ReadSession) -> int:
    """Return how many readings all orgs wait for."""
    query = select(func.coalesce(func.sum(PendingReadings.count), 0))
    return int((await session.execute(query.where(PendingReadings.count > 0))).scalar_one())


async def of_org(session: ReadSession, org_id: OrgId, plans: Plans) -> tuple[int, int]:
    """Return how many readings an org waits for, and how many of them the queue carries."""
    query = (
        select(PendingReadings.count.label("waiting"), Org.plan)
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.org_id == org_id)
    )
    row = (await session.execute(query)).one_or_none()
    return (max(0, row.waiting), plans.readings_carried(row.plan)) if row else (0, 1)


async def of_others(session: ReadSession, org_id: OrgId, plans: Plans, *, turns: int) -> int:
    """Return how many readings of other orgs come in so many turns, of a thousand at most."""
    in_turns = _carried(plans) * turns
    coming = case((PendingReadings.count < in_turns, PendingReadings.count), else_=in_turns)
    some = (
        select(coming.label("coming"))
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.count > 0, PendingReadings.org_id != org_id)
        .limit(_MOST_ORGS)
        .subquery()
    )
    query = select(func.coalesce(func.sum(some.c.coming), 0))
    return int((await session.execute(query)).scalar_one())


def waiting(plans: Plans, *, after: str, limit: int) -> Select[tuple[str, int]]:
    """Return the query of orgs that wait, by their ids, with how many the queue carries of each."""
    return (
        select(PendingReadings.org_id, _carried(plans).label("carried"))
        .join(Org, Org.id == PendingReadings.org_id)
        .where(PendingReadings.count > 0, PendingReadings.org_id > after)
        .order_by(PendingReadings.org_id)
        .limit(limit)
    )


def _carried(plans: Plans) -> ColumnElement[int]:
    return case({plan: plans.readings_carried(plan) for plan in PlanName}, value=Org.plan)
