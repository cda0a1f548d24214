"""What tablets show of a review, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import Address, Site, upload, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_buttons_and_tools_of_a_review_are_whole(
    site: Site, address: Address, language: str
) -> None:
    with site.visit(size=(780, 1000)) as page:
        page.set_extra_http_headers({"Accept-Language": language})
        body = {"email": address("ana"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        (path,) = upload(page, drawing.pdf(make_documents.till_receipt("T-1").rows))
        page.goto(path)
        expect(page.locator(".act")).to_be_visible()
        for size in (780, 900, 1000, 1100):
            page.set_viewport_size({"width": size, "height": 1000})
            for part in (".act", ".doc-tools"):
                whole = page.locator(part).bounding_box()
                pane = page.locator(part).locator("..").bounding_box()
                assert whole
                assert pane
                assert pane["x"] <= whole["x"]
                assert whole["x"] + whole["width"] <= pane["x"] + pane["width"]
            last = page.locator(".act .btn").last.bounding_box()
            date = page.locator("#issued_date")
            assert last
            assert last["x"] + last["width"] <= size
            assert date.evaluate("one => one.scrollWidth <= one.clientWidth")
            assert width(page) <= size
