"""/v1/billing: the org's subscription, and the pages to buy and change it."""

from typing import Annotated, Literal

from fastapi import Depends, Request
from pydantic import BaseModel, Field

from recibo.adapters.payments import Checkout
from recibo.api import json_body, routers
from recibo.api.deps import MayCheckOut, MayReadBilling, MayWriteBilling
from recibo.api.responses import Ok, errors_of
from recibo.errors import NotFound
from recibo.schemas.billing import Subscription
from recibo.schemas.plans import PlanName
from recibo.services.billing import checkouts, provider_events, subscriptions
from recibo.web.services import TheServices


async def _sells_plans(services: TheServices) -> None:
    """Refuse before the body is read where no plan is sold."""
    services.billing.seller()


# After the member in each signature: 403 comes before 404.
_SellsPlans = Annotated[None, Depends(_sells_plans)]

router = routers.make("/v1/billing", tag="billing")


class CheckoutWanted(BaseModel):
    """The plan to buy, and where the buyer goes afterwards."""

    plan: Literal["indie", "startup", "scale"]
    success_url: str = Field(description="Where the buyer goes after paying.")
    cancel_url: str = Field(description="Where the buyer goes after canceling.")


class PortalWanted(BaseModel):
    """Where the customer goes afterwards."""

    return_url: str


class Hosted(BaseModel):
    """A page of the payment provider."""

    url: str


@router.get(
    "/subscription", summary="Get the subscription", responses=errors_of(401, 403, 429, 500)
)
async def get_subscription(member: MayReadBilling, services: TheServices) -> Subscription:
    """Return the plan, its limits and this month's usage."""
    async with services.database.read() as session:
        return await subscriptions.get(session, member, plans=services.identity.plans)


@router.post(
    "/checkout-session",
    summary="Create a checkout session",
    openapi_extra=json_body.documented(CheckoutWanted),
    responses=errors_of(400, 401, 403, 404, 429, 500, 503),
)
async def create_checkout_session(
    member: MayCheckOut,
    services: TheServices,
    _: _SellsPlans,
    body: Annotated[CheckoutWanted, Depends(json_body.json_body(CheckoutWanted))],
) -> Hosted:
    """Return the URL of a page to buy a plan, or to change the current one."""
    wanted = Checkout(PlanName(body.plan), body.success_url, body.cancel_url)
    return Hosted(url=await checkouts.check_out(services.billing, member, wanted))


@router.post(
    "/portal-session",
    summary="Create a customer portal session",
    openapi_extra=json_body.documented(PortalWanted),
    responses=errors_of(400, 401, 403, 404, 429, 500, 503),
)
async def create_portal_session(
    member: MayWriteBilling,
    services: TheServices,
    _: _SellsPlans,
    body: Annotated[PortalWanted, Depends(json_body.json_body(PortalWanted))],
) -> Hosted:
    """Return the URL of a page to change or cancel the subscription."""
    url = await checkouts.visit_portal(services.billing, member, return_url=body.return_url)
    return Hosted(url=url)


@router.post(
    "/provider-events",
    summary="Receive an event of the payment provider",
    responses=errors_of(400, 404, 429, 500, 503),
)
async def receive_provider_event(request: Request, services: TheServices) -> Ok:
    """Process an event that the payment provider signed; a repeated one changes nothing."""
    if services.billing.events is None:
        raise NotFound
    payload = await json_body.text_of(request)
    signature = request.headers.get("stripe-signature", "")
    await provider_events.take(services.billing, payload, signature)
    return Ok()
