"""The document of the review page in a real browser: boxes on one another, scrolling, excerpts."""

import json
import sqlite3
from secrets import token_hex

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import drawing, make_documents
from tests.make_documents import PrintedDocument
from tests.people import PASSWORD
from tests.portal.browser import DESK, PHONE, Site, upload, violations, width

# One server and one browser, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

SMALL = (1280, 480)
# The least height of a line of text: its letters are about two thirds of it.
LEGIBLE = 18


def read(page: Page, name: str, document: PrintedDocument | None = None) -> str:
    """Sign up and upload a receipt; return its path."""
    body = {
        "email": f"{name}-{token_hex(4)}@evidence.test",
        "password": PASSWORD,
        "org_name": "Padaria Aurora",
    }
    assert page.request.post("/v1/auth/signup", data=body).ok
    [path] = upload(page, drawing.pdf((document or make_documents.till_receipt()).rows))
    return path


def show(page: Page, name: str, document: PrintedDocument | None = None) -> None:
    """Sign up, upload a receipt and show it."""
    page.goto(read(page, name, document))


def expect_seen(box: Locator) -> None:
    """Wait until the document is scrolled to a box."""
    expect(box).to_be_in_viewport(ratio=0.8)


def doubt(site: Site, path: str, field: str) -> None:
    """Make the value of a field doubtful, as if it had been hard to read."""
    receipt_id = path.rsplit("/", 1)[1]
    doubts = json.dumps([{"code": "low_confidence", "field": field}])
    confidence = f"$.{field}.confidence"
    with sqlite3.connect(site.data_dir / "recibo.db") as database:
        database.execute(
            "UPDATE evidence SET evidence = json_set(evidence, ?, 0.4) WHERE receipt_id = ?",
            (confidence, receipt_id),
        )
        database.execute(
            "UPDATE receipts SET doubts = ?, review_status = 'needs_review' WHERE id = ?",
            (doubts, receipt_id),
        )


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_document_is_scrolled_to_the_box_of_a_field(site: Site, motion: str) -> None:
    with site.visit(size=SMALL) as page:
        page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
        show(page, "ana")
        page.keyboard.press("+")
        total, merchant = page.locator("#box-total"), page.locator("#box-merchant_name")
        expect_seen(merchant)
        expect(total).not_to_be_in_viewport()
        page.locator(".f[data-f=total]").hover()
        expect_seen(total)
        page.keyboard.press("f")
        expect_seen(merchant)
        smooth = page.locator(".doc-scroll").evaluate("one => getComputedStyle(one).scrollBehavior")
        # It stays in view when the document is larger.
        page.locator("#total").focus()
        expect_seen(total)
        page.get_by_role("link", name="Zoom in").click()
        page.locator("#total").focus()
        expect_seen(total)

    assert ("auto" if motion == "reduce" else "smooth") == smooth


def test_field_that_the_pointer_only_crosses_scrolls_nothing(site: Site) -> None:
    with site.visit(size=SMALL) as page:
        page.emulate_media(reduced_motion="reduce")
        page.clock.install()
        show(page, "bea")
        page.keyboard.press("+")
        pages = page.locator(".doc-scroll")
        page.locator(".f[data-f=total]").hover()
        page.clock.run_for(100)
        page.mouse.move(5, 5)
        page.clock.run_for(1000)
        assert 0 == pages.evaluate("one => one.scrollTop")
        page.locator(".f[data-f=total]").hover()
        page.clock.run_for(1000)
        assert 0 < pages.evaluate("one => one.scrollTop")


def test_repeated_clicks_go_through_the_boxes_at_a_place(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "cid")
        tax, rate = page.locator("#tax"), page.locator("#tax-0-name")
        # Both are read from the same words.
        place = page.locator("#box-tax").bounding_box()
        assert place == page.locator("#box-tax-0").bounding_box()
        assert place
        point = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
        for reached in (tax, rate, tax, rate):
            page.mouse.click(*point)
            expect(reached).to_be_focused()
        # After another field, the topmost one is the first again.
        page.locator("#box-total").click()
        page.mouse.click(*point)
        expect(tax).to_be_focused()
        page.locator("#merchant_name").focus()
        page.mouse.click(*point)
        expect(tax).to_be_focused()


