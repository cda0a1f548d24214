"""Subscriptions: their state, and the plan that an org gets when the provider changes it."""

import datetime as dt
from typing import Any

from sqlalchemy import select

from recibo.adapters.payments import SubscriptionState
from recibo.lib import clock
from recibo.schemas import billing as shapes
from recibo.schemas.actor import Member
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import SOLD, PlanName, Plans
from recibo.schemas.states import AuditAction, PaymentProvider, ResourceType, SubscriptionStatus
from recibo.services import audit
from recibo.services.identity import orgs
from recibo.services.reading import usage
from recibo.store import purging, scope, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Org, ProviderEvent, Subscription

# Providers send an event again for some days, and by hand for a month.
_EVENTS_KEPT = dt.timedelta(days=90)
#: While it is so, the org has the plan that it bought.
LIVE = frozenset({
    SubscriptionStatus.ACTIVE, SubscriptionStatus.TRIALING, SubscriptionStatus.PAST_DUE
})  # fmt: skip


async def get(session: ReadSession, actor: Member, *, plans: Plans = SOLD) -> shapes.Subscription:
    """Return the subscription of the actor's org; without one it is free and active.

    Where no plan is sold all are active, whatever was bought before.
    """
    row = await of_org(session, actor) if plans.are_sold else None
    used = await usage.this_month(session, actor)
    return shapes.Subscription(
        plan=actor.plan.name,
        status=SubscriptionStatus(row.status) if row else SubscriptionStatus.ACTIVE,
        quota_receipts_month=actor.plan.receipts_a_month,
        usage_this_month=used.completed,
        credits_used_this_month=used.credits,
        rate_limit_per_minute=actor.plan.requests_a_minute,
        cancel_at_period_end=row is not None and row.cancel_at_period_end,
        current_period_end=row.current_period_end if row else None,
    )


async def of_org(session: ReadSession | Session, actor: Member) -> Subscription | None:
    """Return the row of the actor's org; None before the first checkout."""
    return (await session.execute(scope.of(actor, Subscription))).scalar_one_or_none()


async def of_customer(
    session: ReadSession | Session, provider: PaymentProvider, customer: str
) -> Subscription | None:
    """Return the row of a provider's customer; None for one that is not of this installation."""
    query = select(Subscription).where(
        Subscription.provider == provider, Subscription.customer_id == customer
    )
    return (await session.execute(query)).scalar_one_or_none()


async def lock(session: Session, org_id: OrgId) -> tuple[Org, Subscription]:
    """Return an org and its subscription, locked until the caller's transaction ends."""
    # Every change of a subscription locks its org first, so the row itself needs no lock.
    org = await orgs.lock(session, org_id)
    row = await session.get_one(Subscription, org_id, populate_existing=True)
    return org, row


async def note_event(session: Session, event_id: str) -> bool:
    """Record a provider event inside the caller's transaction; False if it was known already."""
    statement = (
        upsert.insert(session, ProviderEvent)
        .values(id=event_id, received_at=clock.now())
        .on_conflict_do_nothing(index_elements=[ProviderEvent.id])
        .returning(ProviderEvent.id)
    )
    return (await session.execute(statement)).scalar_one_or_none() is not None


async def purge_events(database: Database) -> int:
    """Forget events of the provider that are too old to come again; one that does is harmless."""
    is_old = ProviderEvent.received_at < clock.now() - _EVENTS_KEPT
    return await purging.purge_some(database, ProviderEvent, is_old)


def apply(session: Session, org: Org, row: Subscription, now: SubscriptionState) -> bool:
    """Store the state of a subscription and give the org the plan that follows from it.

    Org and row are locked by the caller. The org's plan changes only when what the subscription
    gives changes: a plan that an operator gave outlasts renewals, and enterprise, which is agreed,
    an end of what was bought before it. False when all was so already.
    """
    before = _snapshot(row)
    gave = _given_by(row)
    row.subscription_id = now.id
    row.plan = now.plan or row.plan
    row.status = now.status
    row.cancel_at_period_end = now.cancel_at_period_end
    row.current_period_end = now.current_period_end
    after = _snapshot(row)
    if before == after:
        return False
    row.version += 1
    row.updated_at = clock.now()
    gives = _given_by(row)
    is_agreed = org.plan == PlanName.ENTERPRISE and gives is PlanName.FREE
    if gives is not gave and not is_agreed:
        org.plan = gives
    audit.record_by_operator(
        session,
        OrgId(org.id),
        AuditAction.SUBSCRIPTION_UPDATED,
        resource=(ResourceType.SUBSCRIPTION, org.id),
        before=before,
        after=after,
    )
    return True


def gone(row: Subscription) -> SubscriptionState | None:
    """Return an ended subscription if the provider no longer has it; None if there was none."""
    if row.subscription_id is None:
        return None
    return SubscriptionState(
        id=row.subscription_id,
        plan=None,
        status=SubscriptionStatus.CANCELED,
        cancel_at_period_end=False,
        current_period_end=None,
    )


def is_live(row: Subscription) -> bool:
    """Return whether the org has a paid subscription that is in force."""
    return row.subscription_id is not None and row.status in LIVE


def costs_on(row: Subscription) -> bool:
    """Return whether the provider will charge for the subscription again."""
    has_ended = row.status == SubscriptionStatus.CANCELED or row.cancel_at_period_end
    return row.subscription_id is not None and not has_ended


def _given_by(row: Subscription) -> PlanName:
    return PlanName(row.plan) if is_live(row) else PlanName.FREE


def _snapshot(row: Subscription) -> dict[str, Any]:
    end = row.current_period_end
    return {
        "plan": _given_by(row).value,
        "bought": row.plan,
        "subscription_id": row.subscription_id,
        "status": str(row.status),
        "cancel_at_period_end": row.cancel_at_period_end,
        "current_period_end": end.isoformat() if end else None,
    }
