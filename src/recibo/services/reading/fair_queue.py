"""Whose reading comes next: of each org the queue carries only so many at a time, the oldest first.

The queue itself is first in, first out. So an org with ten thousand owed readings is no more in the
way of others than the few that it may have in the queue.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, Label, Select, func, literal, select

from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import READINGS_CARRIED, SOLD, PlanName, Plans
from recibo.services.reading import pending_counts, readings
from recibo.store.db import ReadSession
from recibo.store.tables import Org, Receipt

_MOST_CARRIED = max(READINGS_CARRIED.values())
# Of these so many wait for a reader at most: enough that none stands idle, and whoever comes next
# waits for no more of each org, however few readers there are.
_MOST_WAITING = 2
# Orgs of which the clockwork looks at once what they owe.
_ORGS = 1000
_IS_OWED = Receipt.owed_accuracy.is_not(None)


@dataclass(frozen=True, slots=True)
class Job:
    """A reading that the queue may carry."""

    receipt_id: ReceiptId
    #: A receipt owes no two readings of one accuracy, so both together name the reading.
    accuracy: Accuracy
    #: Tells one task of a reading from another that ends just now.
    repetition: int = 0


async def depth_ahead(session: ReadSession, org_id: OrgId, *, plans: Plans = SOLD) -> int:
    """Return about how many readings come before one that an org would owe now.

    Others' come in turn with its own, and not before them because they are older.
    """
    own, carried = await pending_counts.of_org(session, org_id, plans)
    turns = math.ceil((own + 1) / carried)
    return own + await pending_counts.of_others(session, org_id, plans, turns=turns)


async def is_eligible(
    session: ReadSession, org_id: OrgId, receipt_id: ReceiptId, *, plan: PlanName
) -> bool:
    """Tell whether a receipt's reading is among those of its org that the queue may carry.

    To be asked after the commit that owes it: whoever begins or ends another meanwhile sees it.
    """
    query = (
        _owed()
        .where(Receipt.org_id == org_id, _IS_OWED, Receipt.id < receipt_id)
        .order_by(Receipt.org_id, Receipt.id)
        .limit(READINGS_CARRIED[plan])
    )
    older = (await session.execute(query)).all()
    return len(older) < READINGS_CARRIED[plan] and len(_free(older)) < _MOST_WAITING


async def next_batch_of_org(
    session: ReadSession, receipt_id: ReceiptId, *, plans: Plans = SOLD
) -> list[Job]:
    """Return what the queue may carry of a receipt's org, once its reading has begun or ended.

    What is in hand is left out: its task is there, and who adds it again while it is read does so
    for nothing, time and again.
    """
    org_id = select(Receipt.org_id).where(Receipt.id == receipt_id).scalar_subquery()
    query = (
        _owed()
        .add_columns(Org.plan)
        .join(Org, Org.id == Receipt.org_id)
        .where(Receipt.org_id == org_id, _IS_OWED)
        .order_by(Receipt.org_id, Receipt.id)
        .limit(_MOST_CARRIED)
    )
    rows = (await session.execute(query)).all()
    if not rows:
        return []
    return _free(rows[: plans.readings_carried(rows[0].plan)])[:_MOST_WAITING]


async def next_batch(
    session: ReadSession,
    *,
    limit: int,
    after: str = "",
    orgs: int = _ORGS,
    plans: Plans = SOLD,
) -> tuple[list[Job], str]:
    """Return what the queue may carry of all orgs in turn: first the oldest of each, then the next.

    Only so many orgs are looked at, by their ids `after` one; the last of them is returned, too,
    or "" when there are no more. So all come in time, however many wait for however much.
    """
    oldest = _oldest_of_each(pending_counts.waiting(plans, after=after, limit=orgs))
    turn = func.row_number().over(partition_by=oldest.c.org_id, order_by=oldest.c.place)
    waiting = (
        _owed()
        .add_columns(turn.label("turn"))
        .join(oldest, oldest.c.id == Receipt.id)
        .where(readings.is_free(clock.now()))
        .subquery()
    )
    query = (
        select(waiting)
        .where(waiting.c.turn <= _MOST_WAITING)
        .order_by(waiting.c.turn, waiting.c.id)
        .limit(limit)
    )
    seen = (await session.execute(pending_counts.waiting(plans, after=after, limit=orgs))).all()
    last = seen[-1].org_id if len(seen) == orgs else ""
    return _free((await session.execute(query)).all()), last


def _oldest_of_each(waiting: Select[tuple[str, int]]) -> CTE:
    """Return the oldest pending receipts of some orgs, as many of each as the queue carries.

    One after the other by an index: ranking all that is pending would look at each of a million.
    """
    some = waiting.subquery()
    first = select(some.c.org_id, _oldest(some.c.org_id), literal(1).label("place"), some.c.carried)
    placed = first.cte("placed", recursive=True)
    following = select(
        placed.c.org_id,
        _oldest(placed.c.org_id, placed.c.id),
        placed.c.place + 1,
        placed.c.carried,
    ).where(placed.c.id.is_not(None), placed.c.place < placed.c.carried)
    return placed.union_all(following)


def _oldest(org_id: ColumnElement[str], after: ColumnElement[str] | None = None) -> Label[Any]:
    conditions = [Receipt.org_id == org_id, _IS_OWED]
    if after is not None:
        conditions.append(Receipt.id > after)
    query = select(Receipt.id).where(*conditions).order_by(Receipt.org_id, Receipt.id).limit(1)
    return query.scalar_subquery().label("id")


def _owed() -> Select[Any]:
    return select(Receipt.id, Receipt.owed_accuracy, Receipt.held_until)


def _free(rows: Sequence[Any]) -> list[Job]:
    now = clock.now()
    return [
        Job(ReceiptId(row.id), Accuracy(row.owed_accuracy))
        for row in rows
        if row.held_until is None or row.held_until <= now
    ]
