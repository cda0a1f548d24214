"""Stripe: the real SDK over HTTP against a small server, and signed events."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.errors import Overloaded
from recibo.outside.payments import Checkout
from recibo.outside.stripe_payments import Account, Stripe
from recibo.shapes.plans import PlanName
from recibo.shapes.states import AuditAction
from recibo.store.tables import ProviderEvent, Subscription
from tests import billing, installation, people, stripe_server
from tests.installation import Installation
from tests.people import Session
from tests.stripe_server import PERIOD_END, StripeServer, signature

EVENTS = "/v1/billing/provider-events"
FREE = ("free", "active")


@dataclass(frozen=True, slots=True)
class Shop:
    """A service that sells through the small Stripe, and the owner of an org."""

    i: Installation
    stripe: StripeServer
    ana: Session

    async def customer(self) -> str:
        """Return the org's customer at Stripe, made by a first checkout."""
        await billing.checkout(self.i, self.ana)
        [row] = await self.i.rows(Subscription)
        return row.customer_id

    async def bought(self, plan: str = "indie", **changes: Any) -> dict[str, Any]:
        """Buy a plan: a page is paid, and Stripe tells of it."""
        made = self.stripe.subscribe(await self.customer(), plan, **changes)
        await self.told(made)
        return made

    async def told(
        self, about: dict[str, Any], kind: str = "customer.subscription.updated"
    ) -> bytes:
        """Have Stripe tell of something; return the event."""
        payload = self.stripe.event(about, kind)
        answer = await self.send(payload)
        assert (200, {"ok": True}) == (answer.status_code, answer.json())
        return payload

    async def send(self, payload: bytes, signed: str | None = None) -> httpx.Response:
        """Send an event; it is signed as Stripe does unless another signature is given."""
        header = signature(payload) if signed is None else signed
        headers = {"Stripe-Signature": header, "Content-Type": "application/json"}
        return await self.i.stranger.post(EVENTS, content=payload, headers=headers)

    async def has(self) -> tuple[str, str]:
        """Return the org's plan and the status of its subscription."""
        told = await billing.subscription(self.i, self.ana)
        return told["plan"], told["status"]


@pytest.fixture
def stripe() -> Iterator[StripeServer]:
    with stripe_server.running() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # One try less to wait for.
    monkeypatch.setattr("stripe.HTTPClient.INITIAL_DELAY", 0.0, raising=False)


def settings(stripe: StripeServer) -> dict[str, Any]:
    return {
        "payments": "stripe",
        "stripe_api_key": stripe_server.API_KEY,
        "stripe_webhook_secret": stripe_server.WEBHOOK_SECRET,
        "stripe_api_base": stripe.url,
        **{f"stripe_price_{plan}": price for plan, price in stripe_server.PRICES.items()},
    }


@pytest.fixture
async def shop(
    database_url: str, tmp_path: Path, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shop]:
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)
    async with installation.opened(
        database_url, tmp_path, works=False, **settings(stripe)
    ) as opened:
        yield Shop(opened, stripe, await people.signed_up(opened))


async def test_first_checkout_makes_a_customer_with_the_billing_address(shop: Shop) -> None:
    first = await billing.checkout(shop.i, shop.ana, "startup")
    second = await billing.checkout(shop.i, shop.ana, "indie")

    [customer] = shop.stripe.asked("POST", "/v1/customers")
    assert (shop.ana.email, shop.ana.org_id) == (customer["email"], customer["metadata[org_id]"])
    [sent, _] = shop.stripe.asked("POST", "/v1/checkout/sessions")
    assert ("subscription", "price_startup", "1", billing.SUCCESS, billing.CANCEL) == (
        sent["mode"],
        sent["line_items[0][price]"],
        sent["line_items[0][quantity]"],
        sent["success_url"],
        sent["cancel_url"],
    )
    assert first.startswith("https://checkout.stripe.com/")
    assert first != second
    assert FREE == await shop.has()


async def test_portal_opens_from_the_first_checkout_on(shop: Shop) -> None:
    before = await billing.ask_portal(shop.i, shop.ana)
    customer = await shop.customer()
    url = await billing.portal(shop.i, shop.ana)

    assert 400 == before.status_code
    assert url.startswith("https://billing.stripe.com/")
    assert [{"customer": customer, "return_url": billing.BACK}] == shop.stripe.asked(
        "POST", "/v1/billing_portal/sessions"
    )


