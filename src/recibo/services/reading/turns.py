"""Whose reading comes next: of each org the queue carries only so many at a time, the oldest first.

The queue itself is first in, first out. So an org with ten thousand owed readings is no more in the
way of others than the few that it may have in the queue.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select

from recibo.extract.model import Accuracy
from recibo.kit import clock
from recibo.services.reading import readings
from recibo.shapes.ids import OrgId, ReceiptId
from recibo.shapes.plans import READINGS_CARRIED, SOLD, PlanName, Plans
from recibo.store.db import ReadSession
from recibo.store.tables import Org, Receipt

_MOST_CARRIED = max(READINGS_CARRIED.values())
# Of these so many wait for a reader at most: enough that none stands idle, and whoever comes next
# waits for no more of each org, however few readers there are.
_MOST_WAITING = 2
_IS_OWED = Receipt.owed_accuracy.is_not(None)


@dataclass(frozen=True, slots=True)
class Owed:
    """A reading that the queue may carry."""

    receipt_id: ReceiptId
    #: A receipt owes no two readings of one accuracy, so both together name the reading.
    accuracy: Accuracy


async def ahead(session: ReadSession, org_id: OrgId, *, plans: Plans = SOLD) -> int:
    """Return about how many readings come before one that an org would owe now.

    Others' come in turn with its own, and not before them because they are older.
    """
    query = (
        select(Org.id, Org.plan, func.count().label("owed"))
        .join(Receipt, Receipt.org_id == Org.id)
        .where(_IS_OWED)
        .group_by(Org.id, Org.plan)
    )
    orgs = {
        row.id: (int(row.owed), plans.readings_carried(row.plan))
        for row in await session.execute(query)
    }
    own, carried = orgs.pop(org_id, (0, 1))
    turns = math.ceil((own + 1) / carried)
    return own + sum(min(others, turns * most) for others, most in orgs.values())


async def is_next(
    session: ReadSession, org_id: OrgId, receipt_id: ReceiptId, *, plan: PlanName
) -> bool:
    """Tell whether a receipt's reading is among those of its org that the queue may carry.

    To be asked after the commit that owes it: whoever begins or ends another meanwhile sees it.
    """
    query = (
        _owed()
        .where(Receipt.org_id == org_id, _IS_OWED, Receipt.id < receipt_id)
        .limit(READINGS_CARRIED[plan])
    )
    older = (await session.execute(query)).all()
    return len(older) < READINGS_CARRIED[plan] and len(_free(older)) < _MOST_WAITING


async def next_of(
    session: ReadSession, receipt_id: ReceiptId, *, plans: Plans = SOLD
) -> list[Owed]:
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
        .order_by(Receipt.id)
        .limit(_MOST_CARRIED)
    )
    rows = (await session.execute(query)).all()
    if not rows:
        return []
    return _free(rows[: plans.readings_carried(rows[0].plan)])[:_MOST_WAITING]


async def of_all(session: ReadSession, *, limit: int, plans: Plans = SOLD) -> list[Owed]:
    """Return what the queue may carry of all orgs in turn: first the oldest of each, then the next.

    No org starves. Among the oldest of all orgs the older come first, so before any of them there
    is only a number of others that shrinks: each ends, and what its org owes next is younger.
    """
    place = func.row_number().over(partition_by=Receipt.org_id, order_by=Receipt.id)
    placed = select(Receipt.id, Receipt.org_id, place.label("place")).where(_IS_OWED).subquery()
    carried = case({plan: plans.readings_carried(plan) for plan in PlanName}, value=Org.plan)
    turn = func.row_number().over(partition_by=placed.c.org_id, order_by=placed.c.place)
    waiting = (
        _owed()
        .add_columns(turn.label("turn"))
        .join(placed, placed.c.id == Receipt.id)
        .join(Org, Org.id == placed.c.org_id)
        .where(placed.c.place <= carried, readings.is_free(clock.now()))
        .subquery()
    )
    query = (
        select(waiting)
        .where(waiting.c.turn <= _MOST_WAITING)
        .order_by(waiting.c.turn, waiting.c.id)
        .limit(limit)
    )
    return _free((await session.execute(query)).all())


def _owed() -> Select[Any]:
    return select(Receipt.id, Receipt.owed_accuracy, Receipt.held_until)


def _free(rows: Sequence[Any]) -> list[Owed]:
    now = clock.now()
    return [
        Owed(ReceiptId(row.id), Accuracy(row.owed_accuracy))
        for row in rows
        if row.held_until is None or row.held_until <= now
    ]
