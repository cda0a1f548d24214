"""The inbox in a real browser: bulk actions, uploads by dropping and pasting, and without JS."""

import re
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import PHONE, Site, violations, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

DESK = (1280, 900)
EMPTY_ROWS = """() => {
  const cells = ".inbox tbody :is(.c-why, .c-cat, .c-date, .c-total)";
  for (const one of document.querySelectorAll(cells)) one.replaceChildren();
}"""


def sign_up(page: Page, name: str) -> None:
    """Sign the browser in as the owner of an organization."""
    body = {
        "email": f"{name}-{token_hex(4)}@inbox.test",
        "password": PASSWORD,
        "org_name": "Padaria Aurora",
    }
    assert page.request.post("/v1/auth/signup", data=body).ok


def make_receipts(folder: Path, *names: str) -> list[Path]:
    """Print a receipt for each name."""
    for name in names:
        receipt = make_documents.till_receipt(name)
        (folder / f"{name}.pdf").write_bytes(drawing.pdf(receipt.rows))
    return [folder / f"{name}.pdf" for name in names]


def choose(page: Page, files: list[Path]) -> None:
    """Choose files by the button of the page, which sends them at once."""
    # Before its script has arrived, the button is a link.
    page.wait_for_load_state("load")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("link", name="Upload", exact=True).click()
    chooser.value.set_files(files)


def test_receipts_are_uploaded_selected_and_approved(site: Site, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "ana")
        page.goto("/portal/receipts")
        first, second = make_receipts(tmp_path, "B-1", "B-2")
        choose(page, [first, second, first])
        uploads = page.locator("#uploads")
        expect(uploads.get_by_text("Already here", exact=True)).to_be_visible()
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        expect(page.locator(".thumb")).to_have_count(2)
        assert [] == violations(page)

        page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
        for key in "jjkx":
            page.keyboard.press(key)
        expect(page.locator("[data-count]")).to_have_text("1 selected")
        expect(page.locator(".inbox tbody [name=id]").first).to_be_checked()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_label("Select all on this page").check()
        expect(page.locator("[data-count]")).to_have_text("2 selected")
        assert [] == violations(page)
        page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
        page.keyboard.press("a")
        # Both are of the same minute and total.
        page.get_by_role("button", name="Approve all 2 receipts anyway").click()
        expect(page.get_by_text("2 receipts approved.")).to_be_visible()
        page.get_by_role("link", name="Approved").click()
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)


