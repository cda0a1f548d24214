"""A service that sells through the fake Stripe, and the owner of an org."""

from dataclasses import dataclass
from typing import Any

import httpx

from recibo.store.tables import Subscription
from tests import billing, stripe_server
from tests.installation import Installation
from tests.people import Session
from tests.stripe_server import StripeServer, signature

EVENTS = "/v1/billing/provider-events"
#: The plan and the status before anything is bought.
FREE = ("free", "active")


@dataclass(frozen=True, slots=True)
class StripeSetup:
    """A service that sells through the fake Stripe, and the owner of an org."""

    i: Installation
    stripe: StripeServer
    ana: Session

    async def customer(self) -> str:
        """Return the org's customer at Stripe, made by a first checkout."""
        await billing.checkout(self.i, self.ana)
        [row] = await self.i.rows(Subscription)
        return row.customer_id

    async def subscribe(self, plan: str = "indie", **changes: Any) -> dict[str, Any]:
        """Buy a plan: pay for it and deliver Stripe's event."""
        made = self.stripe.subscribe(await self.customer(), plan, **changes)
        await self.deliver_event(made)
        return made

    async def deliver_event(
        self, about: dict[str, Any], kind: str = "customer.subscription.updated"
    ) -> bytes:
        """Deliver an event of Stripe and return it."""
        payload = self.stripe.event(about, kind)
        answer = await self.send(payload)
        assert (200, {"ok": True}) == (answer.status_code, answer.json())
        return payload

    async def send(self, payload: bytes, signed: str | None = None) -> httpx.Response:
        """Send an event, signed like Stripe does by default."""
        header = signature(payload) if signed is None else signed
        headers = {"Stripe-Signature": header, "Content-Type": "application/json"}
        return await self.i.stranger.post(EVENTS, content=payload, headers=headers)

    async def plan_and_status(self) -> tuple[str, str]:
        """Return the org's plan and the status of its subscription."""
        subscription = await billing.subscription(self.i, self.ana)
        return subscription["plan"], subscription["status"]


def settings(stripe: StripeServer) -> dict[str, Any]:
    """Return the settings of a service that sells through it."""
    return {
        "payments": "stripe",
        "stripe_api_key": stripe_server.API_KEY,
        "stripe_webhook_secret": stripe_server.WEBHOOK_SECRET,
        "stripe_api_base": stripe.url,
        **{f"stripe_price_{plan}": price for plan, price in stripe_server.PRICES.items()},
    }
