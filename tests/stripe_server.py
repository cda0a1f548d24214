"""A fake Stripe: answers the calls that we use as documented, and signs events."""

import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from recibo.lib import clock

API_KEY = "sk_test_recibo"
WEBHOOK_SECRET = "whsec_recibo"  # noqa: S105 - opens nothing
PRICES = {"indie": "price_indie", "startup": "price_startup", "scale": "price_scale"}
METER = "recibo_credits"
DAY_S = 86_400
#: When the first period of every subscription ends: 2100-01-01.
PERIOD_END = 4_102_444_800

Answer = tuple[int, dict[str, Any]]


@dataclass
class StripeServer:
    """The state of the fake Stripe, and its requests."""

    url: str = ""
    calls: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    customers: dict[str, dict[str, Any]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    checkouts: dict[str, dict[str, Any]] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: By identifier.
    meter_events: dict[str, dict[str, str]] = field(default_factory=dict)
    #: By idempotency key.
    replies: dict[str, tuple[dict[str, str], Answer]] = field(default_factory=dict)
    #: Asked first; what it returns is answered instead.
    fault: Callable[[str, str], Answer | None] = lambda _method, _path: None
    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0

    def asked(self, method: str, path: str) -> list[dict[str, str]]:
        """Return the parameters of each call."""
        return [sent for one, where, sent in self.calls if (one, where) == (method, path)]

    def fails(self, status: int, *, path: str = "/v1/") -> None:
        """Answer calls below a path with an error from now on."""
        error = {"error": {"type": "api_error", "message": "ana@people.test is not well"}}
        self.fault = lambda _, where: (status, error) if where.startswith(path) else None

    def works(self) -> None:
        """Answer again."""
        self.fault = lambda _method, _path: None

    @property
    def now(self) -> float:
        """The time of business, which tests move."""
        return clock.now().timestamp()

    @property
    def credits(self) -> list[tuple[str, int]]:
        """The reported credits per customer, in the order of their arrival."""
        return [
            (one["payload[stripe_customer_id]"], int(one["payload[value]"]))
            for one in self.meter_events.values()
        ]

    def subscribe(self, customer: str, plan: str = "indie", **changes: Any) -> dict[str, Any]:
        """Make a subscription, as a paid checkout does."""
        made = {
            "id": self._id("sub"),
            "object": "subscription",
            "created": 1_700_000_000 + self.count,
            "customer": customer,
            "status": "active",
            "cancel_at_period_end": False,
            "cancel_at": None,
            "items": {"object": "list", "data": [self._item(PRICES.get(plan, plan))]},
            **changes,
        }
        self.subscriptions[made["id"]] = made
        return made

    def change(self, subscription: Mapping[str, Any], **changes: Any) -> None:
        """Change a subscription; `plan` is the one to change to."""
        kept = self.subscriptions[subscription["id"]]
        plan = changes.pop("plan", None)
        if plan is not None:
            kept["items"]["data"][0]["price"]["id"] = PRICES.get(plan, plan)
        kept.update(changes)

    def delete(self, customer: str) -> None:
        """Delete a customer and, as Stripe does, all subscriptions at once."""
        del self.customers[customer]
        self.deleted.add(customer)
        for one in self.subscriptions.values():
            if one["customer"] == customer:
                one["status"] = "canceled"

    def pay(self, url: str) -> dict[str, Any]:
        """Pay a checkout page; it is closed then."""
        checkout = next(one for one in self.checkouts.values() if one["url"] == url)
        assert checkout["status"] == "open", "a page that is closed sells nothing"
        checkout["status"] = "complete"
        price = checkout["price"]
        plan = next(plan for plan, one in PRICES.items() if one == price)
        return self.subscribe(checkout["customer"], plan)

    def event(self, about: Mapping[str, Any], kind: str = "customer.subscription.updated") -> bytes:
        """Return an event as it goes over the wire."""
        event = {
            "id": self._id("evt"),
            "object": "event",
            "type": kind,
            "created": int(time.time()),  # noqa: TID251 - Stripe's own clock
            "data": {"object": about},
        }
        return json.dumps(event).encode()

    def answer(
        self, method: str, path: str, sent: dict[str, str], headers: Mapping[str, str]
    ) -> Answer:
        """Answer one call."""
        with self.lock:
            self.calls.append((method, path, sent))
            if found := self.fault(method, path):
                return found
            if headers.get("Authorization") != f"Bearer {API_KEY}":
                return _error(401, "Invalid API Key provided")
            key = headers.get("Idempotency-Key", "")
            if method == "POST" and key in self.replies:
                before, reply = self.replies[key]
                if before == sent:
                    return reply
                return _error(400, "Keys for idempotent requests", kind="idempotency_error")
            reply = self._route(method, path, sent)
            if method == "POST" and key and reply[0] < 500:
                self.replies[key] = (sent, reply)
            return reply

    def _route(self, method: str, path: str, sent: dict[str, str]) -> Answer:
        expiring = re.fullmatch(r"/v1/checkout/sessions/(\w+)/expire", path)
        if method == "POST" and expiring:
            return self._expire(expiring[1])
        routes: dict[tuple[str, str], Callable[[dict[str, str]], Answer]] = {
            ("POST", "/v1/customers"): self._customer,
            ("POST", "/v1/checkout/sessions"): self._checkout,
            ("GET", "/v1/checkout/sessions"): self._checkouts,
            ("GET", "/v1/subscriptions"): self._subscriptions,
            ("POST", "/v1/billing_portal/sessions"): self._portal,
            ("POST", "/v1/billing/meter_events"): self._meter_event,
        }
        if named := re.fullmatch(r"/v1/customers/(\w+)", path):
            return self._known(named[1], sent if method == "POST" else {})
        route = routes.get((method, path))
        return route(sent) if route else _error(404, f"Unrecognized request URL ({method}: {path})")

    def _customer(self, sent: dict[str, str]) -> Answer:
        made = {"id": self._id("cus"), "object": "customer", **_customer_of(sent)}
        self.customers[made["id"]] = made
        return 200, made

    def _known(self, customer: str, changes: dict[str, str]) -> Answer:
        if customer in self.deleted and not changes:
            return 200, {"id": customer, "object": "customer", "deleted": True}
        if customer not in self.customers:
            return _error(404, f"No such customer: '{customer}'", code="resource_missing")
        kept = self.customers[customer]
        changed = _customer_of(changes)
        kept["metadata"] = kept.get("metadata", {}) | changed.pop("metadata", {})
        kept.update(changed)
        return 200, kept

    def _checkout(self, sent: dict[str, str]) -> Answer:
        if sent["customer"] not in self.customers:
            return _error(400, "No such customer", code="resource_missing")
        if sent["line_items[0][price]"] not in PRICES.values():
            return _error(400, "No such price", code="resource_missing")
        assert sent["mode"] == "subscription"
        made = {
            "id": self._id("cs"),
            "object": "checkout.session",
            "created": 1_700_000_000 + self.count,
            "customer": sent["customer"],
            "status": "open",
            "price": sent["line_items[0][price]"],
            "url": f"https://checkout.stripe.com/c/{self.count}",
        }
        self.checkouts[str(made["id"])] = made
        return 200, made

    def _checkouts(self, sent: dict[str, str]) -> Answer:
        found = [
            one
            for one in self.checkouts.values()
            if (one["customer"], one["status"]) == (sent["customer"], sent["status"])
        ]
        return _list(found, "/v1/checkout/sessions")

    def _expire(self, checkout: str) -> Answer:
        if self.checkouts[checkout]["status"] != "open":
            return _error(400, "Only Checkout Sessions with a status in [open] can be expired")
        self.checkouts[checkout]["status"] = "expired"
        return 200, self.checkouts[checkout]

    def _subscriptions(self, sent: dict[str, str]) -> Answer:
        assert sent["status"] == "all"
        found = [one for one in self.subscriptions.values() if one["customer"] == sent["customer"]]
        return _list(found[::-1], "/v1/subscriptions")

    def _portal(self, sent: dict[str, str]) -> Answer:
        if sent["customer"] not in self.customers:
            return _error(400, "No such customer", code="resource_missing")
        made = {
            "id": self._id("bps"),
            "object": "billing_portal.session",
            "customer": sent["customer"],
            "url": f"https://billing.stripe.com/p/{self.count}",
        }
        return 200, made

    def _meter_event(self, sent: dict[str, str]) -> Answer:
        identifier, used_at = sent["identifier"], int(sent["timestamp"])
        if sent["event_name"] != METER:
            return _error(400, f"No active meter found for event name {sent['event_name']}.")
        if identifier in self.meter_events:
            return _error(400, f"An event already exists with identifier {identifier}.")
        if not self.now - 35 * DAY_S <= used_at <= self.now + 300:
            return _error(400, "The timestamp must be within the past 35 days.")
        if sent["payload[stripe_customer_id]"] not in self.customers:
            return _error(400, "No such customer", code="resource_missing")
        self.meter_events[identifier] = sent
        made = {
            "object": "billing.meter_event",
            "created": int(self.now),
            "event_name": METER,
            "identifier": identifier,
            "livemode": False,
            "payload": {
                "stripe_customer_id": sent["payload[stripe_customer_id]"],
                "value": sent["payload[value]"],
            },
            "timestamp": used_at,
        }
        return 200, made

    def _item(self, price: str) -> dict[str, Any]:
        return {
            "id": self._id("si"),
            "object": "subscription_item",
            "current_period_end": PERIOD_END,
            "price": {"id": price, "object": "price"},
        }

    def _id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.count:06d}"


