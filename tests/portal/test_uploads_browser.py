"""Uploads from any page of the portal in a real browser: dropped, pasted, canceled."""

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Dialog, Page, Route, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, Address, Site, drop, upload, violations, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

PHONE = (390, 844)
PAGES = (
    "", "/receipts", "/analytics", "/keys", "/webhooks", "/members", "/billing", "/audit",
    "/organization", "/security", "/nowhere",
)  # fmt: skip
PASTE = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File(["GIF89a"], "cells.gif", {type: "image/gif"}));
  if (text) data.setData("text/plain", text);
  const options = {clipboardData: data, cancelable: true, bubbles: true};
  const target = name ? document.getElementById(name) : document.body;
  return target.dispatchEvent(new ClipboardEvent("paste", options));
}"""
# The first request meets no connection.
FAIL_ONCE = """() => {
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function () {
    XMLHttpRequest.prototype.send = send;
    this.dispatchEvent(new ProgressEvent("error"));
  };
}"""
# What a browser offers when a picture of the page is dragged: the picture as a file.
DRAG_PICTURE = """() => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["x"], "page.webp", {type: "image/webp"}));
  for (const kind of ["dragstart", "dragenter", "drop", "dragend"]) {
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer, bubbles: true}));
  }
}"""


def sign_up(page: Page, email: str) -> None:
    """Sign the browser in as the owner of an organization."""
    body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok


def make_receipt(folder: Path, name: str) -> Path:
    """Print a receipt."""
    file = folder / f"{name}.pdf"
    file.write_bytes(drawing.pdf(make_documents.till_receipt(name).rows))
    return file


def make_photo(folder: Path) -> Path:
    """Make a picture on which nothing can be read."""
    content = io.BytesIO()
    Image.new("RGB", (300, 400), "gray").save(content, "PNG")
    file = folder / "photo.png"
    file.write_bytes(content.getvalue())
    return file


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_files_dropped_on_any_page_are_uploaded(
    site: Site, address: Address, tmp_path: Path, size: tuple[int, int]
) -> None:
    with site.visit(size=size) as page:
        sign_up(page, address(f"ana{size[0]}"))
        file = make_receipt(tmp_path, "A-1")
        for path in PAGES:
            page.goto(f"/portal{path}")
            page.wait_for_load_state("load")
            drop(page, file)
            title = "1 already here" if path else "1 uploaded"
            expect(page.get_by_role("heading", name=title)).to_be_in_viewport(ratio=1)
            assert width(page) <= size[0]
        assert [] == violations(page)


def test_upload_of_another_page_shows_its_progress_and_can_be_canceled(
    site: Site, address: Address, tmp_path: Path
) -> None:
    with site.visit(size=PHONE) as page:
        sign_up(page, address("bea"))
        page.goto("/portal/analytics")
        page.wait_for_load_state("load")
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/portal/receipts", hold)
        photo = make_photo(tmp_path)
        with page.expect_file_chooser() as choosing:
            page.get_by_role("link", name="Upload receipts").click()
        choosing.value.set_files([photo, make_receipt(tmp_path, "B-1")])
        uploads = page.locator("#uploads")
        expect(uploads.locator("canvas.thumb")).to_have_count(1)
        expect(uploads.get_by_role("progressbar", name="Upload of photo.png")).to_be_visible()
        bar = page.get_by_role("navigation", name="Main, phone").bounding_box()
        box = uploads.bounding_box()
        assert bar
        assert box
        assert box["y"] + box["height"] <= bar["y"]
        uploads.get_by_role("button", name="Cancel photo.png").click()
        expect(uploads.get_by_text("Canceled")).to_have_count(1)
        uploads.get_by_role("button", name="Cancel all").click()
        expect(page.get_by_role("heading", name="2 canceled")).to_be_visible()
        uploads.get_by_role("button", name="Close").click()
        expect(uploads).to_be_hidden()


def test_leaving_asks_while_files_are_sent(site: Site, address: Address, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, address("cid"))
        page.goto("/portal/keys")
        page.wait_for_load_state("load")
        asked: list[str] = []

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.type)
            dialog.accept()

        page.on("dialog", answer)
        page.route("**/portal/receipts", lambda _route: None)
        # Browsers ask those only who did something on the page.
        page.locator("h1").click()
        drop(page, make_receipt(tmp_path, "C-1"))
        expect(page.locator("#uploads .upload")).to_be_visible()
        page.goto("/portal/audit")
        expect(page.get_by_role("heading", name="Audit log")).to_be_visible()

    assert ["beforeunload"] == asked


def test_review_page_takes_files_but_fields_keep_pasted_text(site: Site, address: Address) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, address("dora"))
        (path,) = upload(page, drawing.pdf(make_documents.till_receipt("D-1").rows))
        page.goto(path)
        page.wait_for_load_state("load")
        uploads = page.locator("#uploads")
        # Copied cells are a text and a picture.
        assert page.evaluate(PASTE, ["document_number", "A-3"])
        page.evaluate(DRAG_PICTURE)
        expect(uploads).to_be_hidden()
        assert not page.evaluate(PASTE, ["document_number", ""])
        expect(uploads.locator(".upload")).to_contain_text("The file is not a JPG")
        approve, box = page.locator("[data-approve]").bounding_box(), uploads.bounding_box()
        assert approve
        assert box
        assert box["x"] + box["width"] < approve["x"]
        assert [] == violations(page)


def join_as_viewer(site: Site, page: Page, address: Address, *, may_upload: bool) -> None:
    """Sign the browser in as a viewer of an organization."""
    sign_up(page, address("eva"))
    if may_upload:
        form: dict[str, str | float | bool] = {"viewers_write": "true"}
        assert page.request.post("/portal/organization/viewers", form=form).ok
    email = address("fay")
    assert page.request.post("/v1/org/members", data={"email": email, "role": "viewer"}).ok
    accept = site.link_to(email, "accept-invite")
    page.context.clear_cookies()
    page.goto(accept)
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/portal**")


def test_bookkeeper_takes_photos_with_a_phone(site: Site, address: Address, tmp_path: Path) -> None:
    with site.visit(size=PHONE) as page:
        join_as_viewer(site, page, address, may_upload=True)
        page.goto("/portal/receipts")
        page.wait_for_load_state("load")
        camera = page.locator(".bottombar .cam")
        expect(camera).to_be_in_viewport(ratio=1)
        with page.expect_file_chooser() as choosing:
            camera.click()
        choosing.value.set_files(make_receipt(tmp_path, "F-1"))
        expect(page.locator("tbody").get_by_text("KEDAI KOPI")).to_be_visible()


def test_members_who_may_not_upload_drop_nothing(site: Site, address: Address) -> None:
    with site.visit(size=DESK) as page:
        join_as_viewer(site, page, address, may_upload=False)
        for path in ("", "/receipts", "/analytics", "/members", "/security"):
            page.goto(f"/portal{path}")
            expect(
                page.locator("#uploads, #drop, #upload-row, .cam, script[src*=upload]")
            ).to_have_count(0)
            expect(page.locator("h1")).to_be_visible()


def test_file_that_met_no_connection_is_sent_again_with_a_button(
    site: Site, tmp_path: Path
) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "neto@people.test")
        page.goto("/portal/receipts")
        page.evaluate(FAIL_ONCE)
        drop(page, make_receipt(tmp_path, "N-1"))
        row = page.locator(".upload")
        expect(row).to_contain_text("No connection")
        row.get_by_role("button", name="Try again").click()
        expect(page.locator(".inbox .m-link")).to_have_count(1)
        expect(row).not_to_contain_text("No connection")
