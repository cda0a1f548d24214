"""Stripe customers: billing addresses, and customers that were deleted at Stripe."""

import asyncio

import pytest

from recibo.schemas.states import AuditAction
from recibo.store.tables import Org, Subscription
from tests import billing, people
from tests.stripe_fixtures import FREE, StripeSetup

NEW = "bills@aurora.test"


async def move_bills(stripe_setup: StripeSetup, email: str = NEW) -> None:
    """Have bills of the org go to another address."""
    answer = await stripe_setup.i.stranger.patch(
        "/v1/org", json={"billing_email": email}, headers=stripe_setup.ana.headers
    )
    assert answer.status_code == 200, answer.text


async def kept_customer(stripe_setup: StripeSetup) -> str:
    """Return the customer that the org has here."""
    [row] = await stripe_setup.i.rows(Subscription)
    return row.customer_id


@pytest.mark.parametrize("page", ["checkout", "portal"])
async def test_changed_billing_address_is_sent_with_the_next_page(
    stripe_setup: StripeSetup, page: str
) -> None:
    customer = await stripe_setup.customer()
    await move_bills(stripe_setup)
    before = stripe_setup.stripe.customers[customer]["email"]
    for _ in range(2):
        await (billing.checkout if page == "checkout" else billing.portal)(
            stripe_setup.i, stripe_setup.ana
        )

    assert stripe_setup.ana.email == before
    assert NEW == stripe_setup.stripe.customers[customer]["email"]
    assert 1 == len(stripe_setup.stripe.asked("POST", f"/v1/customers/{customer}"))


async def test_address_that_the_customer_set_at_stripe_stays(stripe_setup: StripeSetup) -> None:
    customer = await stripe_setup.customer()
    stripe_setup.stripe.customers[customer]["email"] = "own@choice.test"
    await billing.portal(stripe_setup.i, stripe_setup.ana)

    assert "own@choice.test" == stripe_setup.stripe.customers[customer]["email"]


@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize("page", ["checkout", "portal"])
async def test_customer_who_was_deleted_at_stripe_gets_a_successor(
    stripe_setup: StripeSetup, page: str, *, is_forgotten: bool
) -> None:
    gone = await stripe_setup.customer()
    stripe_setup.stripe.delete(gone)
    if is_forgotten:
        stripe_setup.stripe.deleted.clear()
    urls = [
        await (billing.checkout if page == "checkout" else billing.portal)(
            stripe_setup.i, stripe_setup.ana
        )
        for _ in range(2)
    ]

    assert all(url.startswith("https://") for url in urls)
    [successor] = stripe_setup.stripe.customers
    assert gone != successor == await kept_customer(stripe_setup)
    [line] = [
        one for one in stripe_setup.i.logs if one["event"] == "a customer is gone, and replaced"
    ]
    assert (gone, successor) == (line["gone"], line["created"])


async def test_customers_are_replaced_as_often_as_they_are_deleted(
    stripe_setup: StripeSetup,
) -> None:
    customers = [await stripe_setup.customer()]
    for _ in range(2):
        stripe_setup.stripe.delete(customers[-1])
        customers.append(await stripe_setup.customer())

    assert 3 == len(set(customers))
    assert customers[-1] == await kept_customer(stripe_setup)


async def test_pages_at_once_make_one_successor(stripe_setup: StripeSetup) -> None:
    stripe_setup.stripe.delete(await stripe_setup.customer())
    answers = await asyncio.gather(
        *[billing.ask_checkout(stripe_setup.i, stripe_setup.ana) for _ in range(5)]
    )

    assert [200] * 5 == [answer.status_code for answer in answers]
    [successor] = stripe_setup.stripe.customers
    assert successor == await kept_customer(stripe_setup)


async def test_subscription_of_a_deleted_customer_ends(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe("startup")
    stripe_setup.stripe.delete(made["customer"])
    await billing.checkout(stripe_setup.i, stripe_setup.ana, "indie")

    assert FREE == await stripe_setup.plan_and_status()
    [ended, _] = await people.audited(
        stripe_setup.i, stripe_setup.ana, AuditAction.SUBSCRIPTION_UPDATED
    )
    assert ("startup", "free") == (ended["before"]["plan"], ended["after"]["plan"])
    await stripe_setup.deliver_event(
        stripe_setup.stripe.subscribe(await kept_customer(stripe_setup), "indie")
    )
    assert ("indie", "active") == await stripe_setup.plan_and_status()


async def test_plan_that_was_agreed_outlasts_a_deleted_customer(stripe_setup: StripeSetup) -> None:
    stripe_setup.stripe.delete((await stripe_setup.subscribe("startup"))["customer"])
    async with stripe_setup.i.database.write() as session:
        (await session.get_one(Org, stripe_setup.ana.org_id)).plan = "enterprise"
    await billing.checkout(stripe_setup.i, stripe_setup.ana, "indie")

    assert ("enterprise", "active") == await stripe_setup.plan_and_status()


async def test_event_of_a_deleted_customer_ends_what_was_bought(stripe_setup: StripeSetup) -> None:
    made = await stripe_setup.subscribe("indie")
    stripe_setup.stripe.delete(made["customer"])
    stripe_setup.stripe.fault = lambda _, path: (
        (400, {"error": {"type": "invalid_request_error", "code": "resource_missing"}})
        if path == "/v1/subscriptions"
        else None
    )
    await stripe_setup.deliver_event(made, "customer.subscription.deleted")

    assert ("free", "canceled") == await stripe_setup.plan_and_status()


async def test_stripe_that_fails_makes_no_successor(stripe_setup: StripeSetup) -> None:
    customer = await stripe_setup.customer()
    stripe_setup.stripe.fails(500, path="/v1/customers")
    answer = await billing.ask_portal(stripe_setup.i, stripe_setup.ana)
    stripe_setup.stripe.fails(401, path="/v1/customers")
    refused = await billing.ask_portal(stripe_setup.i, stripe_setup.ana)

    assert (503, 500) == (answer.status_code, refused.status_code)
    assert customer == await kept_customer(stripe_setup)
