"""Pending readings: start, renew, retry, complete or fail an attempt.

A receipt is pending while `pending_accuracy` is set. Starting increments the attempt number and
leases the receipt; completing requires the same number. So a reading that runs twice is stored,
billed and announced once. A duplicate task finds the lease and starts nothing, and the lease of a
killed worker expires soon.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from recibo.extract import model
from recibo.lib import clock
from recibo.schemas import receipts as shapes
from recibo.schemas import stored
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import (
    AuditAction,
    EventType,
    FailureCode,
    ReceiptStatus,
    ResourceType,
)
from recibo.services import audit
from recibo.services.reading import (
    duplicates,
    idempotency,
    pending_counts,
    reader_failures,
    receipts,
    rereads,
    rollups,
    search,
    stored_readings,
    usage,
)
from recibo.store import scope
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Evidence, Org, PendingReadings, Receipt

# A document that crashes three readers will crash the next one, too.
MAX_ATTEMPTS = 3
# A second reading is free unless it improves the receipt, so their number is limited.
MAX_REREADS = 3
_READING_LIMIT = dt.timedelta(seconds=240)
# From the start of the first attempt; time in the queue before it does not count.
_WORK_LIMIT = dt.timedelta(minutes=10)
# An attempt with less time than this is not started.
_SHORTEST_READING = dt.timedelta(seconds=5)
# Short enough that an upload whose worker was killed is still answered in time; longer than the
# clocks of hosts differ. A receipt leased too early is read twice and billed once.
LEASE = dt.timedelta(seconds=15)

# Not ordered, and the state not compared as it is: SQLite would visit all failures of the org.
_FAILURES = scope.prepared_uploads(Receipt.id).where(
    Receipt.file_sha256 == bindparam("file_sha256"),
    Receipt.accuracy == bindparam("accuracy"),
    func.coalesce(Receipt.status, "") == ReceiptStatus.FAILED,
    Receipt.deleted_at.is_(None),
    Receipt.created_at > bindparam("since"),
)


@dataclass(frozen=True, slots=True)
class Pending:
    """A reading that waits or runs."""

    org_id: OrgId
    accuracy: model.Accuracy
    #: How many of its org are pending, itself included.
    of_org: int


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


def is_unleased(now: dt.datetime | BindParameter[dt.datetime]) -> ColumnElement[bool]:
    """Return the condition that a receipt is not leased."""
    return or_(Receipt.lease_expires_at.is_(None), Receipt.lease_expires_at <= now)


async def find_pending(database: Database, receipt_id: ReceiptId) -> Pending | None:
    """Return a pending reading, or None if the receipt is not pending."""
    row = await database.fetch_row(_pending(), {"receipt_id": receipt_id})
    if row is None:
        return None
    return Pending(OrgId(row.org_id), model.Accuracy(row.pending_accuracy), row.of_org or 0)


async def has_running(session: ReadSession, org_id: OrgId) -> bool:
    """Return whether any process is reading a receipt of an org."""
    now = clock.now()
    # Uses the index of started readings, which has about one row per reader.
    running = (
        select(Receipt.org_id)
        .where(
            _is_pending(),
            Receipt.claimed_at > now - 2 * _WORK_LIMIT,
            Receipt.lease_expires_at > now,
        )
        .order_by(Receipt.claimed_at)
    )
    return org_id in (await session.execute(running)).scalars().all()


async def start(session: Session, receipt_id: ReceiptId) -> Order | None:
    """Start the next attempt; None if the receipt is not pending, is leased, or cannot be retried.

    If no attempts or time are left, the receipt fails inside the caller's transaction.
    """
    now = clock.now()
    parameters = {"wanted": receipt_id, "now": now, "until": now + LEASE}
    row = (await session.execute(_starting(), parameters)).scalar_one_or_none()
    if row is None:
        return None
    order = _order(row, now)
    if row.attempt > MAX_ATTEMPTS or order.time_limit_s < _SHORTEST_READING.total_seconds():
        await fail(session, order, EXHAUSTED)
        return None
    return order


async def renew(session: Session, order: Order) -> None:
    """Renew the lease of an order, if this attempt is still the current one."""
    statement = (
        update(Receipt).where(*_is_current(order)).values(lease_expires_at=clock.now() + LEASE)
    )
    await session.execute(statement)


async def release(session: Session, order: Order, *, is_breakdown: bool = False) -> None:
    """Release the lease after a failed attempt, so that the next one starts at once."""
    await session.execute(update(Receipt).where(*_is_current(order)).values(lease_expires_at=None))
    if is_breakdown:
        # Rows are locked in the same order as in `fail`, so two transactions cannot deadlock.
        await reader_failures.note(session, order.org_id)


async def retry(session: Session, order: Order) -> None:
    """Undo an attempt that a stopping worker did not finish: attempt and time do not count."""
    statement = (
        update(Receipt)
        .where(*_is_current(order))
        .values(attempt=Receipt.attempt - 1, claimed_at=None, lease_expires_at=None)
    )
    await session.execute(statement)


async def defer(session: Session, order: Order) -> None:
    """Undo an attempt whose file is unreachable, and retry when its lease expires.

    Retrying at once would enqueue tasks in a tight loop during an outage.
    """
    statement = update(Receipt).where(*_is_current(order))
    await session.execute(statement.values(attempt=Receipt.attempt - 1, claimed_at=None))


async def release_all(session: Session) -> None:
    """Release all leases; only for a process that works alone."""
    # Uses the index of started readings: a million others may be pending.
    statement = update(Receipt).where(_is_pending(), Receipt.claimed_at.is_not(None))
    await session.execute(statement.values(lease_expires_at=None))


async def overdue(session: ReadSession, *, limit: int) -> list[ReceiptId]:
    """Return receipts whose attempts or time are used up, the oldest start first."""
    query = (
        select(Receipt.id)
        .where(*_has_expired(clock.now()))
        .order_by(Receipt.claimed_at)
        .limit(limit)
    )
    return [ReceiptId(one) for one in (await session.execute(query)).scalars()]


async def fail_overdue(session: Session, receipt_id: ReceiptId) -> None:
    """Fail a receipt whose attempts or time are used up, even if it is leased."""
    now = clock.now()
    query = select(Receipt).where(Receipt.id == receipt_id, *_has_expired(now)).with_for_update()
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
    """Store a reading, bill it and end the order; False if the attempt is no longer current.

    A second reading of a completed receipt is stored and billed only if it improves the receipt.
    """
    await duplicates.lock(session, order.org_id)
    found = await _lock_receipt(session, order)
    if found is None:
        return False
    row, plan = found.Receipt, plans.of(found.plan, found.agreed)
    is_reread = row.status == ReceiptStatus.COMPLETED
    row.pending_accuracy = row.lease_expires_at = None
    if is_reread:
        changes = _improvement(row, read)
        if not changes:
            if changes is None:
                # Another reading of the same file would be no better, and free, too.
                row.rereads = MAX_REREADS
            else:
                row.accuracy = order.accuracy
                row.version += 1
            await pending_counts.add(session, order.org_id, -1)
            return True
        row.reread_changes = dict(changes)
    before = rollups.entry_of(row) if is_reread else None
    await _store(session, row, read, is_again=is_reread)
    row.accuracy = order.accuracy
    await usage.bill(
        session,
        order.org_id,
        order.receipt_id,
        accuracy=order.accuracy,
        again=is_reread,
        quota=plan.receipts_a_month,
        is_metered=is_metered,
    )
    await rollups.change(session, order.org_id, before=before, after=rollups.entry_of(row))
    await receipts.publish_change(session, row, EventType.RECEIPT_COMPLETED)
    await pending_counts.add(session, order.org_id, -1)
    return True


async def fail(session: Session, order: Order, refusal: Refusal) -> bool:
    """End the order without a reading; False if the attempt is no longer current.

    The quota is returned, unless too many of the org's documents broke readers on this day.
    """
    found = await _lock_receipt(session, order)
    if found is None:
        return False
    row: Receipt = found.Receipt
    row.pending_accuracy = row.lease_expires_at = None
    is_charged = refusal.is_breakdown and await reader_failures.note(session, order.org_id)
    if row.status == ReceiptStatus.PENDING:
        row.status = ReceiptStatus.FAILED
        row.failure_code = refusal.code
        row.failure_message = refusal.message + (reader_failures.CHARGED if is_charged else "")
        row.updated_at = clock.now()
        if not is_charged:
            await usage.give_back(session, order.org_id, row.quota_month)
        await idempotency.forget(session, order.receipt_id)
        await search.index(session, row, None)
        await receipts.publish_change(session, row, EventType.RECEIPT_FAILED)
    await pending_counts.add(session, order.org_id, -1)
    return True


async def failures_of(
    database: Database, actor: Actor, file_sha256: str, accuracy: str
) -> list[ReceiptId]:
    """Return the receipts, newest first, with which this file failed within a day.

    Each browser session sees only the failures of its own uploads.
    """
    wanted = {
        "file_sha256": file_sha256,
        "accuracy": accuracy,
        "since": clock.now() - dt.timedelta(days=1),
    }
    rows = await database.fetch_rows(_FAILURES, {**scope.parameters(actor), **wanted})
    return sorted((ReceiptId(row.id) for row in rows), reverse=True)


def _is_pending() -> ColumnElement[bool]:
    return Receipt.pending_accuracy.is_not(None)


# Statements of each reading are built once: building one takes longer than running it.
@cache
def _pending() -> Select[Any]:
    of_org = PendingReadings.count.label("of_org")
    return (
        select(Receipt.org_id, Receipt.pending_accuracy, of_org)
        .outerjoin(PendingReadings, PendingReadings.org_id == Receipt.org_id)
        .where(Receipt.id == bindparam("receipt_id"), _is_pending())
    )


@cache
def _starting() -> ReturningUpdate[tuple[Receipt]]:
    now = bindparam("now", type_=Receipt.__table__.c.claimed_at.type)
    return (
        update(Receipt)
        .where(Receipt.id == bindparam("wanted"), _is_pending(), is_unleased(now))
        .values(
            attempt=Receipt.attempt + 1,
            claimed_at=func.coalesce(Receipt.claimed_at, now),
            lease_expires_at=bindparam("until"),
        )
        .returning(Receipt)
        # The session has loaded no receipt.
        .execution_options(synchronize_session=False)
    )


@cache
def _locking() -> Select[Any]:
    return (
        select(Receipt, Org.plan, Org.agreed)
        .join(Org, Org.id == Receipt.org_id)
        .where(
            Receipt.id == bindparam("wanted"),
            Receipt.attempt == bindparam("of_attempt"),
            Receipt.pending_accuracy == bindparam("of_accuracy"),
        )
        .with_for_update(of=Receipt)
    )


def _has_expired(now: dt.datetime) -> Sequence[ColumnElement[bool]]:
    is_too_long = Receipt.claimed_at <= now - _WORK_LIMIT
    is_used_up = and_(Receipt.attempt >= MAX_ATTEMPTS, is_unleased(now))
    return (_is_pending(), Receipt.claimed_at.is_not(None), or_(is_too_long, is_used_up))


def _is_current(order: Order) -> Sequence[ColumnElement[bool]]:
    return (
        Receipt.id == order.receipt_id,
        Receipt.attempt == order.attempt,
        # A second reading has a higher accuracy and counts its attempts from zero.
        Receipt.pending_accuracy == order.accuracy,
    )


def _order(row: Receipt, now: dt.datetime) -> Order:
    left = (row.claimed_at or now) + _WORK_LIMIT - now
    return Order(
        receipt_id=ReceiptId(row.id),
        org_id=OrgId(row.org_id),
        attempt=row.attempt,
        accuracy=model.Accuracy(row.pending_accuracy or row.accuracy),
        hint=model.DocumentType(row.hint) if row.hint else None,
        time_limit_s=min(_READING_LIMIT, left).total_seconds(),
    )


async def _lock_receipt(session: Session, order: Order) -> Row[Any] | None:
    """Lock the receipt of an order that is still the current one; return it with its org's plan."""
    current = {
        "wanted": order.receipt_id,
        "of_attempt": order.attempt,
        "of_accuracy": order.accuracy,
    }
    return (await session.execute(_locking(), current)).one_or_none()


