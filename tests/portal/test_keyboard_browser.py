"""Billing, the audit log and the menu of organizations by keyboard alone."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.people import PASSWORD
from tests.portal import organizations
from tests.portal.browser import DESK, Address, Site
from tests.portal.keyboard import press, reach, walk

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("second browser")

PHONE = (390, 844)
TABLET = (900, 700)
SIZES = pytest.mark.parametrize("size", [DESK, TABLET, PHONE], ids=["desk", "tablet", "phone"])
SCRIPTS = pytest.mark.parametrize("javascript", [True, False], ids=["scripts", "no-scripts"])
# After the last stop of a page, the browser itself has the focus.
HAS_FOCUS = """one => {
  const at = document.activeElement;
  return at === document.body || one.contains(at);
}"""
# Nothing covers or cuts off two opposite corners.
IS_WHOLE = """one => {
  const { left, top, right, bottom } = one.getBoundingClientRect();
  const corners = [[left + 8, top + 8], [right - 8, bottom - 8]];
  return corners.every((at) => one.contains(document.elementFromPoint(...at)));
}"""


def sign_up(page: Page, email: str) -> None:
    """Sign the browser up as the owner of an organization."""
    body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok


def create_key(page: Page, name: str) -> None:
    """Create an API key by its form."""
    form: dict[str, str | float | bool] = {"name": name, "kind": "secret", "read": "on"}
    assert page.request.post("/portal/keys", form=form).ok


def is_in_order(names: list[str], *expected: str) -> bool:
    """Return whether these names follow each other, others between them."""
    rest = iter(names)
    return all(name in rest for name in expected)


@SIZES
@SCRIPTS
def test_focus_is_seen_on_every_stop(
    site: Site, address: Address, size: tuple[int, int], *, javascript: bool
) -> None:
    with site.visit(size=size, javascript=javascript) as page:
        page.emulate_media(reduced_motion="reduce")
        organizations.join_second(site, page, address("ana"))
        for number in range(12):
            create_key(page, f"Key {number}")
        page.goto("/portal/billing")
        billing = walk(page)
        page.goto("/portal/audit")
        log = walk(page)
        page.goto("/portal/audit")
        for summary in page.locator(".entry summary").all()[:3]:
            press(page, summary)
        press(page, page.locator("summary", has_text="Export"))
        with_menu = walk(page)

    plans = ("Choose Indie", "Choose Startup", "Choose Scale")
    filters = ("Person or key", "About", "From", "To", "Show")
    assert is_in_order(billing, "Skip to content", *plans)
    assert is_in_order(log, "Skip to content", "Export", *filters, "Details")
    assert "CSV" not in log
    assert is_in_order(with_menu, "CSV", "JSON Lines", *filters, "Details")


@SCRIPTS
def test_plan_is_bought_and_canceled(site: Site, address: Address, *, javascript: bool) -> None:
    with site.visit(size=DESK, javascript=javascript) as page:
        sign_up(page, address("bea"))
        page.goto("/portal")
        press(page, page.get_by_role("link", name="Billing", exact=True).first)
        press(page, page.get_by_role("button", name="Choose Indie"))
        press(page, page.get_by_role("button", name="Pay"))
        expect(page.get_by_role("status")).to_contain_text("Thank you.")
        expect(page.get_by_role("heading", name="Your plan: Indie")).to_be_visible()
        press(page, page.get_by_role("button", name="Payments, invoices, cancellation"))
        press(page, page.get_by_role("button", name="Cancel at the end of the period"))
        press(page, page.get_by_role("link", name="Back"))
        expect(page.get_by_text("then Free")).to_be_visible()


@SCRIPTS
def test_audit_log_is_searched_read_and_exported(
    site: Site, address: Address, *, javascript: bool
) -> None:
    with site.visit(size=DESK, javascript=javascript) as page:
        sign_up(page, address("cid"))
        create_key(page, "Expenses")
        page.goto("/portal/audit")
        entries = page.locator(".entry")
        everything = entries.count()
        reach(page, page.get_by_label("About"))
        page.keyboard.type("API")
        reach(page, page.get_by_label("From"))
        page.keyboard.type("01022026")
        press(page, page.get_by_role("button", name="Show"))
        expect(page).to_have_url(re.compile("since=2026-01-02"))
        expect(entries).not_to_have_count(everything)

        press(page, entries.first.locator("summary"))
        expect(entries.first.get_by_text("Request", exact=True)).to_be_visible()
        page.keyboard.press("Enter")
        expect(entries.first.get_by_text("Request", exact=True)).to_be_hidden()

        export = page.locator("summary", has_text="Export")
        press(page, export)
        with page.expect_download() as download:
            press(page, page.get_by_role("link", name="CSV"))
        with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
            assert entries.count() == len(list(csv.DictReader(file)))
        press(page, page.get_by_role("link", name="Show all"))
        # The export is an entry, too.
        expect(entries).to_have_count(everything + 1)


@SIZES
def test_menus_close_when_the_focus_leaves_them(
    site: Site, address: Address, size: tuple[int, int]
) -> None:
    with site.visit(size=size) as page:
        organizations.join_second(site, page, address("dora"))
        page.goto("/portal/audit")
        for summary in (
            page.locator(".org summary").locator("visible=true"),
            page.locator(".who summary").locator("visible=true"),
            page.locator("summary", has_text="Export"),
        ):
            menu = summary.locator("..")
            press(page, summary)
            page.keyboard.press("Tab")
            expect(menu.locator(":focus")).to_be_visible()
            assert menu.locator(".menu-list").evaluate(IS_WHOLE)
            page.keyboard.press("Escape")
            expect(summary).to_be_focused()
            expect(menu).not_to_have_attribute("open", "")
            page.keyboard.press("Enter")
            expect(menu).to_have_attribute("open", "")
            page.keyboard.press("Shift+Tab")
            expect(menu).not_to_have_attribute("open", "")


def test_dialog_of_a_menu_gives_the_focus_back(site: Site, address: Address) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, address("eva"))
        page.goto("/portal/billing")
        press(page, page.locator(".side .who summary"))
        keys = page.locator(".side").get_by_role("button", name="Keys")
        press(page, keys)
        dialog = page.get_by_role("dialog", name="Keys")
        press(page, dialog.get_by_role("button", name="Close"))
        expect(dialog).to_be_hidden()
        expect(keys).to_be_focused()


@SCRIPTS
def test_focus_stays_in_a_dialog_and_returns_to_its_button(
    site: Site, address: Address, *, javascript: bool
) -> None:
    with site.visit(size=PHONE, javascript=javascript) as page:
        sign_up(page, address("gil"))
        create_key(page, "Expenses")
        page.goto("/portal/keys")
        for button, dialog in (
            (page.get_by_role("button", name="Revoke"), page.locator(".dialog:popover-open")),
            (page.get_by_role("button", name="More"), page.locator("#more")),
        ):
            press(page, button)
            for _ in range(12):
                page.keyboard.press("Tab")
                # After the last one it may be the browser's turn.
                assert dialog.evaluate(HAS_FOCUS)
            reach(page, dialog.locator("a, button").first)
            page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            expect(button).to_be_focused()


@SIZES
@SCRIPTS
def test_organization_is_switched(
    site: Site, address: Address, size: tuple[int, int], *, javascript: bool
) -> None:
    with site.visit(size=size, javascript=javascript) as page:
        organizations.join_second(site, page, address("fay"))
        page.goto("/portal/keys")
        menu = page.locator(".org").locator("visible=true")
        expect(menu.locator("summary")).to_contain_text("Loja Bea")
        press(page, menu.locator("summary"))
        expect(menu.get_by_role("button")).to_have_count(2)
        press(page, menu.get_by_role("button", name="Padaria Aurora"))
        expect(menu.locator("summary")).to_contain_text("Padaria Aurora")
        expect(page).to_have_title("API keys · Recibo")