async def test_a_paid_checkout_counts_once_stripe_tells_of_it(shop: Shop) -> None:
    made = shop.stripe.pay(await billing.checkout(shop.i, shop.ana, "startup"))
    before = await shop.has()
    await shop.told(
        {"id": "cs_1", "object": "checkout.session", "customer": made["customer"]},
        "checkout.session.completed",
    )
    told = await billing.subscription(shop.i, shop.ana)

    assert FREE == before
    assert ("startup", "active", 25_000, "2100-01-01T00:00:00Z") == (
        told["plan"],
        told["status"],
        told["quota_receipts_month"],
        told["current_period_end"],
    )


KEPT, LOST = "indie", "free"
STANDINGS = {
    "active": ("active", KEPT),
    "trialing": ("trialing", KEPT),
    "past_due": ("past_due", KEPT),
    "canceled": ("canceled", LOST),
    "unpaid": ("unpaid", LOST),
    "incomplete": ("incomplete", LOST),
    "incomplete_expired": ("canceled", LOST),
    "paused": ("unpaid", LOST),
}


@pytest.mark.parametrize("status", STANDINGS)
async def test_what_stripe_says_of_a_subscription_decides_the_plan(shop: Shop, status: str) -> None:
    made = await shop.bought()
    shop.stripe.change(made, status=status)
    await shop.told(made)
    told = await billing.subscription(shop.i, shop.ana)

    assert STANDINGS[status] == (told["status"], told["plan"])
    has_period = status not in ("canceled", "incomplete", "incomplete_expired")
    assert has_period == (told["current_period_end"] is not None)


async def test_there_is_no_period_before_the_first_invoice_is_paid(shop: Shop) -> None:
    made = await shop.bought(status="incomplete")
    before = await billing.subscription(shop.i, shop.ana)
    shop.stripe.change(made, status="active")
    await shop.told(
        {"id": "in_1", "object": "invoice", "customer": made["customer"]}, "invoice.paid"
    )
    after = await billing.subscription(shop.i, shop.ana)

    assert ("free", "incomplete", None) == (
        before["plan"], before["status"], before["current_period_end"]
    )  # fmt: skip
    assert ("indie", "active") == (after["plan"], after["status"])
    assert after["current_period_end"] is not None


@pytest.mark.parametrize(
    "changes", [{"cancel_at_period_end": True}, {"cancel_at": PERIOD_END}], ids=["flag", "day"]
)
async def test_a_cancelled_subscription_says_so_and_keeps_the_plan(
    shop: Shop, changes: dict[str, Any]
) -> None:
    made = await shop.bought()
    shop.stripe.change(made, **changes)
    await shop.told(made)
    told = await billing.subscription(shop.i, shop.ana)

    assert ("indie", "active", True) == (
        told["plan"], told["status"], told["cancel_at_period_end"]
    )  # fmt: skip


async def test_events_out_of_order_end_where_stripe_is(shop: Shop) -> None:
    customer = await shop.customer()
    made = shop.stripe.subscribe(customer)
    created = shop.stripe.event(made, "customer.subscription.created")
    shop.stripe.change(made, plan="scale")
    updated = shop.stripe.event(made)
    shop.stripe.change(made, status="canceled")
    deleted = shop.stripe.event(made, "customer.subscription.deleted")
    seen = []
    for payload in (deleted, created, updated):
        assert 200 == (await shop.send(payload)).status_code
        seen.append(await shop.has())

    assert [("free", "canceled")] * 3 == seen


