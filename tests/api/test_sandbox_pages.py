"""The sandbox's hosted pages: what they show, what their buttons do, who may use them."""

import datetime as dt
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

import pytest

from recibo.lib import clock
from recibo.schemas.states import AuditAction
from recibo.services.billing import sandbox
from recibo.store.tables import ProviderEvent
from tests import billing, people
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.portal import pages

pytestmark = ON_SQLITE

DAY = dt.timedelta(days=1)
MINUTE = dt.timedelta(minutes=1)


def token_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["session"][0]


async def test_checkout_page_says_what_is_sold_and_that_no_money_moves(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    answer = await i.stranger.get(await billing.checkout(i, ana, "startup"))
    page = pages.parse(answer)

    assert 200 == answer.status_code
    for said in ("no money moves", "Startup", "25,000", "$99", "Padaria Aurora", ana.email):
        assert said in page.text
    assert [("post", "/sandbox/checkout")] == page.forms
    assert billing.CANCEL in page.links
    assert "<script" not in answer.text


async def test_checkout_page_lets_its_form_lead_to_the_shop_and_nowhere_else(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    targets = {
        "https://shop.example/paid": "https://shop.example",
        "http://127.0.0.1:9000/ok": "http://127.0.0.1:9000",
        "https://shop.example;script-src:1/": "https:",
        "https://[::1]:3000/ok": "https:",
        "https://a;b/ok": "https:",
    }
    for success_url, source in targets.items():
        url = await billing.checkout(i, ana, success_url=success_url)
        policy = (await i.stranger.get(url)).headers["content-security-policy"]
        assert f"form-action 'self' {source}" in policy.split("; ")
        assert {"default-src 'none'", "frame-ancestors 'none'"} <= set(policy.split("; "))


async def test_paying_twice_counts_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    url = await billing.checkout(i, ana)
    answers = [await billing.click(i, url, "Pay") for _ in range(2)]

    assert [(303, billing.SUCCESS)] * 2 == [
        (answer.status_code, answer.headers["location"]) for answer in answers
    ]
    assert 1 == len(await people.audited(i, ana, AuditAction.SUBSCRIPTION_UPDATED))
    assert 1 == len(await i.rows(ProviderEvent))


@ON_BOTH
async def test_a_paid_checkout_does_not_undo_what_came_after(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    url = await billing.checkout(i, ana, "indie")
    await billing.click(i, url, "Pay")
    await billing.bought(i, ana, "scale")
    await billing.click(i, url, "Pay")

    assert "scale" == (await billing.subscription(i, ana))["plan"]


@ON_BOTH
async def test_plan_is_changed_in_the_portal(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, "indie")
    url = await billing.portal(i, ana)
    answer = await billing.click(i, url, "Change to Scale")

    assert (303, "/sandbox/portal") == (
        answer.status_code,
        urlsplit(answer.headers["location"]).path,
    )
    assert "scale" == (await billing.subscription(i, ana))["plan"]
    shown = pages.parse(await i.stranger.get(answer.headers["location"]))
    assert "Scale, $499 a month" in shown.text
    assert billing.BACK in shown.links


@ON_BOTH
async def test_cancelling_keeps_the_plan_to_the_end_of_the_period(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    await billing.click(i, await billing.portal(i, ana), "Cancel at the end")
    body = await billing.subscription(i, ana)
    with clock.moved(31 * DAY):
        await sandbox.settle(i.database)
    over = await billing.subscription(i, ana)

    assert ("indie", "active", True) == (
        body["plan"], body["status"], body["cancel_at_period_end"],
    )  # fmt: skip
    assert ("free", "canceled", False, None) == (
        over["plan"], over["status"], over["cancel_at_period_end"], over["current_period_end"],
    )  # fmt: skip


async def test_a_cancellation_is_taken_back(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    await billing.click(i, await billing.portal(i, ana), "Cancel at the end")
    await billing.click(i, await billing.portal(i, ana), "Keep")
    before = await billing.subscription(i, ana)
    with clock.moved(31 * DAY):
        await sandbox.settle(i.database)
    renewed = await billing.subscription(i, ana)

    assert not before["cancel_at_period_end"]
    assert ("indie", "active") == (renewed["plan"], renewed["status"])
    assert before["current_period_end"] < renewed["current_period_end"]


@ON_BOTH
async def test_cancelling_now_falls_back_to_free_and_allows_a_new_purchase(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana, "scale")
    await billing.click(i, await billing.portal(i, ana), "Cancel now")
    over = await billing.subscription(i, ana)
    page = pages.parse(await i.stranger.get(await billing.portal(i, ana)))
    await billing.bought(i, ana, "indie")
    again = await billing.subscription(i, ana)

    assert ("free", "canceled", 50) == (over["plan"], over["status"], over["quota_receipts_month"])
    assert ["English", "Português"] == page.buttons
    assert ("indie", "active") == (again["plan"], again["status"])


async def test_nothing_is_settled_before_its_time(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    before = await billing.subscription(i, ana)
    await sandbox.settle(i.database)

    assert before == await billing.subscription(i, ana)


@pytest.mark.parametrize("change", ["plan", "cancel", "resume", "cancel-now"])
async def test_who_has_bought_nothing_changes_nothing(
    idle_service: Installation, change: str
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.checkout(i, ana)
    form = {"session": token_of(await billing.portal(i, ana)), "plan": "scale"}
    answer = await i.stranger.post(f"/sandbox/portal/{change}", data=form)

    assert 400 == answer.status_code
    assert "no subscription" in pages.parse(answer).text
    assert "free" == (await billing.subscription(i, ana))["plan"]


@pytest.mark.parametrize("plan", ["free", "enterprise", "gold", ""])
async def test_the_portal_sells_no_other_plan(idle_service: Installation, plan: str) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    form = {"session": token_of(await billing.portal(i, ana)), "plan": plan}
    answer = await i.stranger.post("/sandbox/portal/plan", data=form)

    assert 400 == answer.status_code
    assert "indie" == (await billing.subscription(i, ana))["plan"]


async def test_pages_end(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    checkout, portal = await billing.checkout(i, ana), await billing.portal(i, ana)
    lives = {checkout: 24 * 60 * MINUTE, portal: 60 * MINUTE}
    for url, life in lives.items():
        with clock.moved(life - MINUTE):
            assert 200 == (await i.stranger.get(url)).status_code
        with clock.moved(life + MINUTE):
            answer = await i.stranger.get(url)
            assert 404 == answer.status_code
            assert "This page has expired" in pages.parse(answer).text
            form = {"session": token_of(url)}
            paid = await i.stranger.post("/sandbox/checkout", data=form)
            assert 404 == paid.status_code


async def test_addresses_cannot_be_made_up(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    checkout, portal = await billing.checkout(i, ana), await billing.portal(i, ana)
    head, claims, signature = token_of(checkout).split(".")
    forged = [
        "", "x", f"{head}.{claims}.", f"{head}.{claims}.{signature[::-1]}",
        f"eyJhbGciOiJub25lIn0.{claims}.", token_of(portal), ana.tokens["access_token"],
    ]  # fmt: skip
    for token in forged:
        assert (
            404
            == (await i.stranger.get("/sandbox/checkout", params={"session": token})).status_code
        )
        paid = await i.stranger.post("/sandbox/checkout", data={"session": token})
        assert 404 == paid.status_code
    assert (
        404
        == (
            await i.stranger.get("/sandbox/portal", params={"session": token_of(checkout)})
        ).status_code
    )
    assert 400 == (await i.stranger.post("/sandbox/checkout", data={})).status_code
    assert "free" == (await billing.subscription(i, ana))["plan"]


FOREIGN = [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
]  # fmt: skip


@pytest.mark.parametrize("headers", FOREIGN)
async def test_pages_of_other_sites_press_no_button(
    idle_service: Installation, headers: Mapping[str, str]
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    checkout, portal = await billing.checkout(i, ana, "scale"), await billing.portal(i, ana)
    presses = {
        "checkout": {"session": token_of(checkout)},
        "portal/plan": {"session": token_of(portal), "plan": "scale"},
        "portal/cancel": {"session": token_of(portal)},
        "portal/resume": {"session": token_of(portal)},
        "portal/cancel-now": {"session": token_of(portal)},
    }
    for path, form in presses.items():
        answer = await i.stranger.post(f"/sandbox/{path}", data=form, headers=headers)
        assert 403 == answer.status_code, path
    body = await billing.subscription(i, ana)

    assert ("indie", False) == (body["plan"], body["cancel_at_period_end"])


async def test_no_log_line_holds_an_address_of_a_page(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    url = await billing.checkout(i, ana)
    await billing.click(i, url, "Pay")

    assert token_of(url) not in str(i.logs)


async def test_every_page_of_the_sandbox_is_guarded(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await billing.bought(i, ana)
    urls = [await billing.checkout(i, ana), await billing.portal(i, ana), "/sandbox", "/sandbox/x"]
    answers = [await i.stranger.get(url) for url in urls]

    assert [200, 200, 404, 404] == [answer.status_code for answer in answers]
    for answer in answers:
        assert "no-store" == answer.headers["cache-control"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert pages.parse(answer).title.endswith("Recibo")
