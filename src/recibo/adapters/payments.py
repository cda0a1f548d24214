"""Payment providers: the protocols, and a sandbox that moves no money."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from recibo.errors import NotFound
from recibo.lib import clock, ids
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import PaymentProvider, SubscriptionStatus

CHECKOUT_PATH = "/sandbox/checkout"
PORTAL_PATH = "/sandbox/portal"
# As long as the pages of real providers stay open.
_CHECKOUT_LIVES = dt.timedelta(hours=24)
_PORTAL_LIVES = dt.timedelta(hours=1)
_CHECKOUT = "sandbox checkout"
_PORTAL = "sandbox portal"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A plan to buy, and the URLs that the buyer returns to."""

    plan: PlanName
    success_url: str
    cancel_url: str


@dataclass(frozen=True, slots=True)
class SubscriptionState:
    """The state of a subscription at the payment provider."""

    id: str
    #: None if this installation does not sell its price.
    plan: PlanName | None
    status: SubscriptionStatus
    cancel_at_period_end: bool
    #: None until the first invoice is paid, and after the end of the subscription.
    current_period_end: dt.datetime | None


class Payments(Protocol):
    """Sells subscriptions on the provider's pages.

    Each method raises ServerError if the provider fails.
    """

    @property
    def provider(self) -> PaymentProvider:
        """The provider that issues the ids."""

    async def customer(self, org_id: OrgId, *, email: str, instead_of: str = "") -> str:
        """Create the customer of an org and return its id; idempotent for about a day.

        `instead_of` is the id of the deleted customer that the new one replaces.
        """

    async def bill_to(self, customer: str, *, email: str) -> bool:
        """Set the billing address; return False if the customer was deleted."""

    async def checkout(self, customer: str, wanted: Checkout) -> str:
        """Return the URL of a page that sells a plan.

        A customer with a live subscription changes it there and gets no second one.
        """

    async def portal(self, customer: str, *, return_url: str) -> str:
        """Return the URL of a page that changes and cancels the customer's subscription."""


@dataclass(frozen=True, slots=True)
class Event:
    """A provider event. Only the customer is used; the rest is fetched from the provider."""

    id: str
    #: None if the event is not about a subscription.
    customer: str | None


class Events(Protocol):
    """Verifies provider events and fetches subscriptions."""

    def event(self, payload: bytes, signature: str) -> Event:
        """Return a signed event; raises ValidationFailed if the signature is wrong."""

    async def subscription(self, customer: str) -> SubscriptionState | None:
        """Return the current state of a customer's subscription; None if there was never one.

        Raises:
            ServerError: the provider fails.
        """


@dataclass(frozen=True, slots=True)
class CreditUsage:
    """Credits that a customer used."""

    #: The id of the usage event: reported twice, it counts once.
    id: str
    customer: str
    credits: int
    used_at: dt.datetime


class MeterError(Exception):
    """The report failed; try again later. The message quotes nothing of the usage."""


class UseRefusedError(MeterError):
    """The provider refuses the report permanently."""


class UsageMeter(Protocol):
    """Reports the usage of customers."""

    async def measure(self, used: CreditUsage) -> None:
        """Report a use to the provider.

        Raises:
            UseRefusedError: the provider refuses it permanently.
            MeterError: the report failed; try again later.
        """


@dataclass(frozen=True, slots=True)
class OpenCheckout:
    """The claims in the URL of a sandbox checkout page."""

    id: str
    customer: str
    wanted: Checkout


@dataclass(frozen=True, slots=True)
class OpenPortal:
    """The claims in the URL of a sandbox portal page."""

    customer: str
    return_url: str


class Sandbox:
    """Simulates payments on this installation's own pages; their URLs are signed and expire."""

    provider = PaymentProvider.SANDBOX

    def __init__(self, keyring: Keyring, base_url: str) -> None:
        self._keyring = keyring
        self._base_url = base_url

    async def customer(
        self,
        _org_id: OrgId,
        *,
        email: str,  # noqa: ARG002 - sent to no provider
        instead_of: str = "",  # noqa: ARG002 - none is ever deleted
    ) -> str:
        """Return a new customer id."""
        return ids.new("cus")

    async def bill_to(self, _customer: str, *, email: str) -> bool:  # noqa: ARG002 - nothing is sent
        """Do nothing and return True: the sandbox sends no bills and deletes no customers."""
        return True

    async def checkout(self, customer: str, wanted: Checkout) -> str:
        """Return the URL of the checkout page."""
        claims = {
            "plan": wanted.plan,
            "success_url": wanted.success_url,
            "cancel_url": wanted.cancel_url,
        }
        return self._address(CHECKOUT_PATH, _CHECKOUT, customer, claims, _CHECKOUT_LIVES)

    async def portal(self, customer: str, *, return_url: str) -> str:
        """Return the URL of the portal page."""
        claims = {"return_url": return_url}
        return self._address(PORTAL_PATH, _PORTAL, customer, claims, _PORTAL_LIVES)

    def open_checkout(self, token: str) -> OpenCheckout:
        """Return what the token of a checkout page says; raises NotFound when it is none."""
        claims = self._claims(token, _CHECKOUT)
        wanted = Checkout(PlanName(claims["plan"]), claims["success_url"], claims["cancel_url"])
        return OpenCheckout(claims["jti"], claims["sub"], wanted)

    def open_portal(self, token: str) -> OpenPortal:
        """Return what the token of a portal page says; raises NotFound when it is none."""
        claims = self._claims(token, _PORTAL)
        return OpenPortal(claims["sub"], claims["return_url"])

    def _address(
        self, path: str, use: str, customer: str, claims: dict[str, str], lives: dt.timedelta
    ) -> str:
        now = clock.now()
        times = {"iat": int(now.timestamp()), "exp": int((now + lives).timestamp())}
        signed = self._keyring.sign(
            {**claims, "sub": customer, "jti": ids.new("pay"), **times}, audience=use
        )
        # In the query, because logs contain paths only.
        return f"{self._base_url}{path}?{urlencode({'session': signed})}"

    def _claims(self, token: str, use: str) -> Mapping[str, Any]:
        try:
            claims = self._keyring.claims(token, audience=use)
        except BadTokenError:
            claims = {"exp": 0}
        if claims["exp"] <= clock.now().timestamp():
            raise NotFound("This page has expired; go back to Billing and open a new one.")
        return claims
