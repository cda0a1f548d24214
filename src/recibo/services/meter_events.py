"""Meter events: used credits that are not yet reported to the payment provider, one row each.

A row is added in the transaction of its usage event and has the same id, by which the provider
recognizes a retry.
"""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import delete, insert, literal, select, update

from recibo.adapters.payments import CreditUsage
from recibo.lib import clock
from recibo.schemas.states import PaymentProvider
from recibo.services import backoff
from recibo.store.db import ReadSession, Session
from recibo.store.tables import MeterEvent, Subscription, UsageEvent

# Longer than the timeout of a request to the provider, so that no two workers send the event.
LEASE = dt.timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Due:
    """A due meter event that is not leased yet; other workers may see it, too."""

    id: str
    customer: str
    due_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A meter event that this worker may report until the lease expires."""

    used: CreditUsage
    attempt: int
    until: dt.datetime


async def enqueue(session: Session, event: UsageEvent) -> None:
    """Enqueue a usage event for the provider, inside the caller's transaction.

    Usage of an org that is not yet a customer there is free and not enqueued.
    """
    query = select(
        literal(event.id),
        Subscription.customer_id,
        literal(event.credits),
        literal(event.created_at, MeterEvent.used_at.type),
        literal(event.created_at, MeterEvent.due_at.type),
        literal(0),
    ).where(Subscription.org_id == event.org_id, Subscription.provider == PaymentProvider.STRIPE)
    columns = ["id", "customer_id", "credits", "used_at", "due_at", "attempts"]
    await session.execute(insert(MeterEvent).from_select(columns, query))


async def due(session: ReadSession, *, limit: int) -> list[Due]:
    """Return due meter events, the longest due first."""
    query = (
        select(MeterEvent.id, MeterEvent.customer_id, MeterEvent.due_at)
        .where(MeterEvent.due_at <= clock.now())
        .order_by(MeterEvent.due_at)
        .limit(limit)
    )
    rows = await session.execute(query)
    return [Due(row.id, row.customer_id, row.due_at) for row in rows]


async def lease(session: Session, seen: Due) -> Lease | None:
    """Lease a meter event; None if another worker leased or reported it."""
    until = clock.now() + LEASE
    statement = (
        update(MeterEvent)
        .where(MeterEvent.id == seen.id, MeterEvent.due_at == seen.due_at)
        .values(due_at=until, attempts=MeterEvent.attempts + 1)
        .returning(MeterEvent)
    )
    row = (await session.execute(statement)).scalar_one_or_none()
    if row is None:
        return None
    used = CreditUsage(row.id, row.customer_id, row.credits, row.used_at)
    return Lease(used, attempt=row.attempts, until=until)


async def remove(session: Session, lease: Lease) -> None:
    """Delete a meter event that was reported or will never be accepted."""
    await session.execute(delete(MeterEvent).where(MeterEvent.id == lease.used.id))


async def defer(session: Session, lease: Lease) -> None:
    """Schedule the next attempt of a meter event that failed.

    Does nothing if the lease has expired and another worker has the event.
    """
    due_at = clock.now() + backoff.after(lease.attempt)
    await session.execute(
        update(MeterEvent)
        .where(MeterEvent.id == lease.used.id, MeterEvent.due_at == lease.until)
        .values(due_at=due_at)
    )
