"""Meter events: used credits that are not yet reported to the payment provider, one row each.

A row is added in the transaction of its usage event and has the same id, by which the provider
recognizes a retry.
"""

from dataclasses import dataclass

from sqlalchemy import insert, literal, select

from recibo.adapters.payments import CreditUsage
from recibo.schemas.states import PaymentProvider
from recibo.services import outbox
from recibo.store.db import Session
from recibo.store.tables import MeterEvent, Subscription, UsageEvent

#: The pending meter events. Stripe refuses concurrent events of the same customer.
ROWS = outbox.Rows(MeterEvent, group="customer_id")


@dataclass(frozen=True, slots=True)
class Lease(outbox.Lease):
    """A meter event that this worker may report until the lease expires."""

    used: CreditUsage


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


async def lease(session: Session, event_id: str) -> Lease | None:
    """Lease a meter event; None if another worker leased or reported it."""
    row = await ROWS.lease(session, event_id)
    if row is None:
        return None
    used = CreditUsage(row.id, row.customer_id, row.credits, row.used_at)
    return Lease(row.id, row.attempts, row.due_at, used)
