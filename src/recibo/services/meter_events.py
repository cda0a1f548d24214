"""Meter events: credits that the payment provider is owed word of, a row each until it is told.

Each row is made in the transaction of its usage event and bears its id, by which the provider tells
a second try from a second use.
"""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import delete, insert, literal, select, update

from recibo.adapters.payments import Used
from recibo.lib import clock
from recibo.schemas.states import PaymentProvider
from recibo.services import backoff
from recibo.store.db import ReadSession, Session
from recibo.store.tables import MeterEvent, Subscription, UsageEvent

# Longer than the provider is waited for, or two would tell it.
LEASE = dt.timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Due:
    """A meter event that was seen to be due; others may see it, too."""

    id: str
    customer: str
    due_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """A meter event that is ours to tell until the lease is over."""

    used: Used
    attempt: int
    until: dt.datetime


async def enqueue(session: Session, event: UsageEvent) -> None:
    """Have the provider told of a use, if the caller's transaction commits.

    Nothing is owed for an org without a customer there: what it used before it had one is free.
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
    """Return meter events that are due, the longest due first."""
    query = (
        select(MeterEvent.id, MeterEvent.customer_id, MeterEvent.due_at)
        .where(MeterEvent.due_at <= clock.now())
        .order_by(MeterEvent.due_at)
        .limit(limit)
    )
    rows = await session.execute(query)
    return [Due(row.id, row.customer_id, row.due_at) for row in rows]


async def lease(session: Session, seen: Due) -> Lease | None:
    """Take a meter event for a while; None when another has, or the provider is told."""
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
    used = Used(row.id, row.customer_id, row.credits, row.used_at)
    return Lease(used, attempt=row.attempts, until=until)


async def remove(session: Session, lease: Lease) -> None:
    """Drop a meter event: the provider is told, or never will be."""
    await session.execute(delete(MeterEvent).where(MeterEvent.id == lease.used.id))


async def defer(session: Session, lease: Lease) -> None:
    """Have a meter event that could not be told tried again later.

    Nothing happens when the lease is over and another took it.
    """
    due_at = clock.now() + backoff.after(lease.attempt)
    await session.execute(
        update(MeterEvent)
        .where(MeterEvent.id == lease.used.id, MeterEvent.due_at == lease.until)
        .values(due_at=due_at)
    )
