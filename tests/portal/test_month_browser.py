"""From sign-up to an approved and exported month: by mouse, by keyboard alone, without scripts."""

import csv
import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, Site, width
from tests.portal.keyboard import press, reach

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("second browser")

PHONE = (390, 844)
NUMBER = "M-2 corrected"


def make_receipts(folder: Path) -> list[Path]:
    """Print two receipts whose items do not add up."""
    paths = []
    # At other times, so that none is a possible duplicate.
    for day, number in ((14, "M-1"), (15, "M-2")):
        at = dt.datetime(2025, 3, day, 9, 5, tzinfo=dt.UTC)
        rows = make_documents.till_receipt(number, at=at).rows
        shown = [one for one in rows if not re.search("Kaya|1 x 4.20", repr(one))]
        paths.append(folder / f"{number}.pdf")
        paths[-1].write_bytes(drawing.pdf(shown))
    return paths


def exported(page: Page, use: Callable[[Locator], None]) -> list[dict[str, str]]:
    """Export the receipts of the inbox as CSV and return the rows."""
    use(page.locator(".head summary", has_text="Export"))
    with page.expect_download() as download:
        use(page.get_by_role("link", name="CSV, one row per receipt"))
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def check(rows: list[dict[str, str]]) -> None:
    """Compare an export with the two receipts."""
    assert ["M-1", NUMBER] == sorted(row["Number"] for row in rows)
    assert ["Approved"] * 2 == [row["Review status"] for row in rows]
    assert ["34.15"] * 2 == [row["Total"] for row in rows]


def wait_until_read(page: Page) -> None:
    """Load the inbox until both receipts are read, as people without scripts do."""
    while page.get_by_text("34.15 MYR").count() < 2:
        page.goto("/portal/receipts")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("javascript", [True, False], ids=["scripts", "no-scripts"])
def test_month_is_approved_and_exported(
    site: Site, tmp_path: Path, size: tuple[int, int], javascript: bool
) -> None:
    def click(target: Locator) -> None:
        target.click()

    with site.visit(size=size, javascript=javascript) as page:
        page.goto("/portal/sign-up")
        page.get_by_label("Email").fill(f"m-{token_hex(4)}@month.test")
        page.locator("input[name=password]").fill(PASSWORD)
        page.get_by_label("Organization").fill("Padaria Aurora")
        page.get_by_role("button", name="Create account").click()
        # The sidebar has one, the bar of phones the other.
        page.get_by_role("link", name="Inbox", exact=True).nth(0 if size == DESK else -1).click()
        # Before its scripts have arrived, a chosen file waits for the button.
        page.wait_for_load_state("load")
        page.locator("#file").set_input_files(make_receipts(tmp_path))
        if not javascript:
            page.get_by_role("button", name="Upload").click()
            wait_until_read(page)
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        page.get_by_role("link", name=re.compile("To review")).first.click()
        # The newest one is on top.
        page.get_by_role("link", name=re.compile("KEDAI KOPI")).first.click()
        page.get_by_role("textbox", name="Number").fill(NUMBER)
        page.get_by_role("button", name="Approve and next").click()
        expect(page.get_by_role("textbox", name="Number")).to_have_value("M-1")
        with page.expect_navigation():
            page.get_by_role("button", name="Approve").first.click()
        page.goto("/portal/receipts")
        page.locator("summary", has_text="Date").click()
        page.get_by_label("Issued on or after").fill("2025-03-01")
        page.get_by_label("Issued until").fill("2025-03-31")
        page.get_by_role("button", name="Apply").locator("visible=true").click()
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        check(exported(page, click))
        assert width(page) <= size[0]


def approve_despite_doubts(page: Page) -> None:
    """Press Enter and, after the answer, again."""
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_contain_text("Press Enter again")
    page.keyboard.press("Enter")


def test_month_is_approved_and_exported_by_keyboard_alone(site: Site, tmp_path: Path) -> None:
    def use(target: Locator) -> None:
        press(page, target)

    with site.visit(size=DESK) as page:
        page.goto("/portal/sign-up")
        # Browsers move the focus there only when they draw.
        expect(page.get_by_label("Email")).to_be_focused()
        page.keyboard.type(f"keys-{token_hex(4)}@month.test")
        reach(page, page.locator("input[name=password]"))
        page.keyboard.type(PASSWORD)
        reach(page, page.get_by_label("Organization"))
        page.keyboard.type("Padaria Aurora")
        page.keyboard.press("Enter")
        use(page.get_by_role("link", name="Inbox", exact=True).first)
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        with page.expect_file_chooser() as chooser:
            use(page.get_by_role("link", name="Upload", exact=True).first)
        chooser.value.set_files(make_receipts(tmp_path))
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        use(page.get_by_role("link", name=re.compile("To review")).first)
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        use(page.get_by_role("link", name=re.compile("KEDAI KOPI")).first)
        number = page.get_by_role("textbox", name="Number")
        reach(page, number)
        page.keyboard.press("Control+a")
        page.keyboard.type(NUMBER)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Read as “M-2”")).to_be_visible()
        approve_despite_doubts(page)
        expect(number).to_have_value("M-1")
        approve_despite_doubts(page)
        page.wait_for_url(re.compile("notice="))
        use(page.get_by_role("link", name="Inbox", exact=True).first)
        page.locator("#q").wait_for()
        use(page.locator("summary", has_text="Date"))
        reach(page, page.get_by_label("Issued on or after"))
        page.keyboard.type("03012025")
        reach(page, page.get_by_label("Issued until"))
        page.keyboard.type("03312025")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Remove filter: date")).to_be_visible()
        check(exported(page, use))