async def test_an_event_that_was_slow_to_ask_does_not_undo_a_later_one(shop: Shop) -> None:
    """The first event asks Stripe, hears `indie`, and is held up while a second one comes."""
    made = await shop.bought()
    held, go_on = threading.Event(), threading.Event()
    stale = json.loads(json.dumps(made))
    shop.stripe.change(made, plan="scale")
    asked: list[str] = []

    def hold(method: str, path: str) -> stripe_server.Answer | None:
        if (method, path) != ("GET", "/v1/subscriptions"):
            return None
        asked.append(path)
        if len(asked) > 1:
            return None
        shop.stripe.lock.release()
        held.set()
        go_on.wait(20)
        shop.stripe.lock.acquire()
        stale["status"] = "past_due"
        return 200, {"object": "list", "data": [stale], "has_more": False, "url": path}

    shop.stripe.fault = hold
    slow = asyncio.create_task(shop.send(shop.stripe.event(made)))
    await asyncio.to_thread(held.wait, 20)
    await shop.told(made)
    go_on.set()

    assert 200 == (await slow).status_code
    assert 3 == len(asked), "the slow one asked again"
    assert ("scale", "active") == await shop.has()


async def test_an_event_that_comes_twice_counts_once(shop: Shop) -> None:
    made = await shop.bought()
    shop.stripe.change(made, plan="scale")
    payload = await shop.told(made)
    asked = len(shop.stripe.calls)
    again = await asyncio.gather(*[shop.send(payload) for _ in range(5)])

    assert [200] * 5 == [answer.status_code for answer in again]
    assert asked == len(shop.stripe.calls)
    assert 2 == len(await people.audited(shop.i, shop.ana, AuditAction.SUBSCRIPTION_UPDATED))


async def test_an_event_that_comes_many_times_at_once_counts_once(shop: Shop) -> None:
    made = shop.stripe.subscribe(await shop.customer(), "startup")
    payload = shop.stripe.event(made)
    answers = await asyncio.gather(*[shop.send(payload) for _ in range(8)])

    assert [200] * 8 == [answer.status_code for answer in answers]
    assert ("startup", "active") == await shop.has()
    assert 1 == len(await people.audited(shop.i, shop.ana, AuditAction.SUBSCRIPTION_UPDATED))
    assert 1 == len(await shop.i.rows(ProviderEvent))


async def test_forged_events_are_400_and_ask_nobody(shop: Shop) -> None:
    made = shop.stripe.subscribe(await shop.customer(), "scale")
    payload = shop.stripe.event(made)
    asked = len(shop.stripe.calls)
    good = signature(payload)
    for signed in (
        *("", "x", "t=,v1=", "v1=ab", "t=1,v0=ab", "\xe9", "t=1,v1=\xe9", good[:-1]),
        *(good.replace("v1=", "v0="), good.replace("t=", "t=1")),
        signature(payload, secret="whsec_other"),  # noqa: S106
        signature(payload + b" "),
        signature(payload, age_s=301),
    ):
        headers = [(b"Stripe-Signature", signed.encode("latin-1"))]
        answer = await shop.i.stranger.post(EVENTS, content=payload, headers=headers)
        assert (400, "validation_error") == (answer.status_code, answer.json()["error"]["code"])
    assert 400 == (await shop.i.stranger.post(EVENTS, content=payload)).status_code

    assert asked == len(shop.stripe.calls)
    assert FREE == await shop.has()
    assert 200 == (await shop.send(payload, signature(payload, age_s=290))).status_code


async def test_signed_bytes_that_are_no_event_are_400(shop: Shop) -> None:
    for payload in (
        *(b"", b"x", b"null", b"[]", b"{}", b'{"id": "evt_1"}', b'{"\xff": 1}'[:1]),
        b'{"id": "evt_1", "type": "invoice.paid", "data": {"object": null}}',
        b"[" * 100_000,
    ):
        assert 400 == (await shop.send(payload)).status_code
    assert 400 == (await shop.send(b"\xff", "t=1,v1=ab")).status_code
    assert 400 == (await shop.send(b" " * (1024 * 1024 + 1))).status_code


async def test_events_about_something_else_are_taken_and_change_nothing(shop: Shop) -> None:
    made = await shop.bought()
    asked = len(shop.stripe.calls)
    await shop.told({**made, "customer": "cus_of_another_service"})
    await shop.told({**made, "customer": None})
    await shop.told({**made, "customer": {"id": made["customer"]}}, "charge.succeeded")
    await shop.told({"id": "price_1", "object": "price"}, "price.updated")

    assert asked == len(shop.stripe.calls)
    assert ("indie", "active") == await shop.has()


