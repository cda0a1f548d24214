"""What pages weigh, and whether everybody can use them."""

import pytest
from playwright.sync_api import Page, Response, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, Site, upload, violations

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("second browser")

MAX_BYTES = 150_000
ROWS = 25
VISITED = ("sign-in", "sign-up", "forgot-password", "accept-invite", "nowhere")
SECTIONS = (
    "", "/receipts", "/keys", "/webhooks", "/webhooks/new", "/analytics", "/members",
    "/billing", "/audit",
    "/organization", "/security", "/style", "/nowhere",
)  # fmt: skip


def sign_up(page: Page, name: str) -> None:
    """Sign the browser in as the owner of an organization with a key and an endpoint."""
    body = {"email": f"{name}@look.test", "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok
    post(page, "/portal/keys", name="Expenses", kind="secret", read="on")
    post(page, "/portal/webhooks", url="http://127.0.0.1:9/")


def post(page: Page, path: str, **fields: str | float | bool) -> None:
    """Submit a form of a page."""
    assert page.request.post(path, form=fields).ok


def test_pages_for_visitors_have_no_serious_barriers(site: Site) -> None:
    with site.visit() as page:
        for path in VISITED:
            page.goto(f"/portal/{path}")
            assert [] == violations(page)


def test_sections_have_no_serious_barriers(site: Site) -> None:
    with site.visit() as page:
        sign_up(page, "ana")
        for path in SECTIONS:
            page.goto(f"/portal{path}")
            # What is folded must be usable, too.
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert [] == violations(page)


def test_page_of_an_endpoint_has_no_serious_barriers(site: Site) -> None:
    with site.visit() as page:
        sign_up(page, "eva")
        post(page, "/portal/webhooks/endpoints", url="http://127.0.0.1:9/two", events="all")
        post(page, "/portal/webhooks/test")
        for path in ("/portal/webhooks", None):
            if path:
                page.goto(path)
            else:
                page.goto(str(page.locator(".endpoints a").last.get_attribute("href")))
                page.get_by_label("Chosen types only").check()
                expect(page.get_by_label("receipt.completed")).to_be_visible()
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert [] == violations(page)


def weight(page: Page, path: str) -> int:
    """Return the bytes of all bodies that a page loads, but of images."""
    loaded: list[Response] = []

    def note(answer: Response) -> None:
        loaded.append(answer)

    page.on("response", note)
    page.goto(path)
    page.wait_for_load_state("networkidle")
    texts = [one for one in loaded if one.request.resource_type != "image"]
    assert len(texts) > 5, path
    return sum(one.request.sizes()["responseBodySize"] for one in texts)


def test_cold_pages_weigh_little(site: Site) -> None:
    with site.visit(size=DESK) as page:
        assert weight(page, "/portal/sign-in") < MAX_BYTES
    for name, path in (
        ("bea", "/portal"),
        ("cora", "/portal/style"),
        ("dora", "/portal/analytics"),
    ):
        with site.visit(size=DESK) as page:
            sign_up(page, name)
            assert weight(page, path) < MAX_BYTES


def test_cold_inbox_and_review_of_many_items_weigh_little(site: Site) -> None:
    items = make_documents.CAFE_ITEMS * 5
    with site.visit(size=DESK) as page:
        sign_up(page, "ida")
        [long] = upload(page, drawing.pdf(make_documents.till_receipt("A-0", items=items).rows))
        numbers = range(1, ROWS)
        upload(page, *(drawing.pdf(make_documents.till_receipt(f"A-{n}").rows) for n in numbers))
    for path, selector, count in (
        ("/portal/receipts", ".inbox tbody tr", ROWS),
        (long, ".line-items tbody:not(.new)", len(items)),
    ):
        # Each has nothing in its cache.
        with site.visit(size=DESK) as page:
            body = {"email": "ida@look.test", "password": PASSWORD}
            assert page.request.post("/v1/auth/login", data=body).ok
            assert weight(page, path) < MAX_BYTES
            expect(page.locator(selector)).to_have_count(count)


def test_menu_and_dialog_work_without_javascript(site: Site) -> None:
    with site.visit(size=DESK, javascript=False) as page:
        sign_up(page, "cid")
        page.goto("/portal/keys")
        page.get_by_role("button", name="Revoke").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Revoke").click()
        page.get_by_role("button", name="Revoke this key").click()
        expect(page.get_by_role("status")).to_contain_text("is revoked")
        page.locator(".side .who summary").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("status")).to_have_text("You are signed out.")


def test_copy_button_is_right_of_the_code_on_a_phone(site: Site) -> None:
    with site.visit(size=(390, 844)) as page:
        sign_up(page, "gia")
        page.goto("/portal")
        button = page.locator(".code .copy").first
        # Only pages of this machine and of https may write to the clipboard.
        button.evaluate("one => { one.hidden = false; }")
        code = page.locator(".code pre").first.bounding_box()
        copy = button.bounding_box()
        assert code
        assert copy
        assert code["x"] + code["width"] <= copy["x"]


def test_pages_have_one_width(site: Site) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "hugo")
        widths = set()
        for path in ("keys", "members", "billing", "audit", "organization", "security"):
            page.goto(f"/portal/{path}")
            page.wait_for_load_state("load")
            widths.add(page.locator(".body > *").first.evaluate("one => one.clientWidth"))

    assert max(widths) - min(widths) <= 2


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_what_can_be_searched_is_not_cut_off(site: Site, language: str) -> None:
    with site.visit(size=DESK, language=language) as page:
        sign_up(page, f"ivo{language[:2].lower()}")
        upload(page, drawing.pdf(make_documents.till_receipt().rows))
        page.goto("/portal/receipts")
        needed, given = page.locator("#q").evaluate(
            """one => {
              const paint = document.createElement("canvas").getContext("2d");
              const { font, paddingLeft, paddingRight } = getComputedStyle(one);
              paint.font = font;
              const padding = parseFloat(paddingLeft) + parseFloat(paddingRight);
              return [paint.measureText(one.placeholder).width, one.clientWidth - padding];
            }"""
        )
        page.goto("/portal/receipts?category=restaurants&sort=merchant")
        tops = page.locator(".chips > *").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width)"
            ".map(({ top, height }) => Math.round(top + height / 2))"
        )

    assert needed <= given
    assert max(tops) - min(tops) < 10


def test_keys_fit_a_phone(site: Site) -> None:
    with site.visit(size=(390, 844)) as page:
        sign_up(page, "fay")
        page.goto("/portal/keys")
        box = page.get_by_role("region", name="Active keys, table")
        assert box.evaluate("one => one.scrollWidth <= one.clientWidth")
        expect(page.get_by_role("button", name="Revoke", exact=True)).to_be_in_viewport(ratio=1)
        assert [] == violations(page)
