"""The sandbox payment provider: its pages change a subscription as provider events would."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlalchemy import select

from recibo.adapters.payments import OpenCheckout, OpenPortal, Sandbox, SubscriptionState
from recibo.errors import NotFound, ValidationFailed
from recibo.lib import clock, ids
from recibo.schemas.billing import PAID_PLANS
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import PaymentProvider, SubscriptionStatus
from recibo.services.billing import subscriptions
from recibo.services.billing.billing import Billing
from recibo.store.db import Database, ReadSession
from recibo.store.tables import Org, Subscription

#: US dollars a month, to have something to show.
PRICES: Mapping[PlanName, int] = {PlanName.INDIE: 9, PlanName.STARTUP: 99, PlanName.SCALE: 499}
_PERIOD = dt.timedelta(days=30)
_BATCH = 500


class Change(StrEnum):
    """What the portal page does to a subscription."""

    PLAN = "plan"
    CANCEL = "cancel"
    RESUME = "resume"
    CANCEL_NOW = "cancel-now"


@dataclass(frozen=True, slots=True)
class Standing:
    """What an org has, for the pages to show."""

    org_name: str
    email: str
    #: What it pays for; None for nothing.
    plan: PlanName | None
    cancel_at_period_end: bool
    current_period_end: dt.datetime | None


async def checkout(billing: Billing, token: str) -> tuple[OpenCheckout, Standing]:
    """Return what a checkout page shows; raises NotFound when its address is not good any more."""
    page = _sandbox(billing).open_checkout(token)
    async with billing.database.read() as session:
        return page, await _standing(session, page.customer)


async def pay(billing: Billing, token: str) -> OpenCheckout:
    """Pay what a checkout page sells; again changes nothing.

    Raises:
        NotFound: its address is not good any more.
    """
    page = _sandbox(billing).open_checkout(token)
    org_id = await _org_of(billing, page.customer)
    async with billing.database.write() as session:
        org, row = await subscriptions.lock(session, org_id)
        if await subscriptions.note_event(session, f"sandbox:{page.id}"):
            subscriptions.apply(session, org, row, _bought(row, page.wanted.plan))
    return page


async def portal(billing: Billing, token: str) -> tuple[OpenPortal, Standing]:
    """Return what a portal page shows; raises NotFound when its address is not good any more."""
    page = _sandbox(billing).open_portal(token)
    async with billing.database.read() as session:
        return page, await _standing(session, page.customer)


async def change(
    billing: Billing, token: str, wanted: Change, *, plan: PlanName | None = None
) -> None:
    """Change the subscription on a portal page; `plan` is the one to change to.

    Raises:
        NotFound: its address is not good any more.
        ValidationFailed: there is no subscription, or the plan is not for sale.
    """
    page = _sandbox(billing).open_portal(token)
    org_id = await _org_of(billing, page.customer)
    async with billing.database.write() as session:
        org, row = await subscriptions.lock(session, org_id)
        if not subscriptions.is_live(row):
            raise ValidationFailed("There is no subscription to change; begin with a checkout.")
        subscriptions.apply(session, org, row, _changed(row, wanted, plan))


async def settle(database: Database) -> None:
    """Renew sandbox subscriptions whose period has ended, or end those that were canceled."""
    query = (
        select(Subscription.org_id)
        .where(
            Subscription.provider == PaymentProvider.SANDBOX,
            Subscription.status == SubscriptionStatus.ACTIVE,
            Subscription.current_period_end <= clock.now(),
        )
        .limit(_BATCH)
    )
    async with database.read() as session:
        over = [OrgId(one) for one in (await session.execute(query)).scalars()]
    for org_id in over:
        async with database.write() as session:
            org, row = await subscriptions.lock(session, org_id)
            if subscriptions.is_live(row) and _has_ended(row):
                settled = _ended(row) if row.cancel_at_period_end else _renewed(row)
                subscriptions.apply(session, org, row, settled)


def _sandbox(billing: Billing) -> Sandbox:
    if billing.sandbox is None:
        raise NotFound
    return billing.sandbox


async def _standing(session: ReadSession, customer: str) -> Standing:
    row = await subscriptions.of_customer(session, PaymentProvider.SANDBOX, customer)
    if row is None:
        raise NotFound
    org = await session.get_one(Org, row.org_id)
    return Standing(
        org_name=org.name,
        email=org.billing_email,
        plan=PlanName(row.plan) if subscriptions.is_live(row) else None,
        cancel_at_period_end=row.cancel_at_period_end,
        current_period_end=row.current_period_end,
    )


async def _org_of(billing: Billing, customer: str) -> OrgId:
    async with billing.database.read() as session:
        row = await subscriptions.of_customer(session, PaymentProvider.SANDBOX, customer)
    if row is None:
        raise NotFound
    return OrgId(row.org_id)


def _bought(row: Subscription, plan: PlanName) -> SubscriptionState:
    if subscriptions.is_live(row):
        return replace(_as_it_is(row), plan=plan, cancel_at_period_end=False)
    return SubscriptionState(
        id=ids.new("sub"),
        plan=plan,
        status=SubscriptionStatus.ACTIVE,
        cancel_at_period_end=False,
        current_period_end=clock.now() + _PERIOD,
    )


def _changed(row: Subscription, wanted: Change, plan: PlanName | None) -> SubscriptionState:
    match wanted:
        case Change.PLAN:
            if plan not in PAID_PLANS:
                raise ValidationFailed.of("plan", f"is one of {', '.join(PAID_PLANS)}")
            return replace(_as_it_is(row), plan=plan)
        case Change.CANCEL:
            return replace(_as_it_is(row), cancel_at_period_end=True)
        case Change.RESUME:
            return replace(_as_it_is(row), cancel_at_period_end=False)
        case Change.CANCEL_NOW:
            return _ended(row)


def _as_it_is(row: Subscription) -> SubscriptionState:
    return SubscriptionState(
        id=row.subscription_id or "",
        plan=PlanName(row.plan),
        status=SubscriptionStatus(row.status),
        cancel_at_period_end=row.cancel_at_period_end,
        current_period_end=row.current_period_end,
    )


def _ended(row: Subscription) -> SubscriptionState:
    return replace(
        _as_it_is(row),
        status=SubscriptionStatus.CANCELED,
        cancel_at_period_end=False,
        current_period_end=None,
    )


def _has_ended(row: Subscription) -> bool:
    return row.current_period_end is not None and row.current_period_end <= clock.now()


def _renewed(row: Subscription) -> SubscriptionState:
    return replace(_as_it_is(row), current_period_end=clock.now() + _PERIOD)