async def test_an_event_is_replayed_after_stripe_was_down(shop: Shop) -> None:
    made = shop.stripe.subscribe(await shop.customer(), "scale")
    payload = shop.stripe.event(made)
    shop.stripe.fails(500)
    failed = await shop.send(payload)
    shop.stripe.works()
    before = await shop.has()
    again = await shop.send(payload)

    assert (503, "server_error") == (failed.status_code, failed.json()["error"]["code"])
    assert (FREE, 200) == (before, again.status_code)
    assert ("scale", "active") == await shop.has()


async def test_a_price_that_no_plan_has_changes_no_plan(shop: Shop) -> None:
    made = await shop.bought("indie")
    shop.stripe.change(made, plan="price_of_something_else")
    await shop.told(made)

    assert ("indie", "active") == await shop.has()
    assert any("price that no plan has" in str(line["event"]) for line in shop.i.logs)


async def test_a_subscription_that_stripe_forgot_is_over(shop: Shop) -> None:
    made = await shop.bought()
    del shop.stripe.subscriptions[made["id"]]
    await shop.told(made, "customer.subscription.deleted")

    assert ("free", "canceled") == await shop.has()


async def test_who_has_a_subscription_gets_a_page_that_changes_it(shop: Shop) -> None:
    made = await shop.bought("indie")
    pages = len(shop.stripe.checkouts)
    url = await billing.checkout(shop.i, shop.ana, "scale")

    [sent] = shop.stripe.asked("POST", "/v1/billing_portal/sessions")
    assert url.startswith("https://billing.stripe.com/")
    assert pages == len(shop.stripe.checkouts)
    update = "flow_data[subscription_update_confirm]"
    assert (made["id"], made["items"]["data"][0]["id"], "price_scale", billing.SUCCESS) == (
        sent[f"{update}[subscription]"],
        sent[f"{update}[items][0][id]"],
        sent[f"{update}[items][0][price]"],
        sent["flow_data[after_completion][redirect][return_url]"],
    )


@pytest.mark.parametrize("status", ["active", "trialing", "past_due", "unpaid", "paused"])
async def test_no_second_subscription_is_sold_even_before_stripe_tells(
    shop: Shop, status: str
) -> None:
    shop.stripe.subscribe(await shop.customer(), "indie", status=status)
    pages = len(shop.stripe.checkouts)
    urls = [await billing.checkout(shop.i, shop.ana, plan) for plan in ("indie", "scale")]

    assert all(url.startswith("https://billing.stripe.com/") for url in urls)
    assert pages == len(shop.stripe.checkouts)


async def test_only_the_newest_checkout_page_can_be_paid(shop: Shop) -> None:
    for plan in ("indie", "startup", "scale"):
        await billing.checkout(shop.i, shop.ana, plan)

    states = [(one["price"], one["status"]) for one in shop.stripe.checkouts.values()]
    assert [("price_indie", "expired"), ("price_startup", "expired"), ("price_scale", "open")] == (
        states
    )


async def test_a_page_that_is_paid_meanwhile_is_changed_and_not_doubled(shop: Shop) -> None:
    first = await billing.checkout(shop.i, shop.ana, "indie")
    paid: list[dict[str, Any]] = []

    def pay_first(method: str, path: str) -> None:
        if (method, path) == ("POST", "/v1/checkout/sessions") and not paid:
            paid.append(shop.stripe.pay(first))

    shop.stripe.fault = pay_first
    second = await billing.checkout(shop.i, shop.ana, "scale")

    assert second.startswith("https://billing.stripe.com/")
    assert {"complete", "expired"} == {one["status"] for one in shop.stripe.checkouts.values()}


async def test_a_subscription_that_is_over_is_bought_anew(shop: Shop) -> None:
    made = await shop.bought("indie")
    shop.stripe.change(made, status="canceled")
    await shop.told(made)
    again = shop.stripe.pay(await billing.checkout(shop.i, shop.ana, "startup"))
    await shop.told(again, "customer.subscription.created")
    # What is over still sends events.
    await shop.told(made)

    assert ("startup", "active") == await shop.has()
    assert 1 == len(shop.stripe.customers)


