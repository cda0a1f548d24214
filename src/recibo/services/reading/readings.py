"""Readings that are owed: begun by an attempt, ended by whoever still holds it.

A receipt owes a reading while `owed_accuracy` is set. Beginning counts the attempt up in one
statement; ending asks for the same number, so that a task that comes twice ends once, is charged
once and tells once. Whoever began one has it in hand for a while, and keeps it there while at work:
a task that comes twice meanwhile begins nothing, and what a killed worker had is begun again soon.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update

from recibo.extract import model
from recibo.lib import clock
from recibo.schemas import receipts as shapes
from recibo.schemas import stored
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import EventType, FailureCode, ReceiptStatus
from recibo.services.reading import (
    idempotency,
    pending_counts,
    reader_failures,
    receipts,
    rereads,
    rollups,
    usage,
)
from recibo.store import scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Evidence, Receipt

# A document that kills its reader three times is poison, not bad luck.
MAX_ATTEMPTS = 3
# Reading again costs nothing unless it is the better: so often may it fail, as a file may in a day.
MAX_REREADS = 3
_READING_LIMIT = dt.timedelta(seconds=240)
# From the first attempt on; waiting in the queue before it does not count.
_WORK_LIMIT = dt.timedelta(minutes=10)
# What is left for an attempt must be worth starting.
_SHORTEST_READING = dt.timedelta(seconds=5)
# What a killed worker had in hand waits so long; an upload that waits for it is answered in time.
# Clocks of hosts may differ by less: a second is much where NTP runs, and what is taken too soon is
# read twice and billed once.
LEASE = dt.timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Order:
    """One attempt at a reading."""

    receipt_id: ReceiptId
    org_id: OrgId
    attempt: int
    accuracy: model.Accuracy
    hint: model.DocumentType | None
    time_limit_s: float

    @property
    def is_last(self) -> bool:
        """Whether no further attempt will be made."""
        return self.attempt >= MAX_ATTEMPTS


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a receipt could not be read."""

    code: FailureCode
    message: str
    #: Whether a reader timed out, ran out of memory or crashed on it.
    is_breakdown: bool = False


EXHAUSTED = Refusal(
    FailureCode.SERVER_ERROR,
    "The document could not be read within the time and attempts that one has; nothing is billed.",
    is_breakdown=True,
)


def is_free(now: dt.datetime) -> ColumnElement[bool]:
    """Return the condition that nobody has a receipt in hand."""
    return or_(Receipt.held_until.is_(None), Receipt.held_until <= now)


async def whose(session: ReadSession, receipt_id: ReceiptId) -> tuple[OrgId, model.Accuracy] | None:
    """Return whose receipt owes a reading, at which accuracy; None when it owes none."""
    query = select(Receipt.org_id, Receipt.owed_accuracy).where(Receipt.id == receipt_id)
    row = (await session.execute(query.where(_is_owed()))).one_or_none()
    return (OrgId(row.org_id), model.Accuracy(row.owed_accuracy)) if row else None


async def has_running(session: ReadSession, org_id: OrgId) -> bool:
    """Tell whether any process has a reading of an org in hand."""
    now = clock.now()
    # By the index of what was begun, which is as short as there are readers.
    in_hand = (
        select(Receipt.org_id)
        .where(_is_owed(), Receipt.claimed_at > now - 2 * _WORK_LIMIT, Receipt.held_until > now)
        .order_by(Receipt.claimed_at)
    )
    return org_id in (await session.execute(in_hand)).scalars().all()


async def begin(session: Session, receipt_id: ReceiptId) -> Order | None:
    """Take the next attempt; None when nothing is owed, it is in other hands, or it is too late.

    When no attempt and time is left the receipt is failed inside the caller's transaction.
    """
    now = clock.now()
    statement = (
        update(Receipt)
        .where(Receipt.id == receipt_id, _is_owed(), is_free(now))
        .values(
            attempt=Receipt.attempt + 1,
            claimed_at=func.coalesce(Receipt.claimed_at, now),
            held_until=now + LEASE,
        )
        .returning(Receipt)
    )
    row = (await session.execute(statement)).scalar_one_or_none()
    if row is None:
        return None
    order = _order(row, now)
    if row.attempt > MAX_ATTEMPTS or order.time_limit_s < _SHORTEST_READING.total_seconds():
        await fail(session, order, EXHAUSTED)
        return None
    return order


