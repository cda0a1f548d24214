"""A person who buys, changes and cancels at a browser, in the sandbox."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.people import PASSWORD
from tests.portal import browser
from tests.portal.browser import Site

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

DESK = (1280, 800)


def sign_up(page: Page, name: str) -> None:
    """Make an org, and have the window signed in as its owner."""
    body = {"email": f"{name}@sandbox.test", "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok


def led_to(page: Page, session: str, **body: str) -> None:
    """Open the page of a checkout or of the customer portal."""
    answer = page.request.post(f"/v1/billing/{session}-session", data=body)
    assert answer.ok, answer.text()
    page.goto(answer.json()["url"])


def check_out(page: Page, site: Site, plan: str) -> None:
    """Open the page that sells a plan."""
    home = f"{site.server.url}/portal"
    led_to(page, "checkout", plan=plan, success_url=f"{home}?paid", cancel_url=f"{home}?not-paid")


def visit_portal(page: Page, site: Site) -> None:
    """Open the page on which a subscription is changed."""
    led_to(page, "portal", return_url=f"{site.server.url}/portal?back")


def subscription(page: Page) -> tuple[str, str, bool]:
    """Return plan, status and whether it ends with its period, from the API."""
    found: dict[str, Any] = page.request.get("/v1/billing/subscription").json()
    return found["plan"], found["status"], found["cancel_at_period_end"]


def press(page: Page, label: str) -> None:
    """Click a button whose text starts so."""
    page.get_by_role("button", name=label).click()


def expect_row(page: Page, term: str, text: str) -> None:
    """Insist that the page says something of one thing."""
    row = page.locator("dl > div").filter(has=page.get_by_text(term, exact=True))
    expect(row.get_by_role("definition")).to_contain_text(text)


@pytest.mark.parametrize("javascript", [True, False], ids=["scripts", "no scripts"])
def test_upgrade_change_and_cancel(site: Site, *, javascript: bool) -> None:
    with site.visit(size=DESK, javascript=javascript) as page:
        sign_up(page, f"ana-{javascript}".lower())
        check_out(page, site, "indie")
        expect(page.get_by_role("heading")).to_have_text("Subscribe to Indie")
        press(page, "Pay $9")
        expect(page).to_have_url(f"{site.server.url}/portal?paid")
        assert ("indie", "active", False) == subscription(page)

        visit_portal(page, site)
        expect_row(page, "Plan", "Indie, $9 a month")
        press(page, "Change to Scale")
        expect_row(page, "Plan", "Scale, $499 a month")
        assert ("scale", "active", False) == subscription(page)

        press(page, "Cancel at the end")
        expect_row(page, "Ends", "then Free")
        assert ("scale", "active", True) == subscription(page)
        press(page, "Keep the subscription")
        expect_row(page, "Renews", "20")
        press(page, "Cancel now")
        expect_row(page, "Plan", "None")
        assert ("free", "canceled", False) == subscription(page)
        page.get_by_role("link", name="Back").click()
        expect(page).to_have_url(f"{site.server.url}/portal?back")


def test_checkout_that_is_cancelled_buys_nothing(site: Site) -> None:
    with site.visit() as page:
        sign_up(page, "bea")
        check_out(page, site, "startup")
        page.get_by_role("link", name="Cancel").click()
        expect(page).to_have_url(f"{site.server.url}/portal?not-paid")
        assert ("free", "active", False) == subscription(page)


def test_sandbox_pages_fit_the_narrowest_phone(site: Site) -> None:
    with site.visit() as page:
        sign_up(page, f"{'long' * 15}")
        check_out(page, site, "startup")
        checkout = browser.width(page)
        press(page, "Pay $99")
        visit_portal(page, site)

        assert browser.PHONE[0] == checkout == browser.width(page)


def test_no_button_is_shown_as_a_panel(site: Site) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "cid")
        check_out(page, site, "indie")
        press(page, "Pay $9")
        visit_portal(page, site)
        main = page.get_by_role("main")
        buttons = [*main.get_by_role("button").all(), page.get_by_role("link", name="Back")]
        boxes = [button.bounding_box() for button in buttons]

        assert 5 == len(boxes)
        assert 1 == len({(box["x"], box["width"], box["height"]) for box in boxes if box})
