"""The billing page: plan, usage, and links to the payment provider's pages."""

from collections.abc import Awaitable
from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.adapters.payments import Checkout
from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import forms, headers, names, pages, request_context, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import _, lazy_gettext
from recibo.schemas.billing import PAID_PLANS
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import PLANS, PlanName
from recibo.services.billing import checkouts, subscriptions
from recibo.services.billing.sandbox import PRICES
from recibo.services.reading import usage
from recibo.web.services import Services

router = routers.make("/portal/billing")

_PAGE = "/portal/billing"
_NOTICES = {
    "paid": lazy_gettext(
        "Thank you. The payment is being confirmed, and the plan changes within a minute. "
        "Reload this page to see it."
    ),
    "not-paid": lazy_gettext(
        "You left the checkout. Nothing was bought, and the plan has not changed."
    ),
}
# The plans on the page; enterprise is by agreement only.
_PLANS = tuple(PLANS[name] for name in (PlanName.FREE, *PAID_PLANS))

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.BILLING_READ))]
Buyer = Annotated[RequestContext, Depends(request_context.context_with(Permission.BILLING_WRITE))]


class PlanForm(BaseModel):
    """The plan to buy; validated by the service."""

    plan: str = ""


@router.get("")
async def show_billing(caller: Reader) -> Response:
    """Show the current plan, its usage, and all plans."""
    return await _shown(caller)


@router.post("/checkout")
async def check_out(
    caller: Buyer, form: Annotated[PlanForm, Depends(forms.plain(PlanForm))]
) -> Response:
    """Redirect to the checkout of a plan."""

    async def url() -> str:
        page = _own_address(caller)
        plan = _plan(form.plan)
        wanted = Checkout(plan, f"{page}?notice=paid&plan={plan}", f"{page}?notice=not-paid")
        return await checkouts.check_out(caller.services.billing, caller.member, wanted)

    return await _redirect(caller, url())


@router.post("/manage")
async def manage(caller: Buyer) -> Response:
    """Redirect to the page where the subscription is changed or canceled."""
    url = checkouts.visit_portal(
        caller.services.billing, caller.member, return_url=_own_address(caller)
    )
    return await _redirect(caller, url)


async def _redirect(caller: RequestContext, address: Awaitable[str]) -> Response:
    try:
        return pages.see_other(await address)
    except MESSAGES as e:
        return await _shown(caller, error=e)


async def _shown(caller: RequestContext, *, error: ServiceError | None = None) -> Response:
    services = caller.services
    async with services.database.read() as session:
        subscription = await subscriptions.get(session, caller.member)
        month = await usage.this_month(session, caller.member)
        is_customer = await checkouts.is_customer(services.billing, session, caller.member)
    answer = pages.section(
        caller.request,
        "billing.html",
        error=error,
        values={},
        subscription=subscription,
        left=max(0, (subscription.quota_receipts_month or 0) - month.held),
        unread=max(0, month.held - month.completed),
        is_customer=is_customer,
        plans=_PLANS,
        for_sale=() if subscription.plan is PlanName.ENTERPRISE else PAID_PLANS,
        prices=PRICES if services.billing.sandbox else {},
        notice="" if error else _notice(caller, subscription.plan),
        may_write=caller.may(Permission.BILLING_WRITE),
    )
    # Browsers apply this page's policy to redirects of its forms, and the provider's URL is known
    # only after the redirect.
    answer.headers["Content-Security-Policy"] = headers.policy(
        "https:", *_own_sources(services), connects=True
    )
    return answer


def _notice(caller: RequestContext, plan: PlanName) -> str:
    """Return the notice after a checkout; the payment may be confirmed already, or soon."""
    query = caller.request.query_params
    if query.get("notice") == "paid" and query.get("plan") == plan:
        return _("Thank you. Your plan is now %(plan)s.", plan=names.plan(plan))
    return caller.notice(_NOTICES)


def _own_sources(services: Services) -> list[str]:
    return [headers.source_of(services.base_url)] if services.base_url else []


def _own_address(caller: RequestContext) -> str:
    """Return the URL of this page, to which the provider redirects back."""
    base = caller.services.base_url or str(caller.request.base_url)
    return f"{base.rstrip('/')}{_PAGE}"


def _plan(given: str) -> PlanName:
    try:
        return PlanName(given)
    except ValueError:
        raise ValidationFailed.of("plan", f"is one of {', '.join(PAID_PLANS)}") from None