async def renew(session: Session, order: Order) -> None:
    """Keep an order in hand for another while, if it is still ours."""
    statement = update(Receipt).where(*_is_ours(order)).values(held_until=clock.now() + LEASE)
    await session.execute(statement)


async def release(session: Session, order: Order, *, is_breakdown: bool = False) -> None:
    """Have the next attempt begin at once: this one failed."""
    await session.execute(update(Receipt).where(*_is_ours(order)).values(held_until=None))
    if is_breakdown:
        # After the receipt, as where a reading ends: in one order, no two wait for each other.
        await reader_failures.note(session, order.org_id)


async def retry(session: Session, order: Order) -> None:
    """Give an order back unread, as if it had never been begun: a stop is no document's fault.

    Its ten minutes begin anew, too: nobody knows when the next worker starts.
    """
    statement = (
        update(Receipt)
        .where(*_is_ours(order))
        .values(attempt=Receipt.attempt - 1, claimed_at=None, held_until=None)
    )
    await session.execute(statement)


async def defer(session: Session, order: Order) -> None:
    """Give an order back unread, to be begun when it is out of hand: what it needs is away.

    Sooner, and tasks that cannot do a thing would add one another as fast as they can.
    """
    statement = update(Receipt).where(*_is_ours(order))
    await session.execute(statement.values(attempt=Receipt.attempt - 1, claimed_at=None))


async def release_all(session: Session) -> None:
    """Take all that is owed out of the hands it was in; for a process that is the only one."""
    # By the index of what was begun: of what only waits there may be a million.
    statement = update(Receipt).where(_is_owed(), Receipt.claimed_at.is_not(None))
    await session.execute(statement.values(held_until=None))


async def overdue(session: ReadSession, *, limit: int) -> list[ReceiptId]:
    """Return receipts that no further attempt may be made at, the longest worked on first."""
    query = (
        select(Receipt.id)
        .where(*_is_overdue(clock.now()))
        .order_by(Receipt.claimed_at)
        .limit(limit)
    )
    return [ReceiptId(one) for one in (await session.execute(query)).scalars()]


async def fail_overdue(session: Session, receipt_id: ReceiptId) -> None:
    """Fail a receipt that no further attempt may be made at, whoever still has it in hand."""
    now = clock.now()
    query = select(Receipt).where(Receipt.id == receipt_id, *_is_overdue(now)).with_for_update()
    row = (await session.execute(query)).scalar_one_or_none()
    if row is not None:
        await fail(session, _order(row, now), EXHAUSTED)


async def complete(
    session: Session,
    order: Order,
    read: model.Receipt,
    *,
    is_metered: bool = False,
    plans: Plans = SOLD,
) -> bool:
    """Store what was read, bill it and end the order; False when it is no longer held.

    A second reading of a completed receipt is kept and billed only if it improves the receipt.
    """
    row = await _held(session, order)
    if row is None:
        return False
    is_again = row.status == ReceiptStatus.COMPLETED
    row.owed_accuracy = row.held_until = None
    if is_again:
        changes = _improvement(row, read)
        if not changes:
            if changes is None:
                # Another of the same file would be no better, and as free.
                row.rereads = MAX_REREADS
            else:
                row.accuracy = order.accuracy
            await pending_counts.add(session, order.org_id, -1)
            return True
        row.reread_changes = dict(changes)
    before = rollups.entry_of(row) if is_again else None
    await _store(session, row, read)
    row.accuracy = order.accuracy
    await usage.bill(
        session,
        order.org_id,
        order.receipt_id,
        accuracy=order.accuracy,
        again=is_again,
        is_metered=is_metered,
        plans=plans,
    )
    await rollups.change(session, order.org_id, before=before, after=rollups.entry_of(row))
    await receipts.publish_change(session, row, EventType.RECEIPT_COMPLETED)
    await pending_counts.add(session, order.org_id, -1)
    return True


