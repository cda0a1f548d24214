"""/v1/billing: the subscription, checkouts and portals."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from recibo.lib import clock
from recibo.schemas.plans import PlanName
from recibo.schemas.states import AuditAction, Role
from recibo.services.billing import sandbox
from recibo.services.identity import operators
from recibo.store.tables import Subscription
from tests import billing, people
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation

pytestmark = ON_SQLITE

FREE = {
    "plan": "free",
    "status": "active",
    "quota_receipts_month": 50,
    "usage_this_month": 0,
    "credits_used_this_month": 0,
    "rate_limit_per_minute": 100,
    "cancel_at_period_end": False,
    "current_period_end": None,
}
FIGURES = {"indie": (1_000, 200), "startup": (25_000, 1_000), "scale": (250_000, 5_000)}


def figures(result: dict[str, Any]) -> tuple[int, int]:
    return result["quota_receipts_month"], result["rate_limit_per_minute"]


async def test_new_org_is_on_the_free_plan_and_active(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)

    assert await billing.subscription(idle_service, ana) == FREE


async def test_a_checkout_that_is_not_paid_changes_nothing(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    page = await i.stranger.get(await billing.checkout(i, ana))

    assert 200 == page.status_code
    assert FREE == await billing.subscription(i, ana)


@pytest.mark.parametrize("plan", FIGURES)
async def test_a_plan_counts_from_the_next_request_on(
    idle_service: Installation, plan: str
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, plan)

    body = await billing.subscription(i, ana)
    assert (plan, "active", False) == (body["plan"], body["status"], body["cancel_at_period_end"])
    assert FIGURES[plan] == figures(body)
    assert dt.datetime.fromisoformat(body["current_period_end"]) > clock.now()
    org = await i.stranger.get("/v1/org", headers=ana.headers)
    assert plan == org.json()["plan"]


@ON_BOTH
async def test_usage_is_what_was_completed_this_month(service: Installation) -> None:
    ana = await people.signed_up(service)
    made = await service.stranger.post("/v1/api-keys", json={"name": "till"}, headers=ana.headers)
    await service.extracted(b"a receipt", secret=made.json()["secret"], accuracy="high")

    body = await billing.subscription(service, ana)
    assert (1, 5) == (body["usage_this_month"], body["credits_used_this_month"])


@pytest.mark.parametrize("plan", ["free", "enterprise", "gold", "", None, 1, ["indie"]])
async def test_no_other_plan_is_sold(door: Installation, plan: object) -> None:
    ana = await people.signed_up(door)
    answer = await billing.ask_checkout(door, ana, plan=plan)

    error = answer.json()["error"]
    assert (400, "validation_error") == (answer.status_code, error["code"])
    assert ["plan"] == [detail["field"] for detail in error["details"]]
    assert "plan: must be 'indie', 'startup' or 'scale'" == error["message"]
    assert [] == await door.rows(Subscription)


BAD_URLS = [
    "", "shop", "/paid", "//shop.example", "javascript:alert(1)", "ftp://shop.example", "https://",
    "http:shop.example", "https://shop.example:x/", "https://[::1/", "https://shop.example/a b",
    "https://shop.example/\n", "https://shop.example\\@evil.example", f"https://a.b/{'x' * 2048}",
]  # fmt: skip


@pytest.mark.parametrize("url", BAD_URLS)
async def test_addresses_are_of_the_web(door: Installation, url: str) -> None:
    ana = await people.signed_up(door)
    answers = {
        "success_url": await billing.ask_checkout(door, ana, success_url=url),
        "cancel_url": await billing.ask_checkout(door, ana, cancel_url=url),
        "return_url": await billing.ask_portal(door, ana, url),
    }

    for field, answer in answers.items():
        assert 400 == answer.status_code
        assert [field] == [one["field"] for one in answer.json()["error"]["details"]]


@pytest.mark.parametrize("field", ["plan", "success_url", "cancel_url"])
async def test_a_checkout_needs_each_field(door: Installation, field: str) -> None:
    ana = await people.signed_up(door)
    body = {"plan": "indie", "success_url": billing.SUCCESS, "cancel_url": billing.CANCEL}
    del body[field]
    answer = await door.stranger.post(
        "/v1/billing/checkout-session", json=body, headers=ana.headers
    )

    assert 400 == answer.status_code
    assert [field] == [one["field"] for one in answer.json()["error"]["details"]]


async def test_no_portal_before_the_first_checkout(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    before = await billing.ask_portal(i, ana)
    await billing.checkout(i, ana)
    after = await billing.ask_portal(i, ana)

    assert (400, "validation_error") == (before.status_code, before.json()["error"]["code"])
    assert (200, ["url"]) == (after.status_code, list(after.json()))


async def test_a_billing_member_buys_and_a_viewer_only_looks(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bill = await people.joined(i, ana, Role.BILLING)
    vera = await people.joined(i, ana, Role.VIEWER)
    await billing.bought(i, bill)

    assert "indie" == (await billing.subscription(i, vera))["plan"]
    assert 403 == (await billing.ask_checkout(i, vera)).status_code
    assert 403 == (await billing.ask_portal(i, vera)).status_code


@ON_BOTH
async def test_a_second_checkout_changes_the_subscription(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, "indie")
    [first] = await i.rows(Subscription)
    await billing.bought(i, ana, "scale")
    [second] = await i.rows(Subscription)

    assert (first.customer_id, first.subscription_id) == (
        second.customer_id,
        second.subscription_id,
    )
    assert "scale" == (await billing.subscription(i, ana))["plan"]


@ON_BOTH
async def test_first_checkouts_at_once_make_one_customer(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    urls = await asyncio.gather(*[billing.checkout(i, ana) for _ in range(5)])

    assert 1 == len(await i.rows(Subscription))
    for url in urls:
        assert 200 == (await i.stranger.get(url)).status_code


async def test_checkouts_and_plan_changes_are_audited(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, "startup")

    [started] = await people.audited(i, ana, AuditAction.SUBSCRIPTION_CHECKOUT_STARTED)
    [updated] = await people.audited(i, ana, AuditAction.SUBSCRIPTION_UPDATED)
    assert ("subscription", ana.org_id) == (started["resource_type"], started["resource_id"])
    assert (ana.user_id, {"plan": "startup"}) == (started["actor_user_id"], started["after"])
    assert ("free", "startup") == (updated["before"]["plan"], updated["after"]["plan"])
    assert None is updated["before"]["current_period_end"]


async def test_what_an_org_buys_is_its_own(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bo = await people.signed_up(i, email="bo@people.test", org="Other")
    await billing.bought(i, ana)

    assert FREE == await billing.subscription(i, bo)
    assert 400 == (await billing.ask_portal(i, bo)).status_code


@ON_BOTH
async def test_a_plan_that_an_operator_gave_outlasts_renewals(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, "indie")
    async with i.database.write() as session:
        await operators.set_plan(session, ana.org_id, PlanName.ENTERPRISE)
    with clock.moved(dt.timedelta(days=31)):
        await sandbox.settle(i.database)
    renewed = await billing.subscription(i, ana)
    await billing.click(i, await billing.portal(i, ana), "Cancel now")
    [row] = await i.rows(Subscription)

    assert "enterprise" == renewed["plan"]
    assert "canceled" == row.status
    assert "enterprise" == (await billing.subscription(i, ana))["plan"]
