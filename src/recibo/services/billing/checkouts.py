"""Checkouts and portals: the addresses of pages on which an org buys, changes and cancels."""

from urllib.parse import urlsplit

import structlog
from sqlalchemy.exc import NoResultFound

from recibo.adapters.payments import Checkout
from recibo.errors import NotFound, ValidationFailed
from recibo.lib import clock
from recibo.schemas.actor import Member
from recibo.schemas.billing import PAID_PLANS
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import PlanName
from recibo.schemas.states import AuditAction, ResourceType, SubscriptionStatus
from recibo.services import audit
from recibo.services.billing import subscriptions
from recibo.services.billing.billing import Billing
from recibo.services.identity import orgs
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Org, Subscription

log = structlog.get_logger(__name__)

# Providers take no longer ones, and the sandbox's own addresses hold them.
_MAX_URL = 2048


async def check_out(billing: Billing, actor: Member, wanted: Checkout) -> str:
    """Return the address of a page that sells a plan to the actor's org, or changes what it has.

    Raises:
        ValidationFailed: the plan is not for sale, or an address is none of the web.
        NotFound: the org is gone, or no plan is sold.
        InsufficientScope: the actor no longer has the permission.
        ServerError: the payment provider fails; nothing was sold.
    """
    payments = billing.seller()
    if wanted.plan not in PAID_PLANS:
        raise ValidationFailed.of("plan", f"is one of {', '.join(PAID_PLANS)}")
    _check_url("success_url", wanted.success_url)
    _check_url("cancel_url", wanted.cancel_url)
    customer = await _customer(billing, actor)
    url = await payments.checkout(customer, wanted)
    async with billing.database.write() as session:
        await _still(session, actor)
        audit.record(
            session,
            actor,
            AuditAction.SUBSCRIPTION_CHECKOUT_STARTED,
            resource=(ResourceType.SUBSCRIPTION, actor.org_id),
            after={"plan": wanted.plan.value},
        )
    return url


async def visit_portal(billing: Billing, actor: Member, *, return_url: str) -> str:
    """Return the address of a page on which the actor's org changes and cancels what it has.

    Raises:
        ValidationFailed: the address is none of the web; the org was at no checkout yet.
        NotFound: no plan is sold.
        ServerError: the payment provider fails.
    """
    payments = billing.seller()
    _check_url("return_url", return_url)
    async with billing.database.read() as session:
        has_customer = await is_customer(billing, session, actor)
    if not has_customer:
        message = "There is no payment customer yet; begin with a checkout session."
        raise ValidationFailed(message)
    customer = await _customer(billing, actor)
    return await payments.portal(customer, return_url=return_url)


async def is_customer(billing: Billing, session: ReadSession, actor: Member) -> bool:
    """Return whether the actor's org is a customer of the payment provider."""
    row = await subscriptions.of_org(session, actor)
    return row is not None and row.provider == billing.seller().provider


async def _customer(billing: Billing, actor: Member) -> str:
    """Return the org's customer at the provider, who knows by then where bills go.

    When there is none, or the provider has it no more, one is created, and kept at once.
    """
    payments = billing.seller()
    async with billing.database.read() as session:
        row = await subscriptions.of_org(session, actor)
        try:
            email = (await session.get_one(Org, actor.org_id)).billing_email
        except NoResultFound:
            raise NotFound("This org is gone.") from None
    is_ours = row is not None and row.provider == payments.provider
    held = row.customer_id if row is not None and is_ours else ""
    if held and await payments.bill_to(held, email=email):
        return held
    created = await payments.customer(actor.org_id, email=email, instead_of=held)
    return await _kept(billing, actor, created, instead_of=held)


async def _kept(billing: Billing, actor: Member, created: str, *, instead_of: str) -> str:
    """Store a new customer id for the actor's org; return it, or the one stored meanwhile."""
    provider = billing.seller().provider
    async with billing.database.write() as session:
        org = await _still(session, actor)
        row = await subscriptions.of_org(session, actor)
        if row is None:
            row = Subscription(org_id=actor.org_id, version=0)
            session.add(row)
        elif row.provider == provider:
            if row.customer_id != instead_of:
                return row.customer_id
            log.warning("a customer is gone, and replaced", gone=instead_of, created=created)
            if (over := subscriptions.gone(row)) is not None:
                # No event of the one that is gone finds this org any more.
                subscriptions.apply(session, org, row, over)
        _begin(row, provider, created)
    return created


def _begin(row: Subscription, provider: str, customer: str) -> None:
    """Start over with a customer who has bought nothing."""
    row.provider = provider
    row.customer_id = customer
    row.subscription_id = None
    row.plan = PlanName.FREE
    row.status = SubscriptionStatus.ACTIVE
    row.cancel_at_period_end = False
    row.current_period_end = None
    row.version += 1
    row.updated_at = clock.now()


async def _still(session: Session, actor: Member) -> Org:
    org = await orgs.lock(session, actor.org_id)
    await orgs.still(session, actor, Permission.BILLING_WRITE)
    return org


def _check_url(field: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_good = False
    if not is_good or not url.isprintable() or " " in url or "\\" in url:
        raise ValidationFailed.of(field, "is an address that begins with http:// or https://")
    if len(url) > _MAX_URL:
        raise ValidationFailed.of(field, f"has at most {_MAX_URL} characters")
