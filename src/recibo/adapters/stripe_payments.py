"""Payments with Stripe: customers, checkout and portal sessions, signed events.

Prices, the customer portal and the webhook endpoint are configured at Stripe.
"""

import asyncio
import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import requests
import stripe
import structlog

from recibo.adapters.payments import (
    Checkout,
    CreditUsage,
    Event,
    MeterError,
    SubscriptionState,
    UseRefusedError,
)
from recibo.errors import Overloaded, ServerError, ValidationFailed
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import PaymentProvider, SubscriptionStatus

log = structlog.get_logger(__name__)

T = TypeVar("T")

# One try; Stripe answers within a second or two. One more is made when it may help.
_TRY_S = 8.0
_RETRIES = 1
# A checkout makes up to six calls; clients give up after half a minute.
_LIMIT_S = 25.0
_RETRY_AFTER_S = 30
_THREADS = 8
# As in Stripe's own libraries: an older event may be a replay attack.
_TOLERANCE_S = 300
_PAGE = 100
_MISSING = "resource_missing"
# The address that we sent last. Customers may set another one in Stripe's portal, and that is kept.
_SENT_EMAIL = "billing_email"
_SUBSCRIPTION_EVENTS = (
    "customer.subscription.",
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "invoice.paid",
    "invoice.payment_",
)
#: A customer may have one of these at a time; an unpaid one becomes active when it is paid.
_HELD = {"active", "trialing", "past_due", "unpaid", "paused"}
_STATUSES: Mapping[str, SubscriptionStatus] = {
    **{one.value: one for one in SubscriptionStatus},
    "incomplete_expired": SubscriptionStatus.CANCELED,
    # A trial that ended without a payment method.
    "paused": SubscriptionStatus.UNPAID,
}
#: Errors that a retry cannot fix. Others can: the operator may fix the key or create the meter.
_FINAL = {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
_KNOWN_EVENT = "event already exists"
_WITHOUT_PERIOD = {SubscriptionStatus.INCOMPLETE, SubscriptionStatus.CANCELED}


@dataclass(frozen=True, slots=True)
class Account:
    """A Stripe account and the prices of the plans."""

    api_key: str
    webhook_secret: str
    api_base: str
    #: The id of each plan's price.
    prices: Mapping[PlanName, str]
    #: The event name of the meter for credits; empty if there is none.
    meter: str = ""


class Stripe:
    """Sells on Stripe's pages. The SDK's calls run in separate threads with a time limit."""

    provider = PaymentProvider.STRIPE

    def __init__(self, account: Account, *, limit_s: float = _LIMIT_S) -> None:
        self._account = account
        self._plans = {price: plan for plan, price in account.prices.items()}
        self._limit_s = limit_s
        self._session = requests.Session()
        self._client = stripe.StripeClient(
            account.api_key,
            base_addresses={"api": account.api_base.rstrip("/")},
            http_client=stripe.RequestsClient(timeout=min(_TRY_S, limit_s), session=self._session),
            max_network_retries=_RETRIES,
        ).v1
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="stripe")

    def close(self) -> None:
        """Close threads and connections."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._session.close()

    async def customer(self, org_id: OrgId, *, email: str, instead_of: str = "") -> str:
        """Create a customer; within a day the same org and address get the same one."""
        return await self._run(partial(self._customer, org_id, email, instead_of))

    async def bill_to(self, customer: str, *, email: str) -> bool:
        """Update a customer's address if it changed here; return False if it was deleted."""
        return await self._run(partial(self._bill_to, customer, email))

    async def checkout(self, customer: str, wanted: Checkout) -> str:
        """Return a checkout page, or a portal page that changes the current subscription."""
        return await self._run(partial(self._checkout, customer, wanted))

    async def portal(self, customer: str, *, return_url: str) -> str:
        """Return the address of the customer portal."""
        return await self._run(partial(self._portal, customer, return_url))

    def event(self, payload: bytes, signature: str) -> Event:
        """Verify the signature over the raw bytes and return the event."""
        try:
            stripe.WebhookSignature.verify_header(
                payload, signature, self._account.webhook_secret, _TOLERANCE_S
            )
            event = json.loads(payload)
            event_id, kind, about = str(event["id"]), str(event["type"]), event["data"]["object"]
            customer = about.get("customer") if kind.startswith(_SUBSCRIPTION_EVENTS) else None
        except stripe.SignatureVerificationError:
            raise ValidationFailed.of("Stripe-Signature", "is not right, or too old") from None
        # A signature that is not ASCII is a TypeError.
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ValidationFailed("This is no event of Stripe.") from None
        return Event(event_id, customer if isinstance(customer, str) else None)

    async def subscription(self, customer: str) -> SubscriptionState | None:
        """Fetch the current state of a customer's subscription from Stripe."""
        return await self._run(partial(self._subscription, customer))

    async def measure(self, used: CreditUsage) -> None:
        """Send a meter event; Stripe ignores an identifier that it knows."""
        await self._run(partial(self._measure, used), refusal=_unmeasured)

    async def _run(
        self,
        call: Callable[[], T],
        refusal: Callable[[stripe.StripeError | None], Exception] | None = None,
    ) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limit_s):
                return await loop.run_in_executor(self._threads, call)
        except stripe.StripeError as e:
            # Without the message, which quotes the request.
            log.warning(
                "stripe failed",
                kind=type(e).__name__,
                status=e.http_status,
                code=e.code,
                stripe_request=e.request_id,
            )
            raise (refusal or _refusal)(e) from e
        except TimeoutError as e:
            log.warning("stripe failed", kind="timeout")
            raise (refusal or _refusal)(None) from e

    def _customer(self, org_id: OrgId, email: str, instead_of: str) -> str:
        # `instead_of` changes the key; else Stripe would return the deleted customer for a day.
        digest = hashlib.sha256(f"{email} {instead_of}".encode()).hexdigest()[:16]
        created = self._client.customers.create(
            {"email": email, "metadata": {"org_id": org_id, _SENT_EMAIL: email}},
            {"idempotency_key": f"recibo-customer-{org_id}-{digest}"},
        )
        return created.id

    def _bill_to(self, customer: str, email: str) -> bool:
        try:
            known = self._client.customers.retrieve(customer)
            if getattr(known, "deleted", False):
                return False
            metadata = known.metadata.to_dict() if known.metadata else {}
            if metadata.get(_SENT_EMAIL) != email:
                self._client.customers.update(
                    customer, {"email": email, "metadata": {_SENT_EMAIL: email}}
                )
        except stripe.InvalidRequestError as e:
            if e.code == _MISSING:
                return False
            raise
        return True

    def _checkout(self, customer: str, wanted: Checkout) -> str:
        if held := self._held(customer):
            return self._change(customer, held, wanted)
        sessions = self._client.checkout.sessions
        made = sessions.create(
            {
                "mode": "subscription",
                "customer": customer,
                "line_items": [{"price": self._account.prices[wanted.plan], "quantity": 1}],
                "success_url": wanted.success_url,
                "cancel_url": wanted.cancel_url,
            }
        )
        self._expire_others(customer, made)
        # Another checkout may have been paid in the meantime.
        if held := self._held(customer):
            sessions.expire(made.id)
            return self._change(customer, held, wanted)
        return made.url or ""

    def _expire_others(self, customer: str, made: stripe.checkout.Session) -> None:
        """Expire older open checkouts: two paid ones would be two subscriptions."""
        sessions = self._client.checkout.sessions
        found = sessions.list({"customer": customer, "status": "open", "limit": _PAGE})
        for one in found.data:
            if (one.created, one.id) < (made.created, made.id):
                try:
                    sessions.expire(one.id)
                except stripe.InvalidRequestError:
                    # Paid or expired since; the caller checks for a subscription.
                    log.info("a checkout was closed already")

    def _change(self, customer: str, held: stripe.Subscription, wanted: Checkout) -> str:
        item, price = held["items"]["data"][0], self._account.prices[wanted.plan]
        if item["price"]["id"] == price or held.status in ("unpaid", "paused"):
            # Stripe refuses a change to the same price, and of an unpaid subscription.
            return self._portal(customer, wanted.cancel_url)
        return self._client.billing_portal.sessions.create(
            {
                "customer": customer,
                "return_url": wanted.cancel_url,
                "flow_data": {
                    "type": "subscription_update_confirm",
                    "subscription_update_confirm": {
                        "subscription": held.id,
                        "items": [{"id": item["id"], "price": price, "quantity": 1}],
                    },
                    "after_completion": {
                        "type": "redirect",
                        "redirect": {"return_url": wanted.success_url},
                    },
                },
            }
        ).url

    def _portal(self, customer: str, return_url: str) -> str:
        return self._client.billing_portal.sessions.create(
            {"customer": customer, "return_url": return_url}
        ).url

    def _measure(self, used: CreditUsage) -> None:
        try:
            self._client.billing.meter_events.create(
                {
                    "event_name": self._account.meter,
                    "identifier": used.id,
                    "payload": {"stripe_customer_id": used.customer, "value": str(used.credits)},
                    "timestamp": int(used.used_at.timestamp()),
                }
            )
        except stripe.InvalidRequestError as e:
            # Stripe has no error code for this.
            if _KNOWN_EVENT not in (e.user_message or ""):
                raise
            log.info("stripe knows a meter event already")

    def _held(self, customer: str) -> stripe.Subscription | None:
        return next((one for one in self._all(customer) if one.status in _HELD), None)

    def _subscription(self, customer: str) -> SubscriptionState | None:
        try:
            every = self._all(customer)
        except stripe.InvalidRequestError as e:
            if e.code != _MISSING:
                raise
            # The customer was deleted, and its subscriptions with it.
            every = []
        if not every:
            return None
        if sum(one.status in _HELD for one in every) > 1:
            log.warning("a customer has several subscriptions", customer=customer)
        one = every[0]
        status = _STATUSES.get(one.status, SubscriptionStatus.INCOMPLETE)
        item: Any = one["items"]["data"][0]
        has_period = status not in _WITHOUT_PERIOD
        has_ended = status is SubscriptionStatus.CANCELED
        return SubscriptionState(
            id=one.id,
            plan=self._plans.get(item["price"]["id"]),
            status=status,
            # The portal of newer accounts sets the day itself.
            cancel_at_period_end=not has_ended
            and (one.cancel_at_period_end or bool(one.cancel_at)),
            current_period_end=(
                dt.datetime.fromtimestamp(item["current_period_end"], dt.UTC)
                if has_period
                else None
            ),
        )

    def _all(self, customer: str) -> list[stripe.Subscription]:
        """Return a customer's subscriptions: current before ended ones, then newest first."""
        found = self._client.subscriptions.list(
            {"customer": customer, "status": "all", "limit": _PAGE}
        ).data
        return sorted(found, key=lambda one: (one.status in _HELD, one.created), reverse=True)


def _unmeasured(error: stripe.StripeError | None) -> MeterError:
    if error is None:
        return MeterError("no answer in time")
    reason = f"{type(error).__name__}, status {error.http_status}"
    is_final = error.http_status in _FINAL and "active meter" not in (error.user_message or "")
    return UseRefusedError(reason) if is_final else MeterError(reason)


def _refusal(error: stripe.StripeError | None) -> ServerError:
    if error is None:
        return _down()
    is_passing = isinstance(error, (stripe.APIConnectionError, stripe.RateLimitError))
    failed = HTTPStatus.INTERNAL_SERVER_ERROR
    if is_passing or (error.http_status or failed) >= failed:
        return _down()
    return ServerError("The payment provider refuses what it was asked; tell the operator.")


def _down() -> ServerError:
    return Overloaded(
        "The payment provider does not answer; nothing was bought. Try again later.",
        retry_after=_RETRY_AFTER_S,
    )
