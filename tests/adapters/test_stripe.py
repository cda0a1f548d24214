"""Selling through Stripe: the real SDK over HTTP against a small server."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.payments import Checkout
from recibo.adapters.stripe_payments import Account, Stripe
from recibo.errors import Overloaded
from recibo.schemas.plans import PlanName
from recibo.schemas.states import AuditAction
from recibo.store.tables import Subscription
from tests import billing, installation, people, stripe_server
from tests.stripe_fixtures import EVENTS, FREE, StripeSetup
from tests.stripe_server import StripeServer, signature


async def test_first_checkout_makes_a_customer_with_the_billing_address(
    stripe_setup: StripeSetup,
) -> None:
    first = await billing.checkout(stripe_setup.i, stripe_setup.ana, "startup")
    second = await billing.checkout(stripe_setup.i, stripe_setup.ana, "indie")

    [customer] = stripe_setup.stripe.asked("POST", "/v1/customers")
    assert (stripe_setup.ana.email, stripe_setup.ana.org_id) == (
        customer["email"],
        customer["metadata[org_id]"],
    )
    [sent, _] = stripe_setup.stripe.asked("POST", "/v1/checkout/sessions")
    assert ("subscription", "price_startup", "1", billing.SUCCESS, billing.CANCEL) == (
        sent["mode"],
        sent["line_items[0][price]"],
        sent["line_items[0][quantity]"],
        sent["success_url"],
        sent["cancel_url"],
    )
    assert first.startswith("https://checkout.stripe.com/")
    assert first != second
    assert FREE == await stripe_setup.plan_and_status()


async def test_portal_opens_from_the_first_checkout_on(stripe_setup: StripeSetup) -> None:
    before = await billing.ask_portal(stripe_setup.i, stripe_setup.ana)
    customer = await stripe_setup.customer()
    url = await billing.portal(stripe_setup.i, stripe_setup.ana)

    assert 400 == before.status_code
    assert url.startswith("https://billing.stripe.com/")
    assert [{"customer": customer, "return_url": billing.BACK}] == stripe_setup.stripe.asked(
        "POST", "/v1/billing_portal/sessions"
    )


async def test_who_has_a_subscription_gets_a_page_that_changes_it(
    stripe_setup: StripeSetup,
) -> None:
    made = await stripe_setup.subscribe("indie")
    pages = len(stripe_setup.stripe.checkouts)
    url = await billing.checkout(stripe_setup.i, stripe_setup.ana, "scale")

    [sent] = stripe_setup.stripe.asked("POST", "/v1/billing_portal/sessions")
    assert url.startswith("https://billing.stripe.com/")
    assert pages == len(stripe_setup.stripe.checkouts)
    update = "flow_data[subscription_update_confirm]"
    assert (made["id"], made["items"]["data"][0]["id"], "price_scale", billing.SUCCESS) == (
        sent[f"{update}[subscription]"],
        sent[f"{update}[items][0][id]"],
        sent[f"{update}[items][0][price]"],
        sent["flow_data[after_completion][redirect][return_url]"],
    )


@pytest.mark.parametrize("status", ["active", "trialing", "past_due", "unpaid", "paused"])
async def test_no_second_subscription_is_sold_before_the_first_event(
    stripe_setup: StripeSetup, status: str
) -> None:
    stripe_setup.stripe.subscribe(await stripe_setup.customer(), "indie", status=status)
    pages = len(stripe_setup.stripe.checkouts)
    urls = [
        await billing.checkout(stripe_setup.i, stripe_setup.ana, plan)
        for plan in ("indie", "scale")
    ]

    assert all(url.startswith("https://billing.stripe.com/") for url in urls)
    assert pages == len(stripe_setup.stripe.checkouts)


async def test_only_the_newest_checkout_page_can_be_paid(stripe_setup: StripeSetup) -> None:
    for plan in ("indie", "startup", "scale"):
        await billing.checkout(stripe_setup.i, stripe_setup.ana, plan)

    states = [(one["price"], one["status"]) for one in stripe_setup.stripe.checkouts.values()]
    assert [("price_indie", "expired"), ("price_startup", "expired"), ("price_scale", "open")] == (
        states
    )


async def test_a_page_that_is_paid_meanwhile_is_changed_and_not_doubled(
    stripe_setup: StripeSetup,
) -> None:
    first = await billing.checkout(stripe_setup.i, stripe_setup.ana, "indie")
    paid: list[dict[str, Any]] = []

    def pay_first(method: str, path: str) -> None:
        if (method, path) == ("POST", "/v1/checkout/sessions") and not paid:
            paid.append(stripe_setup.stripe.pay(first))

    stripe_setup.stripe.fault = pay_first
    second = await billing.checkout(stripe_setup.i, stripe_setup.ana, "scale")

    assert second.startswith("https://billing.stripe.com/")
    assert {"complete", "expired"} == {
        one["status"] for one in stripe_setup.stripe.checkouts.values()
    }


@pytest.mark.parametrize(
    ("status", "answered"), [(500, 503), (503, 503), (429, 503), (401, 500), (402, 500)]
)
async def test_stripe_that_fails_is_a_clear_5xx_and_nothing_half_done(
    stripe_setup: StripeSetup, status: int, answered: int
) -> None:
    stripe_setup.stripe.fails(status)
    answer = await billing.ask_checkout(stripe_setup.i, stripe_setup.ana)
    rows = await stripe_setup.i.rows(Subscription)
    portal = await billing.ask_portal(stripe_setup.i, stripe_setup.ana)

    error = answer.json()["error"]
    assert (answered, "server_error") == (answer.status_code, error["code"])
    assert "payment provider" in error["message"]
    assert (answered == 503) == ("retry_after" in error)
    assert "ana@people.test" not in answer.text
    assert ([], 400) == (rows, portal.status_code)
    assert [] == await people.audited(
        stripe_setup.i, stripe_setup.ana, AuditAction.SUBSCRIPTION_CHECKOUT_STARTED
    )
    stripe_setup.stripe.works()
    await billing.checkout(stripe_setup.i, stripe_setup.ana)


async def test_a_checkout_that_failed_midway_makes_no_second_customer(
    stripe_setup: StripeSetup,
) -> None:
    stripe_setup.stripe.fails(500, path="/v1/checkout")
    failed = await billing.ask_checkout(stripe_setup.i, stripe_setup.ana)
    portal = await billing.ask_portal(stripe_setup.i, stripe_setup.ana)
    stripe_setup.stripe.works()
    await billing.checkout(stripe_setup.i, stripe_setup.ana)

    assert (503, 200) == (failed.status_code, portal.status_code)
    assert 1 == len(stripe_setup.stripe.customers)
    assert 1 == len(
        await people.audited(
            stripe_setup.i, stripe_setup.ana, AuditAction.SUBSCRIPTION_CHECKOUT_STARTED
        )
    )


async def test_first_checkouts_at_once_make_one_customer(stripe_setup: StripeSetup) -> None:
    answers = await asyncio.gather(
        *[billing.ask_checkout(stripe_setup.i, stripe_setup.ana) for _ in range(5)]
    )

    assert [200] * 5 == [answer.status_code for answer in answers]
    assert 1 == len(stripe_setup.stripe.customers)
    assert 1 == [one["status"] for one in stripe_setup.stripe.checkouts.values()].count("open")


async def test_neither_key_nor_address_is_logged(stripe_setup: StripeSetup) -> None:
    await stripe_setup.subscribe()
    stripe_setup.stripe.fails(402)
    await billing.ask_portal(stripe_setup.i, stripe_setup.ana)
    said = str([line for line in stripe_setup.i.logs if line["event"] == "stripe failed"])

    assert "req_stripe" in said
    for secret in (stripe_server.API_KEY, stripe_server.WEBHOOK_SECRET, stripe_setup.ana.email):
        assert secret not in str(stripe_setup.i.logs)


@pytest.mark.usefixtures("stripe")
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
    stripe_setup: StripeSetup, sqlite_url: str, tmp_path: Path
) -> None:
    pages = [
        await stripe_setup.i.stranger.get(f"/sandbox{path}")
        for path in ("", "/checkout", "/portal")
    ]
    async with installation.start(sqlite_url, tmp_path / "sandbox", with_worker=False) as i:
        payload = stripe_setup.stripe.event({})
        headers = {"Stripe-Signature": signature(payload)}
        event = await i.stranger.post(EVENTS, content=payload, headers=headers)

    assert [(404, "not_found")] * 4 == [
        (answer.status_code, answer.json()["error"]["code"]) for answer in (*pages, event)
    ]


def _account(url: str) -> Account:
    prices = {PlanName(plan): price for plan, price in stripe_server.PRICES.items()}
    return Account(stripe_server.API_KEY, stripe_server.WEBHOOK_SECRET, url, prices)
