"""Whose reading comes next: of each org the queue carries only so many at a time, the oldest first.

The queue itself is first in, first out. So an org with ten thousand owed readings is no more in the
way of others than the few that it may have in the queue.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select

from recibo.extract.model import Accuracy
from recibo.kit import clock
from recibo.shapes.ids import OrgId, ReceiptId
from recibo.shapes.plans import READINGS_CARRIED, PlanName
from recibo.store.db import ReadSession
from recibo.store.tables import Org, Receipt

_MOST_CARRIED = max(READINGS_CARRIED.values())
_IS_OWED = Receipt.owed_accuracy.is_not(None)


@dataclass(frozen=True, slots=True)
class Owed:
    """A reading that the queue may carry."""

    receipt_id: ReceiptId
    #: A receipt owes no two readings of one accuracy, so both together name the reading.
    accuracy: Accuracy


async def is_next(
    session: ReadSession, org_id: OrgId, receipt_id: ReceiptId, *, plan: PlanName
) -> bool:
    """Tell whether a receipt's reading is among those of its org that the queue may carry.

    To be asked after the commit that owes it: who ends another one meanwhile sees it, too.
    """
    older = (
        select(Receipt.id)
        .where(Receipt.org_id == org_id, _IS_OWED, Receipt.id < receipt_id)
        .limit(READINGS_CARRIED[plan])
    )
    count = (await session.execute(select(func.count()).select_from(older.subquery()))).scalar_one()
    return count < READINGS_CARRIED[plan]


async def after(session: ReadSession, receipt_id: ReceiptId) -> list[Owed]:
    """Return what the queue may carry of a receipt's org, once that receipt's reading has ended.

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
    carried = READINGS_CARRIED[PlanName(rows[0].plan)] if rows else 0
    return _free(rows[:carried])


async def of_all(session: ReadSession, *, limit: int) -> list[Owed]:
    """Return what the queue may carry of all orgs in turn: first the oldest of each, then the next.

    No org starves. Among the oldest of all orgs the older come first, so before any of them there
    is only a number of others that shrinks: each ends, and what its org owes next is younger.
    """
    place = func.row_number().over(partition_by=Receipt.org_id, order_by=Receipt.id)
    placed = select(Receipt.id, Receipt.org_id, place.label("place")).where(_IS_OWED).subquery()
    carried = case({plan.value: most for plan, most in READINGS_CARRIED.items()}, value=Org.plan)
    turn = (
        select(placed.c.id, placed.c.place)
        .join(Org, Org.id == placed.c.org_id)
        .where(placed.c.place <= carried)
        .order_by(placed.c.place, placed.c.id)
        .limit(limit)
        .subquery()
    )
    query = _owed().join(turn, turn.c.id == Receipt.id).order_by(turn.c.place, turn.c.id)
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
