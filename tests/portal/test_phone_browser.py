"""What phones of 390 px show, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import Address, Site, upload, violations, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

SIZE = (390, 844)
NUMBERS = ("P-1", "P-2")
SETTINGS = (
    "keys", "webhooks", "members", "billing", "audit", "organization", "security",
)  # fmt: skip
# The text of a field that is wider than its box is cut off.
_CUT = "one => one.scrollWidth > one.clientWidth"


def with_receipts(page: Page, email: str) -> None:
    """Sign up, upload receipts and show them."""
    body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok
    upload(page, *(drawing.pdf(make_documents.till_receipt(one).rows) for one in NUMBERS))
    page.goto("/portal/receipts")
    expect(page.get_by_text("34.15 MYR")).to_have_count(len(NUMBERS))


def test_all_are_selected_and_what_to_review_is_in_view(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        with_receipts(page, address("ana"))
        expect(page.get_by_role("link", name="To review").first).to_be_in_viewport(ratio=1)
        whole = page.get_by_label("Select all on this page")
        expect(whole).not_to_be_in_viewport()
        page.get_by_text("Select", exact=True).click()
        assert [] == violations(page)
        page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
        # Nothing is behind the checkboxes.
        for box in page.locator(".inbox .thumb-box").all():
            expect(box).to_be_hidden()
        page.get_by_text("Select all", exact=True).click()
        expect(whole).to_be_checked()
        expect(page.locator(".inbox tbody :checked")).to_have_count(len(NUMBERS))
        assert SIZE[0] == width(page)


def test_selection_works_without_scripts(site: Site, address: Address) -> None:
    with site.visit(size=SIZE, javascript=False) as page:
        body = {"email": address("bea"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.goto("/portal/receipts")
        expect(page.get_by_text("Select all", exact=True)).to_have_count(0)


def test_headings_are_read_out_and_no_links(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        with_receipts(page, address("bia"))
        expect(page.locator(".inbox thead a").locator("visible=true")).to_have_count(0)
        for name in ("Merchant", "Status", "Date", "Total"):
            expect(page.get_by_role("columnheader", name=name, exact=True)).to_have_count(1)


def test_document_reaches_down_to_the_fields_while_one_is_edited(
    site: Site, address: Address
) -> None:
    with site.visit(size=SIZE) as page:
        with_receipts(page, address("ciro"))
        page.get_by_role("link", name="KEDAI KOPI").first.click()
        for name in ("#merchant_name", "#item-1-total"):
            page.locator(name).focus()
            assert page.locator(".panel").evaluate(
                """panel => {
                  const doc = document.querySelector(".doc").getBoundingClientRect();
                  const end = Math.max(panel.getBoundingClientRect().top, doc.top + doc.height / 2);
                  const above = document.elementFromPoint(innerWidth / 2, end - 4);
                  return Boolean(above.closest(".doc"));
                }"""
            ), name


def test_figures_of_a_receipt_are_not_cut_off(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        with_receipts(page, address("cora"))
        page.get_by_role("link", name="KEDAI KOPI").first.click()
        quantity = page.get_by_label("Quantity, line 1")
        for label, value in (
            ("Quantity, line 1", "25.0000"),
            ("Unit price, line 1", "10,307.60"),
            ("Item total, line 1", "249,950.00"),
        ):
            field = page.get_by_label(label)
            field.fill(value)
            assert not field.evaluate(_CUT), label
        for name, value in (
            ("amount", "249,950.00"),
            ("tendered", "250,000.00"),
            ("last4", "8996"),
        ):
            field = page.locator(f"#payment-0-{name}")
            field.fill(value)
            assert not field.evaluate(_CUT), name
        expect(quantity).to_have_value("25.0000")
        method = page.get_by_label("Payment method, new line")
        assert "Add a payment" == method.locator("option:checked").inner_text()
        narrowest = method.evaluate("""one => {
            const paint = document.createElement("canvas").getContext("2d");
            paint.font = getComputedStyle(one).font;
            return paint.measureText(one.selectedOptions[0].text).width;
        }""")
        box = method.bounding_box()
        assert box
        # The arrow needs some room, too.
        assert narrowest + 24 <= box["width"]
        assert SIZE[0] == width(page)


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_page_of_settings_is_reached_without_scripts(
    site: Site, address: Address, language: str
) -> None:
    with site.visit(size=SIZE, javascript=False) as page:
        page.set_extra_http_headers({"Accept-Language": language})
        body = {"email": address("dora"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.goto("/portal")
        page.locator(".bottombar button").click()
        page.locator(f"#more a[href='/portal/{SETTINGS[0]}']").click()
        for name in SETTINGS:
            tabs = page.locator(".subnav a")
            expect(tabs).to_have_count(len(SETTINGS))
            for tab in tabs.all():
                expect(tab).to_be_in_viewport(ratio=1)
            page.locator(f".subnav a[href='/portal/{name}']").click()
            expect(page).to_have_url(f"{site.server.url}/portal/{name}")
            expect(page.locator(".subnav [aria-current=page]")).to_have_count(1)
            assert SIZE[0] == width(page)


def test_tab_that_has_the_focus_is_in_view(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        body = {"email": address("eva"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.goto("/portal/keys")
        page.wait_for_load_state("load")
        page.locator(".subnav a").first.focus()
        for tab in page.locator(".subnav a").all():
            expect(tab).to_be_focused()
            expect(tab).to_be_in_viewport(ratio=1)
            page.keyboard.press("Tab")


def test_bars_are_opaque_and_details_stay_within_the_margin(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        with_receipts(page, address("fay"))
        for bar in (".topbar", ".bottombar"):
            color = page.locator(bar).evaluate("one => getComputedStyle(one).backgroundColor")
            assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", color), color
        page.get_by_role("link", name="KEDAI KOPI").first.click()
        page.locator("#title").wait_for()
        text = page.locator("dd", has_text="rcp_").locator("code").bounding_box()
        heading = page.locator(".rv-head").bounding_box()
        assert text
        assert heading
        assert text["x"] + text["width"] <= heading["x"] + heading["width"] - 16


def test_note_is_apart_from_the_tabs_above_an_empty_list(site: Site, address: Address) -> None:
    with site.visit(size=SIZE) as page:
        body = {"email": address("gil"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.goto("/portal/receipts?did=delete&done=3")
        tabs = page.locator("#tabs").bounding_box()
        note = page.get_by_role("status").filter(has_text="3 receipts deleted.").bounding_box()
        assert tabs
        assert note
        assert note["y"] >= tabs["y"] + tabs["height"] + 8