def _improvement(row: Receipt, read: model.Receipt) -> rereads.Changes | None:
    # Compared as clients see them: more digits of a confidence are no change.
    return rereads.improvement(stored_readings.of_machine(row), shapes.reading(read))


async def _store(session: Session, row: Receipt, read: model.Receipt, *, is_again: bool) -> None:
    reading = shapes.reading(read)
    row.status = ReceiptStatus.COMPLETED
    row.updated_at = clock.now()
    row.picture_hash = read.picture_hash
    if is_again:
        row.version += 1
        await session.execute(delete(Evidence).where(Evidence.receipt_id == row.id))
    if row.corrected_fields:
        row.machine_reading = stored.dump(reading)
        reading = stored_readings.corrected(reading, row)
    is_changed = is_again and reading != stored_readings.current(row)
    if is_changed and row.approved_at is not None:
        _withdraw_approval(session, row)
    stored_readings.put(row, reading)
    evidence, texts = shapes.evidence(read), list(shapes.page_texts(read))
    session.add(
        Evidence(
            receipt_id=row.id,
            evidence=stored.dump(evidence),
            texts=texts,
            pages=[page.model_dump() for page in shapes.pages(read)],
        )
    )
    await stored_readings.judge(session, row, reading, evidence, texts)


def _withdraw_approval(session: Session, row: Receipt) -> None:
    """Withdraw the approval of a receipt, because another reading changed it."""
    row.approved_at = row.approved_by = None
    audit.record_by_operator(
        session,
        OrgId(row.org_id),
        AuditAction.RECEIPT_CORRECTED,
        resource=(ResourceType.RECEIPT, row.id),
        before={"approved": True},
        after={"approved": False},
    )