def test_only_values_to_check_have_an_amber_mark(site: Site) -> None:
    color = "one => getComputedStyle(one).color"
    with site.visit(size=DESK) as page:
        show(page, "cid")
        mark = page.locator(".find-sure").first
        sure = mark.evaluate(color)
        colors = {}
        for level in ("fair", "doubtful"):
            mark.evaluate("(one, level) => { one.className = `find find-${level}`; }", level)
            colors[level] = page.locator(f".find-{level}").first.evaluate(color)

    assert sure == colors["fair"]
    assert sure != colors["doubtful"]


def test_smaller_box_is_above_a_larger_one(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "dora")
        small = page.locator("#box-tax")
        # As if the line of the item reached down to the taxes.
        page.locator("#box-item-0 rect").evaluate("one => one.setAttribute('height', '600')")
        small.click()
        expect(page.locator("#tax")).to_be_focused()
        for reached in ("#tax-0-name", "#item-0-name", "#tax"):
            small.click(force=True)
            expect(page.locator(reached)).to_be_focused()


def print_in_one_line(site: Site, path: str) -> None:
    """Make the access key a line that is thirty times as wide as it is high."""
    where = "UPDATE evidence SET evidence = json_set(evidence, '$.document_key.text', '', "
    box = "'$.document_key.box', json('[172, 795, 592, 809]')) WHERE receipt_id = ?"
    with sqlite3.connect(site.data_dir / "recibo.db") as database:
        database.execute(where + box, (path.rsplit("/", 1)[1],))


@pytest.mark.parametrize("size", [DESK, (1000, 800), (390, 844), PHONE])
@pytest.mark.parametrize(
    ("field", "lines", "rows"),
    [("document_key", 2, 1), ("merchant_tax_id", 1, 1), ("document_key", 1, 2)],
)
def test_excerpt_of_a_long_value_is_legible(
    site: Site, size: tuple[int, int], field: str, lines: int, rows: int
) -> None:
    with site.visit(size=size) as page:
        path = read(page, "eva", make_documents.nfce())
        doubt(site, path, field)
        if rows > 1:
            print_in_one_line(site, path)
        page.goto(path)
        check = page.locator(f".chk[data-f={field}]")
        crop, column = (check.locator(one).bounding_box() for one in (".crop", ".chk-g"))
        marks = [one.bounding_box() for one in check.locator(".hl").all()]
        first, last = marks[0], marks[-1]
        assert crop
        assert column
        assert first
        assert last
        assert width(page) <= size[0]

    assert rows == len(marks)
    assert abs(crop["width"] - column["width"]) < 1
    assert first["height"] >= LEGIBLE * lines * (0.8 if size == PHONE else 1)
    # The value begins in the first row, and ends in the last one.
    assert first["x"] >= crop["x"]
    assert last["x"] + last["width"] <= crop["x"] + crop["width"]


@pytest.mark.parametrize("size", [DESK, (390, 844), PHONE])
@pytest.mark.parametrize("field", ["total", "document_number"])
def test_excerpt_shows_nothing_but_the_page(site: Site, size: tuple[int, int], field: str) -> None:
    with site.visit(size=size) as page:
        path = read(page, "gil")
        doubt(site, path, field)
        page.goto(path)
        crop = page.locator(f".chk[data-f={field}] .crop")
        place, sheet = crop.bounding_box(), crop.locator("image").bounding_box()
        assert place
        assert sheet

    assert sheet["x"] <= place["x"] + 1
    assert place["x"] + place["width"] <= sheet["x"] + sheet["width"] + 1


@pytest.mark.parametrize("size", [DESK, (390, 844), PHONE])
def test_access_key_is_shown_as_a_whole(site: Site, size: tuple[int, int]) -> None:
    with site.visit(size=size) as page:
        show(page, "hal", make_documents.nfce())
        key = page.locator("#whole-key")
        assert key.text_content() == page.locator("#document_key").input_value()
        assert key.evaluate("one => one.scrollWidth <= one.clientWidth")
        for group in key.locator("span").all():
            assert group.evaluate("one => one.getClientRects().length") == 1
        assert width(page) <= size[0]


def test_review_of_a_long_value_has_no_serious_barriers(site: Site) -> None:
    with site.visit(size=DESK) as page:
        path = read(page, "fay", make_documents.nfce())
        doubt(site, path, "document_key")
        page.goto(path)
        assert [] == violations(page)