async def fail(session: Session, order: Order, refusal: Refusal) -> bool:
    """End the order without a reading; False when it is no longer held.

    The quota is given back, unless too many documents of the org broke readers on this day.
    """
    row = await _held(session, order)
    if row is None:
        return False
    row.owed_accuracy = row.held_until = None
    is_charged = refusal.is_breakdown and await reader_failures.note(session, order.org_id)
    if row.status == ReceiptStatus.PENDING:
        row.status = ReceiptStatus.FAILED
        row.failure_code = refusal.code
        row.failure_message = refusal.message + (reader_failures.CHARGED if is_charged else "")
        row.updated_at = clock.now()
        if not is_charged:
            await usage.give_back(session, order.org_id, row.quota_month)
        await idempotency.forget(session, order.receipt_id)
        await receipts.publish_change(session, row, EventType.RECEIPT_FAILED)
    await pending_counts.add(session, order.org_id, -1)
    return True


async def failures_of(
    session: ReadSession, actor: Actor, file_sha256: str, accuracy: str
) -> list[ReceiptId]:
    """Return the receipts, newest first, on which this file failed within a day.

    Uploads of browser sessions are a space of their own each, for their failures as well.
    """
    query = (
        scope.uploads_of(actor)
        .where(
            Receipt.file_sha256 == file_sha256,
            Receipt.accuracy == accuracy,
            Receipt.status == ReceiptStatus.FAILED,
            Receipt.deleted_at.is_(None),
            Receipt.created_at > clock.now() - dt.timedelta(days=1),
        )
        .order_by(Receipt.id.desc())
        .with_only_columns(Receipt.id)
    )
    return [ReceiptId(one) for one in (await session.execute(query)).scalars()]


def _is_owed() -> ColumnElement[bool]:
    return Receipt.owed_accuracy.is_not(None)


def _is_overdue(now: dt.datetime) -> Sequence[ColumnElement[bool]]:
    is_too_long = Receipt.claimed_at <= now - _WORK_LIMIT
    is_used_up = and_(Receipt.attempt >= MAX_ATTEMPTS, is_free(now))
    return (_is_owed(), Receipt.claimed_at.is_not(None), or_(is_too_long, is_used_up))


def _is_ours(order: Order) -> Sequence[ColumnElement[bool]]:
    return (
        Receipt.id == order.receipt_id,
        Receipt.attempt == order.attempt,
        # A second reading is owed at a higher accuracy, and counts its attempts anew.
        Receipt.owed_accuracy == order.accuracy,
    )


def _order(row: Receipt, now: dt.datetime) -> Order:
    left = (row.claimed_at or now) + _WORK_LIMIT - now
    return Order(
        receipt_id=ReceiptId(row.id),
        org_id=OrgId(row.org_id),
        attempt=row.attempt,
        accuracy=model.Accuracy(row.owed_accuracy or row.accuracy),
        hint=model.DocumentType(row.hint) if row.hint else None,
        time_limit_s=min(_READING_LIMIT, left).total_seconds(),
    )


async def _held(session: Session, order: Order) -> Receipt | None:
    query = select(Receipt).where(*_is_ours(order)).with_for_update()
    return (await session.execute(query)).scalar_one_or_none()


def _improvement(row: Receipt, read: model.Receipt) -> rereads.Changes | None:
    # Both as clients see them: further digits of a confidence neither add nor take anything.
    before = shapes.Reading.model_validate(stored.loaded(shapes.Reading, row.reading or {}))
    return rereads.improvement(before, shapes.reading(read))


async def _store(session: Session, row: Receipt, read: model.Receipt) -> None:
    reading = shapes.reading(read)
    row.status = ReceiptStatus.COMPLETED
    row.updated_at = clock.now()
    row.reading = stored.dumped(reading)
    row.type = reading.type
    row.category = reading.category
    row.merchant_name = reading.merchant_name
    row.currency = reading.currency
    row.total = Decimal(reading.total) if reading.total is not None else None
    row.issued_on = read.issued_at.value.date if read.issued_at else None
    row.issued_at = dt.datetime.fromisoformat(reading.issued_at) if reading.issued_at else None
    await session.execute(delete(Evidence).where(Evidence.receipt_id == row.id))
    session.add(
        Evidence(
            receipt_id=row.id,
            evidence=stored.dumped(shapes.evidence(read)),
            texts=list(shapes.page_texts(read)),
        )
    )