@pytest.mark.parametrize(
    ("status", "answered"), [(500, 503), (503, 503), (429, 503), (401, 500), (402, 500)]
)
async def test_stripe_that_fails_is_a_clear_5xx_and_nothing_half_done(
    shop: Shop, status: int, answered: int
) -> None:
    shop.stripe.fails(status)
    answer = await billing.ask_checkout(shop.i, shop.ana)
    rows = await shop.i.rows(Subscription)
    portal = await billing.ask_portal(shop.i, shop.ana)

    error = answer.json()["error"]
    assert (answered, "server_error") == (answer.status_code, error["code"])
    assert "payment provider" in error["message"]
    assert (answered == 503) == ("retry_after" in error)
    assert "ana@people.test" not in answer.text
    assert ([], 400) == (rows, portal.status_code)
    assert [] == await people.audited(shop.i, shop.ana, AuditAction.SUBSCRIPTION_CHECKOUT_STARTED)
    shop.stripe.works()
    await billing.checkout(shop.i, shop.ana)


async def test_a_checkout_that_failed_midway_makes_no_second_customer(shop: Shop) -> None:
    shop.stripe.fails(500, path="/v1/checkout")
    failed = await billing.ask_checkout(shop.i, shop.ana)
    portal = await billing.ask_portal(shop.i, shop.ana)
    shop.stripe.works()
    await billing.checkout(shop.i, shop.ana)

    assert (503, 200) == (failed.status_code, portal.status_code)
    assert 1 == len(shop.stripe.customers)
    assert 1 == len(
        await people.audited(shop.i, shop.ana, AuditAction.SUBSCRIPTION_CHECKOUT_STARTED)
    )


async def test_first_checkouts_at_once_make_one_customer(shop: Shop) -> None:
    answers = await asyncio.gather(*[billing.ask_checkout(shop.i, shop.ana) for _ in range(5)])

    assert [200] * 5 == [answer.status_code for answer in answers]
    assert 1 == len(shop.stripe.customers)
    assert 1 == [one["status"] for one in shop.stripe.checkouts.values()].count("open")


async def test_neither_key_nor_address_is_logged(shop: Shop) -> None:
    await shop.bought()
    shop.stripe.fails(402)
    await billing.ask_portal(shop.i, shop.ana)
    said = str([line for line in shop.i.logs if line["event"] == "stripe failed"])

    assert "req_stripe" in said
    for secret in (stripe_server.API_KEY, stripe_server.WEBHOOK_SECRET, shop.ana.email):
        assert secret not in str(shop.i.logs)


async def test_stripe_that_is_not_there_is_down() -> None:
    gone = Stripe(_account("http://127.0.0.1:1"))
    with pytest.raises(Overloaded):
        await gone.portal("cus_1", return_url=billing.BACK)
    gone.close()


async def test_stripe_that_hangs_is_waited_for_no_longer_than_the_limit(
    stripe: StripeServer,
) -> None:
    go_on = threading.Event()

    def hang(_method: str, _path: str) -> None:
        go_on.wait(20)

    stripe.fault = hang
    slow = Stripe(_account(stripe.url), limit_s=0.2)
    try:
        with pytest.raises(Overloaded):
            await slow.checkout("cus_1", Checkout(PlanName.INDIE, "https://a", "https://b"))
    finally:
        go_on.set()
        await asyncio.to_thread(slow.close)


async def test_with_stripe_there_is_no_sandbox_and_with_the_sandbox_no_event(
    shop: Shop, sqlite_url: str, tmp_path: Path
) -> None:
    pages = [await shop.i.stranger.get(f"/sandbox{path}") for path in ("", "/checkout", "/portal")]
    async with installation.opened(sqlite_url, tmp_path / "sandbox", works=False) as i:
        payload = shop.stripe.event({})
        headers = {"Stripe-Signature": signature(payload)}
        event = await i.stranger.post(EVENTS, content=payload, headers=headers)

    assert [(404, "not_found")] * 4 == [
        (answer.status_code, answer.json()["error"]["code"]) for answer in (*pages, event)
    ]


def _account(url: str) -> Account:
    prices = {PlanName(plan): price for plan, price in stripe_server.PRICES.items()}
    return Account(stripe_server.API_KEY, stripe_server.WEBHOOK_SECRET, url, prices)