def signature(payload: bytes, *, secret: str = WEBHOOK_SECRET, age_s: int = 0) -> str:
    """Return the header Stripe-Signature: HMAC-SHA256 over the time, a dot and the bytes."""
    now = int(time.time()) - age_s  # noqa: TID251 - Stripe's own clock
    signed = hmac.new(secret.encode(), f"{now}.".encode() + payload, hashlib.sha256).hexdigest()
    return f"t={now},v1={signed}"


@contextmanager
def running() -> Iterator[StripeServer]:
    """Serve on a free port of loopback while the block lasts."""
    state = StripeServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer is sent at once: a body after its headers would wait for them to be confirmed.
        wbufsize = -1

        def do_GET(self) -> None:
            self._serve(urlsplit(self.path).query)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._serve(self.rfile.read(length).decode())

        def _serve(self, sent: str) -> None:
            path = urlsplit(self.path).path
            fields = dict(parse_qsl(sent, keep_blank_values=True))
            status, body = state.answer(
                self.command, path, fields, cast("Mapping[str, str]", self.headers)
            )
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Request-Id", "req_stripe")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _customer_of(sent: Mapping[str, str]) -> dict[str, Any]:
    """Return a customer's fields as they were sent."""
    metadata = {
        name.removeprefix("metadata[").removesuffix("]"): value
        for name, value in sent.items()
        if name.startswith("metadata[")
    }
    fields = {name: value for name, value in sent.items() if "[" not in name}
    return fields | ({"metadata": metadata} if metadata else {})


def _list(found: list[dict[str, Any]], url: str) -> Answer:
    return 200, {"object": "list", "data": found, "has_more": False, "url": url}


def _error(
    status: int, message: str, *, kind: str = "invalid_request_error", code: str | None = None
) -> Answer:
    return status, {"error": {"type": kind, "message": message, "code": code}}