def test_pasted_file_is_sent_and_a_wrong_one_explained(site: Site) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "bea")
        page.goto("/portal/receipts")
        page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(["GIF89a, not a receipt"], "cat.gif", {type: "image/gif"}));
              dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, cancelable: true}));
            }"""
        )
        row = page.locator("#uploads .upload")
        expect(row).to_contain_text("cat.gif")
        expect(row).to_contain_text("The file is not a JPG")


def test_upload_can_be_canceled(site: Site, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "cid")
        page.goto("/portal/receipts")
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/portal/receipts", hold, times=1)
        choose(page, make_receipts(tmp_path, "C-1", "C-2"))
        expect(page.locator("#uploads")).to_contain_text("Uploading")
        page.get_by_role("button", name="Cancel C-1.pdf").click()
        expect(page.locator("#uploads").get_by_text("Canceled", exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name="1 uploaded, 1 canceled")).to_be_visible()
        # The list has it.
        expect(page.locator("#uploads").get_by_text("Uploaded", exact=True)).to_be_hidden()
        choose(page, make_receipts(tmp_path, "C-2"))
        summary = "1 uploaded, 1 already here, 1 canceled"
        expect(page.get_by_role("heading", name=summary)).to_be_visible()
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert width(page) <= PHONE[0]
        page.locator("#uploads").get_by_role("button", name="Close").click()
        expect(page.locator("#uploads")).to_be_hidden()
        expect(page.get_by_text("34.15 MYR")).to_have_count(1)


def test_inbox_works_without_javascript(site: Site, tmp_path: Path) -> None:
    with site.visit(javascript=False) as page:
        sign_up(page, "dora")
        page.goto("/portal/receipts?upload=yes")
        expect(page.get_by_label("Take photo")).to_be_visible()
        # Phones drop nothing.
        expect(page.get_by_text("or drop them on the page")).to_be_hidden()
        page.locator("#file").set_input_files(make_receipts(tmp_path, "D-1", "D-2"))
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("Uploaded.")).to_be_visible()
        while page.get_by_text("34.15 MYR").count() < len(("D-1", "D-2")):
            page.goto("/portal/receipts")
        assert width(page) <= PHONE[0]
        # Keys do nothing without scripts.
        page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
        expect(page.locator(".list-foot [popovertarget=shortcuts]")).to_be_hidden()
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})

        page.locator("summary", has_text="Currency").click()
        page.get_by_label("Currency").fill("myr")
        page.get_by_role("button", name="Apply").locator("visible=true").click()
        expect(page.get_by_role("link", name="Remove filter: currency")).to_be_visible()
        page.get_by_text("Select", exact=True).click()
        page.get_by_role("checkbox", name=re.compile("Select KEDAI")).first.check()
        page.locator(".bulk summary", has_text="Category").click()
        page.get_by_role("button", name="Fuel").click()
        expect(page.get_by_text("The category of 1 receipt is set.")).to_be_visible()

        page.get_by_text("Select", exact=True).click()
        page.get_by_role("checkbox", name=re.compile("Select KEDAI")).first.check()
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete 1 receipt").click()
        expect(page.get_by_text("1 receipt deleted.")).to_be_visible()
        expect(page.get_by_text("34.15 MYR")).to_have_count(1)


def test_upload_shows_the_export_and_removes_the_last_note(site: Site, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "eva")
        page.goto("/portal/receipts?did=delete&done=3")
        export = page.locator(".head summary", has_text="Export")
        note = page.get_by_text("3 receipts deleted.")
        expect(note).to_be_visible()
        expect(export).to_have_count(0)
        choose(page, make_receipts(tmp_path, "E-1"))
        expect(note).to_have_count(0)
        expect(export).to_be_visible()
        export.click()
        # An open menu stays while the list goes on.
        expect(page.get_by_text("34.15 MYR")).to_be_visible()
        expect(page.get_by_role("link", name="Excel (XLSX), one row per item")).to_be_visible()


def test_columns_and_search_stay_where_they_are(site: Site, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "fay")
        page.goto("/portal/receipts")
        choose(page, make_receipts(tmp_path, "F-1", "F-2"))
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        # Without the note about the upload.
        page.goto("/portal/receipts")
        columns, search = page.locator(".inbox th"), page.locator("#q")
        read = [one.bounding_box() for one in columns.all()]
        # As long as a receipt is read, it has no values.
        page.evaluate(EMPTY_ROWS)
        assert read == [one.bounding_box() for one in columns.all()]

        before = search.bounding_box()
        search.fill("kedai")
        search.press("Enter")
        expect(page.get_by_role("link", name="Clear all")).to_be_visible()
        after = search.bounding_box()
        assert before
        assert after
        assert [before[side] for side in ("x", "y")] == [after[side] for side in ("x", "y")]
        # The button that removes a filter is behind its value.
        page.goto("/portal/receipts?currency=MYR")
        value, cross = (page.locator(one).bounding_box() for one in (".chip-on b", ".chip-x"))
        assert value
        assert cross
        assert value["x"] + value["width"] <= cross["x"] + cross["width"] / 4
        assert [box and box["y"] for box in read] == [
            box and box["y"] for box in [one.bounding_box() for one in columns.all()]
        ]


def test_keys_lead_to_what_is_to_review_and_to_other_tabs(site: Site) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "gil")
        page.goto("/portal/analytics")
        page.wait_for_load_state("load")
        for key in "gr":
            page.keyboard.press(key)
        page.wait_for_url("**/portal/receipts?review=needs_review")
        page.keyboard.press("3")
        page.wait_for_url("**/portal/receipts?review=ready")


def fail(page: Page) -> None:
    """Upload a file that cannot be opened, and show the inbox."""
    wanted = {"name": "Uploads", "scopes": ["read", "write"]}
    headers = {"X-API-Key": page.request.post("/v1/api-keys", data=wanted).json()["secret"]}
    broken = b"%PDF-1.7\n% nothing follows".ljust(400)
    file: FilePayload = {"name": "a.pdf", "mimeType": "application/pdf", "buffer": broken}
    answer = page.request.post("/v1/extract", headers=headers, multipart={"file": file})
    assert "low_confidence" == answer.json()["error"]["code"]
    page.goto("/portal/receipts?status=failed")
    expect(page.get_by_text("damaged or incomplete")).to_be_visible()


def test_new_copy_is_chosen_in_the_row_of_what_failed(site: Site, tmp_path: Path) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "hal")
        fail(page)
        page.goto("/portal/receipts")
        page.wait_for_load_state("load")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("link", name="Upload a new copy").press("Enter")
        assert not chooser.value.is_multiple()
        chooser.value.set_files(make_receipts(tmp_path, "H-1"))
        expect(page.get_by_text("34.15 MYR")).to_be_visible()
        expect(page.get_by_text("damaged or incomplete")).to_have_count(0)
        expect(page.get_by_text("1 on this page")).to_be_visible()
        # What is uploaded afterwards replaces nothing.
        with page.expect_request("**/portal/receipts"):
            choose(page, make_receipts(tmp_path, "H-2"))
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)


def test_new_copy_is_uploaded_on_a_phone_without_javascript(site: Site, tmp_path: Path) -> None:
    with site.visit(size=(390, 844), javascript=False) as page:
        sign_up(page, "ida")
        fail(page)
        page.get_by_role("link", name="Upload a new copy").click()
        file = page.get_by_label("New copy of this document")
        expect(file).to_be_in_viewport()
        assert width(page) <= 390
        file.set_input_files(make_receipts(tmp_path, "I-1"))
        page.get_by_role("button", name="Upload a new copy").click()
        expect(page.get_by_text("Uploaded in place of the document")).to_be_visible()
        page.goto("/portal/receipts?status=failed")
        expect(page.get_by_text("No receipts here")).to_be_visible()


def test_page_of_what_failed_has_no_serious_barriers(site: Site) -> None:
    with site.visit(size=DESK) as page:
        sign_up(page, "jon")
        fail(page)
        found = violations(page)
        page.locator(".m-link").click()
        expect(page.get_by_label("New copy of this document")).to_be_visible()
        found += violations(page)

    assert [] == found
