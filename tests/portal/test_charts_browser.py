"""Charts in a real browser."""

from secrets import token_hex

import pytest
from playwright.sync_api import Page, expect

from tests.people import PASSWORD
from tests.portal.browser import DESK, PHONE, Site, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


def sign_up(page: Page, name: str) -> None:
    """Sign the browser up."""
    body = {
        "email": f"{name}-{token_hex(4)}@charts.test",
        "password": PASSWORD,
        "org_name": "Padaria Aurora",
    }
    assert page.request.post("/v1/auth/signup", data=body).ok


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_columns_are_drawn_and_name_their_values(site: Site, size: tuple[int, int]) -> None:
    with site.visit(size=size) as page:
        sign_up(page, f"ana{size[0]}")
        page.goto("/portal/style")
        box = page.locator("[data-chart]").first
        expect(box.locator("canvas")).to_be_visible()
        # The figures stay for screen readers.
        expect(box.get_by_role("row")).to_have_count(13)
        box.locator(".u-over").hover()
        expect(box.locator(".tip")).to_contain_text(": ")
        page.set_viewport_size({"width": 500, "height": 800})
        expect(box.locator("canvas")).to_be_visible()

        assert width(page) <= 500


def test_bars_stand_without_javascript(site: Site) -> None:
    with site.visit(size=PHONE, javascript=False) as page:
        sign_up(page, "bea")
        page.goto("/portal/style")
        box = page.locator("[data-chart]").first
        expect(box.locator("canvas")).to_have_count(0)
        expect(box.locator("tbody .meter").first).to_be_visible()

        assert width(page) == PHONE[0]
