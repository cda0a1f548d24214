"""Customers at Stripe: the address that bills go to, and customers who were deleted there."""

import asyncio

import pytest

from recibo.schemas.states import AuditAction
from recibo.store.tables import Org, Subscription
from tests import billing, people
from tests.stripe_fixtures import FREE, Shop

NEW = "bills@aurora.test"


async def move_bills(shop: Shop, email: str = NEW) -> None:
    """Have bills of the org go to another address."""
    answer = await shop.i.stranger.patch(
        "/v1/org", json={"billing_email": email}, headers=shop.ana.headers
    )
    assert answer.status_code == 200, answer.text


async def kept_customer(shop: Shop) -> str:
    """Return the customer that the org has here."""
    [row] = await shop.i.rows(Subscription)
    return row.customer_id


@pytest.mark.parametrize("page", ["checkout", "portal"])
async def test_changed_billing_address_is_told_with_the_next_page(shop: Shop, page: str) -> None:
    customer = await shop.customer()
    await move_bills(shop)
    before = shop.stripe.customers[customer]["email"]
    for _ in range(2):
        await (billing.checkout if page == "checkout" else billing.portal)(shop.i, shop.ana)

    assert shop.ana.email == before
    assert NEW == shop.stripe.customers[customer]["email"]
    assert 1 == len(shop.stripe.asked("POST", f"/v1/customers/{customer}"))


async def test_address_that_the_customer_set_at_stripe_stays(shop: Shop) -> None:
    customer = await shop.customer()
    shop.stripe.customers[customer]["email"] = "own@choice.test"
    await billing.portal(shop.i, shop.ana)

    assert "own@choice.test" == shop.stripe.customers[customer]["email"]


@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize("page", ["checkout", "portal"])
async def test_customer_who_was_deleted_at_stripe_gets_a_successor(
    shop: Shop, page: str, *, is_forgotten: bool
) -> None:
    gone = await shop.customer()
    shop.stripe.delete(gone)
    if is_forgotten:
        shop.stripe.deleted.clear()
    urls = [
        await (billing.checkout if page == "checkout" else billing.portal)(shop.i, shop.ana)
        for _ in range(2)
    ]

    assert all(url.startswith("https://") for url in urls)
    [successor] = shop.stripe.customers
    assert gone != successor == await kept_customer(shop)
    [line] = [one for one in shop.i.logs if one["event"] == "a customer is gone, and replaced"]
    assert (gone, successor) == (line["gone"], line["created"])


async def test_customers_are_replaced_as_often_as_they_are_deleted(shop: Shop) -> None:
    customers = [await shop.customer()]
    for _ in range(2):
        shop.stripe.delete(customers[-1])
        customers.append(await shop.customer())

    assert 3 == len(set(customers))
    assert customers[-1] == await kept_customer(shop)


async def test_pages_at_once_make_one_successor(shop: Shop) -> None:
    shop.stripe.delete(await shop.customer())
    answers = await asyncio.gather(*[billing.ask_checkout(shop.i, shop.ana) for _ in range(5)])

    assert [200] * 5 == [answer.status_code for answer in answers]
    [successor] = shop.stripe.customers
    assert successor == await kept_customer(shop)


async def test_what_a_deleted_customer_had_bought_is_over(shop: Shop) -> None:
    made = await shop.bought("startup")
    shop.stripe.delete(made["customer"])
    await billing.checkout(shop.i, shop.ana, "indie")

    assert FREE == await shop.has()
    [ended, _] = await people.audited(shop.i, shop.ana, AuditAction.SUBSCRIPTION_UPDATED)
    assert ("startup", "free") == (ended["before"]["plan"], ended["after"]["plan"])
    await shop.told(shop.stripe.subscribe(await kept_customer(shop), "indie"))
    assert ("indie", "active") == await shop.has()


async def test_plan_that_was_agreed_outlasts_a_deleted_customer(shop: Shop) -> None:
    shop.stripe.delete((await shop.bought("startup"))["customer"])
    async with shop.i.database.write() as session:
        (await session.get_one(Org, shop.ana.org_id)).plan = "enterprise"
    await billing.checkout(shop.i, shop.ana, "indie")

    assert ("enterprise", "active") == await shop.has()


async def test_event_of_a_deleted_customer_ends_what_was_bought(shop: Shop) -> None:
    made = await shop.bought("indie")
    shop.stripe.delete(made["customer"])
    shop.stripe.fault = lambda _, path: (
        (400, {"error": {"type": "invalid_request_error", "code": "resource_missing"}})
        if path == "/v1/subscriptions"
        else None
    )
    await shop.told(made, "customer.subscription.deleted")

    assert ("free", "canceled") == await shop.has()


async def test_stripe_that_fails_makes_no_successor(shop: Shop) -> None:
    customer = await shop.customer()
    shop.stripe.fails(500, path="/v1/customers")
    answer = await billing.ask_portal(shop.i, shop.ana)
    shop.stripe.fails(401, path="/v1/customers")
    refused = await billing.ask_portal(shop.i, shop.ana)

    assert (503, 500) == (answer.status_code, refused.status_code)
    assert customer == await kept_customer(shop)
