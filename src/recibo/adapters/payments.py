"""Who takes payments: what the service asks of a provider, and a sandbox that moves no money."""

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
    """What is to be bought, and where the buyer goes then."""

    plan: PlanName
    success_url: str
    cancel_url: str


@dataclass(frozen=True, slots=True)
class Subscribed:
    """How a subscription stands with the provider."""

    id: str
    #: None for one of a price that this installation does not sell.
    plan: PlanName | None
    status: SubscriptionStatus
    cancel_at_period_end: bool
    #: None until the first invoice is paid, and when it is over.
    current_period_end: dt.datetime | None


class Payments(Protocol):
    """Sells subscriptions on pages of its own.

    Each raises ServerError when the provider fails.
    """

    @property
    def provider(self) -> PaymentProvider:
        """Whose ids these are."""

    async def customer(self, org_id: OrgId, *, email: str, instead_of: str = "") -> str:
        """Create the customer of an org and return its id; asked again soon, it is the same.

        `instead_of` is the one that is gone, so that the same is not that one.
        """

    async def bill_to(self, customer: str, *, email: str) -> bool:
        """Have bills go to an address; False when the provider has this customer no more."""

    async def checkout(self, customer: str, wanted: Checkout) -> str:
        """Return the address of a page that sells a plan.

        Whoever has a live subscription changes it there and gets no second one.
        """

    async def portal(self, customer: str, *, return_url: str) -> str:
        """Return the address of a page that changes and cancels the customer's subscription."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the provider tells of: it says whom to look at, and no more is believed."""

    id: str
    #: None when it is about nobody's subscription.
    customer: str | None


class Events(Protocol):
    """Tells when a subscription changes, and how it stands."""

    def event(self, payload: bytes, signature: str) -> Event:
        """Return a signed event; raises ValidationFailed when it was signed by somebody else."""

    async def subscription(self, customer: str) -> Subscribed | None:
        """Return how a customer's subscription stands now; None when there was never one.

        Raises:
            ServerError: the provider fails.
        """


@dataclass(frozen=True, slots=True)
class Used:
    """Credits that a customer used."""

    #: Of the usage event; told twice, it counts once.
    id: str
    customer: str
    credits: int
    used_at: dt.datetime


class MeterError(Exception):
    """The provider was not told; it may be, later. The message quotes nothing of the use."""


class UseRefusedError(MeterError):
    """The provider will never take this."""


class UsageMeter(Protocol):
    """Measures what customers use."""

    async def measure(self, used: Used) -> None:
        """Tell the provider of a use.

        Raises:
            UseRefusedError: it will never be taken.
            MeterError: it was not taken, and may be later.
        """


@dataclass(frozen=True, slots=True)
class OpenCheckout:
    """A checkout page of the sandbox, as its address says."""

    id: str
    customer: str
    wanted: Checkout


@dataclass(frozen=True, slots=True)
class OpenPortal:
    """A portal page of the sandbox, as its address says."""

    customer: str
    return_url: str


class Sandbox:
    """Sells on this installation's own pages; their addresses are signed and end."""

    provider = PaymentProvider.SANDBOX

    def __init__(self, keyring: Keyring, base_url: str) -> None:
        self._keyring = keyring
        self._base_url = base_url

    async def customer(
        self,
        _org_id: OrgId,
        *,
        email: str,  # noqa: ARG002 - told nobody
        instead_of: str = "",  # noqa: ARG002 - none is ever gone
    ) -> str:
        """Make up a customer."""
        return ids.new("cus")

    async def bill_to(self, _customer: str, *, email: str) -> bool:  # noqa: ARG002 - nothing is sent
        """Do nothing: nobody is billed, and no customer is ever gone."""
        return True

    async def checkout(self, customer: str, wanted: Checkout) -> str:
        """Return the address of the checkout page."""
        claims = {
            "plan": wanted.plan,
            "success_url": wanted.success_url,
            "cancel_url": wanted.cancel_url,
        }
        return self._address(CHECKOUT_PATH, _CHECKOUT, customer, claims, _CHECKOUT_LIVES)

    async def portal(self, customer: str, *, return_url: str) -> str:
        """Return the address of the portal page."""
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
        # A query: logs tell of paths alone.
        return f"{self._base_url}{path}?{urlencode({'session': signed})}"

    def _claims(self, token: str, use: str) -> Mapping[str, Any]:
        try:
            claims = self._keyring.claims(token, audience=use)
        except BadTokenError:
            claims = {"exp": 0}
        if claims["exp"] <= clock.now().timestamp():
            raise NotFound("This page has expired; go back to Billing and open a new one.")
        return claims
