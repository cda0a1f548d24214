"""Chooses the next readings: the queue holds only a few jobs of each org, the oldest first.

The queue itself is first in, first out. So an org with ten thousand pending readings delays others
only by the few that it has in the queue.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import CTE, ColumnElement, Label, Select, bindparam, func, literal, select

from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import READINGS_CARRIED, SOLD, PlanName, Plans
from recibo.services.reading import pending_counts, readings
from recibo.store.db import Database, ReadSession
from recibo.store.tables import Org, Receipt

_MAX_QUEUED = max(READINGS_CARRIED.values())
# How many jobs of an org wait for a reader: enough to keep readers busy, and few enough that the
# jobs of the next org wait only for these, even with one reader.
_MAX_WAITING = 2
# Orgs examined per batch.
_MAX_ORGS = 1000
_IS_PENDING = Receipt.pending_accuracy.is_not(None)


@dataclass(frozen=True, slots=True)
class Job:
    """A reading for the queue; receipt and accuracy identify it."""

    receipt_id: ReceiptId
    accuracy: Accuracy
    #: Distinguishes a new task of the same reading from one that is just ending.
    repetition: int = 0


async def is_eligible(
    session: ReadSession, org_id: OrgId, receipt_id: ReceiptId, *, plan: PlanName
) -> bool:
    """Return whether a pending receipt of an org may be enqueued now.

    Call it after the commit: a task of the org that starts or ends meanwhile sees the receipt.
    """
    query = (
        _select_jobs()
        .where(Receipt.org_id == org_id, _IS_PENDING, Receipt.id < receipt_id)
        .order_by(Receipt.org_id, Receipt.id)
        .limit(READINGS_CARRIED[plan])
    )
    older = (await session.execute(query)).all()
    return len(older) < READINGS_CARRIED[plan] and len(_unleased(older)) < _MAX_WAITING


async def next_batch_of_org(
    database: Database, receipt_id: ReceiptId, *, plans: Plans = SOLD
) -> list[Job]:
    """Return the jobs of a receipt's org to enqueue after its reading started or ended.

    Leased receipts are left out, because they have a task already.
    """
    rows = await database.fetch_rows(_of_org(), {"receipt_id": receipt_id})
    if not rows:
        return []
    return _unleased(rows[: plans.readings_carried(rows[0].plan)])[:_MAX_WAITING]


async def next_batch(
    session: ReadSession,
    *,
    limit: int,
    after: str = "",
    orgs: int = _MAX_ORGS,
    plans: Plans = SOLD,
) -> tuple[list[Job], str]:
    """Return the next jobs of all orgs, round-robin by org, oldest first, so no org starves.

    Examines at most `orgs` orgs with an id greater than `after`; also returns the last of them,
    or "" if there are no more.
    """
    orgs_waiting = pending_counts.waiting(plans, after=after, limit=orgs)
    seen = (await session.execute(orgs_waiting)).all()
    if not seen:
        # Mostly so; building the query below takes longer than running it.
        return [], ""
    oldest = _oldest_of_each(orgs_waiting)
    position = func.row_number().over(partition_by=oldest.c.org_id, order_by=oldest.c.position)
    waiting = (
        _select_jobs()
        .add_columns(position.label("position"))
        .join(oldest, oldest.c.id == Receipt.id)
        .where(readings.is_unleased(clock.now()))
        .subquery()
    )
    query = (
        select(waiting)
        .where(waiting.c.position <= _MAX_WAITING)
        .order_by(waiting.c.position, waiting.c.id)
        .limit(limit)
    )
    last = seen[-1].org_id if len(seen) == orgs else ""
    return _unleased((await session.execute(query)).all()), last


@cache
def _of_org() -> Select[Any]:
    # Built once: each reading needs it, and building it takes longer than running it.
    of_receipt = select(Receipt.org_id).where(Receipt.id == bindparam("receipt_id"))
    return (
        _select_jobs()
        .add_columns(Org.plan)
        .join(Org, Org.id == Receipt.org_id)
        .where(Receipt.org_id == of_receipt.scalar_subquery(), _IS_PENDING)
        .order_by(Receipt.org_id, Receipt.id)
        .limit(_MAX_QUEUED)
    )


def _oldest_of_each(waiting: Select[tuple[str, int]]) -> CTE:
    """Return the oldest pending receipts of some orgs, as many of each as the queue holds.

    Walks an index row by row: a window function would rank a million pending receipts.
    """
    orgs = waiting.subquery()
    first = select(
        orgs.c.org_id, _oldest(orgs.c.org_id), literal(1).label("position"), orgs.c.queued
    )
    ranked = first.cte("ranked", recursive=True)
    following = select(
        ranked.c.org_id,
        _oldest(ranked.c.org_id, ranked.c.id),
        ranked.c.position + 1,
        ranked.c.queued,
    ).where(ranked.c.id.is_not(None), ranked.c.position < ranked.c.queued)
    return ranked.union_all(following)


def _oldest(org_id: ColumnElement[str], after: ColumnElement[str] | None = None) -> Label[Any]:
    conditions = [Receipt.org_id == org_id, _IS_PENDING]
    if after is not None:
        conditions.append(Receipt.id > after)
    query = select(Receipt.id).where(*conditions).order_by(Receipt.org_id, Receipt.id).limit(1)
    return query.scalar_subquery().label("id")


def _select_jobs() -> Select[Any]:
    return select(Receipt.id, Receipt.pending_accuracy, Receipt.lease_expires_at)


def _unleased(rows: Sequence[Any]) -> list[Job]:
    now = clock.now()
    return [
        Job(ReceiptId(row.id), Accuracy(row.pending_accuracy))
        for row in rows
        if row.lease_expires_at is None or row.lease_expires_at <= now
    ]
