"""Events of Stripe: late, twice, out of order, forged; the plan ends where Stripe is."""

import asyncio
import json
import threading
from typing import Any

import pytest

from recibo.schemas.states import AuditAction
from recibo.store.tables import ProviderEvent
from tests import billing, people, stripe_server
from tests.stripe_fixtures import EVENTS, FREE, StripeSetup
from tests.stripe_server import PERIOD_END, signature


async def test_paid_checkout_takes_effect_with_its_event(stripe_setup: StripeSetup) -> None:
    made = stripe_setup.stripe.pay(
        await billing.checkout(stripe_setup.i, stripe_setup.ana, "startup")
    )
    before = await stripe_setup.plan_and_status()
    await stripe_setup.deliver_event(
        {"id": "cs_1", "object": "checkout.session", "customer": made["customer"]},
        "checkout.session.completed",
    )
    subscription = await billing.subscription(stripe_setup.i, stripe_setup.ana)

    assert FREE == before
    assert ("startup", "active", 25_000, "2100-01-01T00:00:00Z") == (
        subscription["plan"],
        subscription["status"],
        subscription["quota_receipts_month"],
        subscription["current_period_end"],
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
async def test_what_stripe_says_of_a_subscription_decides_the_plan(
    stripe_setup: StripeSetup, status: str
) -> None:
    made = await stripe_setup.subscribe()
    stripe_setup.stripe.change(made, status=status)
    await stripe_setup.deliver_event(made)
    subscription = await billing.subscription(stripe_setup.i, stripe_setup.ana)

    assert STANDINGS[status] == (subscription["status"], subscription["plan"])
    has_period = status not in ("canceled", "incomplete", "incomplete_expired")
    assert has_period == (subscription["current_period_end"] is not None)


async def test_there_is_no_period_before_the_first_invoice_is_paid(
    stripe_setup: StripeSetup,
) -> None:
    made = await stripe_setup.subscribe(status="incomplete")
    before = await billing.subscription(stripe_setup.i, stripe_setup.ana)
    stripe_setup.stripe.change(made, status="active")
    await stripe_setup.deliver_event(
        {"id": "in_1", "object": "invoice", "customer": made["customer"]}, "invoice.paid"
    )
    after = await billing.subscription(stripe_setup.i, stripe_setup.ana)

    assert ("free", "incomplete", None) == (
        before["plan"], before["status"], before["current_period_end"]
    )  # fmt: skip
    assert ("indie", "active") == (after["plan"], after["status"])
    assert after["current_period_end"] is not None


@pytest.mark.parametrize(
    "changes", [{"cancel_at_period_end": True}, {"cancel_at": PERIOD_END}], ids=["flag", "day"]
)
async def test_a_cancelled_subscription_says_so_and_keeps_the_plan(
    stripe_setup: StripeSetup, changes: dict[str, Any]
) -> None:
    made = await stripe_setup.subscribe()
    stripe_setup.stripe.change(made, **changes)
    await stripe_setup.deliver_event(made)
    subscription = await billing.subscription(stripe_setup.i, stripe_setup.ana)

    assert ("indie", "active", True) == (
        subscription["plan"], subscription["status"], subscription["cancel_at_period_end"]
    )  # fmt: skip


async def test_events_out_of_order_end_where_stripe_is(stripe_setup: StripeSetup) -> None:
    customer = await stripe_setup.customer()
    made = stripe_setup.stripe.subscribe(customer)
    created = stripe_setup.stripe.event(made, "customer.subscription.created")
    stripe_setup.stripe.change(made, plan="scale")
    updated = stripe_setup.stripe.event(made)
    stripe_setup.stripe.change(made, status="canceled")
    deleted = stripe_setup.stripe.event(made, "customer.subscription.deleted")
    seen = []
    for payload in (deleted, created, updated):
        assert 200 == (await stripe_setup.send(payload)).status_code
        seen.append(await stripe_setup.plan_and_status())

    assert [("free", "canceled")] * 3 == seen


async def test_an_event_that_was_slow_to_ask_does_not_undo_a_later_one(
    stripe_setup: StripeSetup,
) -> None:
    """The first event asks Stripe, hears `indie`, and is held up while a second one comes."""
    made = await stripe_setup.subscribe()
    held, go_on = threading.Event(), threading.Event()
    stale = json.loads(json.dumps(made))
    stripe_setup.stripe.change(made, plan="scale")
    asked: list[str] = []

    def hold(method: str, path: str) -> stripe_server.Answer | None:
        if (method, path) != ("GET", "/v1/subscriptions"):
            return None
        asked.append(path)
        if len(asked) > 1:
            return None
        stripe_setup.stripe.lock.release()
        held.set()
        go_on.wait(20)
        stripe_setup.stripe.lock.acquire()
        stale["status"] = "past_due"
        return 200, {"object": "list", "data": [stale], "has_more": False, "url": path}

    stripe_setup.stripe.fault = hold
    slow = asyncio.create_task(stripe_setup.send(stripe_setup.stripe.event(made)))
    await asyncio.to_thread(held.wait, 20)
    await stripe_setup.deliver_event(made)
    go_on.set()

    assert 200 == (await slow).status_code
    assert 3 == len(asked), "the slow one asked again"
    assert ("scale", "active") == await stripe_setup.plan_and_status()


async def test_an_event_that_comes_twice_counts_once(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe()
    stripe_setup.stripe.change(made, plan="scale")
    payload = await stripe_setup.deliver_event(made)
    asked = len(stripe_setup.stripe.calls)
    again = await asyncio.gather(*[stripe_setup.send(payload) for _ in range(5)])

    assert [200] * 5 == [answer.status_code for answer in again]
    assert asked == len(stripe_setup.stripe.calls)
    assert 2 == len(
        await people.audited(stripe_setup.i, stripe_setup.ana, AuditAction.SUBSCRIPTION_UPDATED)
    )


async def test_an_event_that_comes_many_times_at_once_counts_once(
    stripe_setup: StripeSetup,
) -> None:
    made = stripe_setup.stripe.subscribe(await stripe_setup.customer(), "startup")
    payload = stripe_setup.stripe.event(made)
    answers = await asyncio.gather(*[stripe_setup.send(payload) for _ in range(8)])

    assert [200] * 8 == [answer.status_code for answer in answers]
    assert ("startup", "active") == await stripe_setup.plan_and_status()
    assert 1 == len(
        await people.audited(stripe_setup.i, stripe_setup.ana, AuditAction.SUBSCRIPTION_UPDATED)
    )
    assert 1 == len(await stripe_setup.i.rows(ProviderEvent))


async def test_forged_events_are_400_without_a_request_to_stripe(stripe_setup: StripeSetup) -> None:
    made = stripe_setup.stripe.subscribe(await stripe_setup.customer(), "scale")
    payload = stripe_setup.stripe.event(made)
    asked = len(stripe_setup.stripe.calls)
    good = signature(payload)
    for signed in (
        *("", "x", "t=,v1=", "v1=ab", "t=1,v0=ab", "\xe9", "t=1,v1=\xe9", good[:-1]),
        *(good.replace("v1=", "v0="), good.replace("t=", "t=1")),
        signature(payload, secret="whsec_other"),  # noqa: S106
        signature(payload + b" "),
        signature(payload, age_s=301),
    ):
        headers = [(b"Stripe-Signature", signed.encode("latin-1"))]
        answer = await stripe_setup.i.stranger.post(EVENTS, content=payload, headers=headers)
        assert (400, "validation_error") == (answer.status_code, answer.json()["error"]["code"])
    assert 400 == (await stripe_setup.i.stranger.post(EVENTS, content=payload)).status_code

    assert asked == len(stripe_setup.stripe.calls)
    assert FREE == await stripe_setup.plan_and_status()
    assert 200 == (await stripe_setup.send(payload, signature(payload, age_s=290))).status_code


async def test_signed_bytes_that_are_no_event_are_400(stripe_setup: StripeSetup) -> None:
    for payload in (
        *(b"", b"x", b"null", b"[]", b"{}", b'{"id": "evt_1"}', b'{"\xff": 1}'[:1]),
        b'{"id": "evt_1", "type": "invoice.paid", "data": {"object": null}}',
        b"[" * 100_000,
    ):
        assert 400 == (await stripe_setup.send(payload)).status_code
    assert 400 == (await stripe_setup.send(b"\xff", "t=1,v1=ab")).status_code
    assert 400 == (await stripe_setup.send(b" " * (1024 * 1024 + 1))).status_code


async def test_events_about_something_else_are_taken_and_change_nothing(
    stripe_setup: StripeSetup,
) -> None:
    made = await stripe_setup.subscribe()
    asked = len(stripe_setup.stripe.calls)
    await stripe_setup.deliver_event({**made, "customer": "cus_of_another_service"})
    await stripe_setup.deliver_event({**made, "customer": None})
    await stripe_setup.deliver_event(
        {**made, "customer": {"id": made["customer"]}}, "charge.succeeded"
    )
    await stripe_setup.deliver_event({"id": "price_1", "object": "price"}, "price.updated")

    assert asked == len(stripe_setup.stripe.calls)
    assert ("indie", "active") == await stripe_setup.plan_and_status()


async def test_an_event_is_replayed_after_stripe_was_down(stripe_setup: StripeSetup) -> None:
    made = stripe_setup.stripe.subscribe(await stripe_setup.customer(), "scale")
    payload = stripe_setup.stripe.event(made)
    stripe_setup.stripe.fails(500)
    failed = await stripe_setup.send(payload)
    stripe_setup.stripe.works()
    before = await stripe_setup.plan_and_status()
    again = await stripe_setup.send(payload)

    assert (503, "server_error") == (failed.status_code, failed.json()["error"]["code"])
    assert (FREE, 200) == (before, again.status_code)
    assert ("scale", "active") == await stripe_setup.plan_and_status()


async def test_a_price_that_no_plan_has_changes_no_plan(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe("indie")
    stripe_setup.stripe.change(made, plan="price_of_something_else")
    await stripe_setup.deliver_event(made)

    assert ("indie", "active") == await stripe_setup.plan_and_status()
    assert any("price that no plan has" in str(line["event"]) for line in stripe_setup.i.logs)


async def test_subscription_unknown_to_stripe_ends(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe()
    del stripe_setup.stripe.subscriptions[made["id"]]
    await stripe_setup.deliver_event(made, "customer.subscription.deleted")

    assert ("free", "canceled") == await stripe_setup.plan_and_status()


async def test_ended_subscription_can_be_bought_again(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe("indie")
    stripe_setup.stripe.change(made, status="canceled")
    await stripe_setup.deliver_event(made)
    again = stripe_setup.stripe.pay(
        await billing.checkout(stripe_setup.i, stripe_setup.ana, "startup")
    )
    await stripe_setup.deliver_event(again, "customer.subscription.created")
    # An ended subscription still sends events.
    await stripe_setup.deliver_event(made)

    assert ("startup", "active") == await stripe_setup.plan_and_status()
    assert 1 == len(stripe_setup.stripe.customers)
