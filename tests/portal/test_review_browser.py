"""Review receipts in a real browser: by keyboard, without scripts, in both themes."""

import datetime as dt
import re
import subprocess
import sys
from secrets import token_hex

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, Site, upload, violations, width

# One server and one browser, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


def upload_two(page: Page, name: str, *, are_duplicates: bool = False) -> list[str]:
    """Sign up, upload two receipts to review, show the second one; return their paths."""
    body = {
        "email": f"{name}-{token_hex(4)}@review.test",
        "password": PASSWORD,
        "org_name": "Padaria Aurora",
    }
    assert page.request.post("/v1/auth/signup", data=body).ok
    contents = []
    for day, number in ((14, "A-1"), (14 if are_duplicates else 15, "A-2")):
        at = dt.datetime(2025, 3, day, 12, 41, tzinfo=dt.UTC)
        rows = make_documents.till_receipt(number, at=at).rows
        # Without its last line item, what is left does not add up.
        shown = [one for one in rows if not re.search("Kaya|1 x 4.20", repr(one))]
        contents.append(drawing.pdf(shown))
    paths = upload(page, *contents)
    page.goto(paths[-1])
    expect(page.get_by_role("heading", name="Line items")).to_be_visible()
    return paths


def test_total_is_corrected_and_the_next_one_shown_by_keyboard(site: Site) -> None:
    with site.visit(size=DESK) as page:
        older, newer = upload_two(page, "ana")
        total = page.get_by_role("textbox", name="Total", exact=True)
        page.locator("#box-total").click()
        expect(total).to_be_focused()
        expect(page.locator("#box-total.on")).to_have_count(1)
        page.keyboard.type("1")
        page.keyboard.press("Escape")
        expect(total).to_have_value("34.15")
        total.fill("34.20")
        page.keyboard.press("Enter")
        page.wait_for_url("**notice=saved")
        expect(page.get_by_text("Read as “34.15”")).to_be_visible()
        page.keyboard.press("k")
        page.keyboard.press("j")
        page.wait_for_url(older)
        page.keyboard.press("k")
        page.wait_for_url(newer)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
        page.keyboard.press("Enter")
        expect(page.locator("#outcome")).to_have_text(
            "1 thing to check. Press Enter again to approve anyway."
        )
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"{older}\?notice=next"))


def test_form_adds_up_grows_and_is_not_lost(site: Site) -> None:
    with site.visit(size=DESK) as page:
        _, newer = upload_two(page, "iris")
        page.goto(f"{newer}?list=review%3Dneeds_review")
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.scrollHeight") <= DESK[1]
        sums = page.locator("[data-sums=line_items]")
        item = page.locator("#item-3-total")
        item.fill("4.20")
        expect(sums).to_have_text("Items add up to the subtotal")
        expect(page.locator("#item-4-total")).to_have_value("")
        page.locator("#item-4-name").fill("Bag")
        page.locator("#item-4-total").fill("0.10")
        expect(sums).to_contain_text("0.10 too much")
        expect(page.locator("#item-5-name")).to_be_visible()
        item.blur()
        page.locator("#item-4-total").blur()
        page.once("dialog", lambda asked: asked.dismiss())
        page.keyboard.press("j")
        expect(page.locator("#item-4-name")).to_have_value("Bag")
        page.locator("#item-3-name").fill("Kaya")
        page.get_by_role("button", name="Save", exact=True).last.click()
        page.wait_for_url("**notice=saved")
        expect(page.locator("#item-4-name")).to_have_value("Bag")
        page.locator("#item-4-name").fill("Large bag")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page.locator("#item-4-name")).to_have_value("Large bag")
        # Nothing is unsaved, so nothing is asked, and Back does not walk through the savings.
        page.go_back()
        page.wait_for_url(newer)


def test_saving_shows_the_same_place_and_what_was_typed_settles_checks(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "lia")
        heading = page.locator("[data-left]")
        expect(heading).to_contain_text("to check")
        page.get_by_role("button", name=re.compile("up to the subtotal")).click()
        page.locator("#item-3-name").fill("Kaya")
        expect(page.locator(".chk.settled[data-f=line_items]")).to_have_count(1)
        number = page.locator("#document_number")
        number.scroll_into_view_if_needed()
        place = page.locator(".panel-scroll").evaluate("panel => panel.scrollTop")
        number.fill("A-3")
        with page.expect_navigation():
            number.press("Enter")
        expect(page.locator("#outcome")).to_have_text("Saved.")
        expect(page.get_by_text("Saved.", exact=True)).to_have_count(1)
        # In a line of its own, and not letter by letter beside the buttons.
        said, buttons = (page.locator(one).bounding_box() for one in ("#outcome", "[data-approve]"))
        assert said
        assert buttons
        assert said["height"] < 30
        assert said["y"] + said["height"] <= buttons["y"]
        expect(page.locator("[data-f=document_number]")).to_be_focused()
        assert 0 < place - 400 < page.locator(".panel-scroll").evaluate("panel => panel.scrollTop")
        page.reload()
        expect(page.locator("#outcome")).to_be_empty()


def test_home_shows_what_is_uploaded_there(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "ivy")
        page.goto("/portal")
        expect(page.get_by_text("Start reviewing")).to_be_visible()
        before = page.locator("#states .list li").count()
        shown = drawing.pdf(make_documents.till_receipt("A-9").rows[:-3])
        with page.expect_file_chooser() as chosen:
            page.locator("[data-upload]").first.click()
        chosen.value.set_files({"name": "a.pdf", "mimeType": "application/pdf", "buffer": shown})
        expect(page.locator("#states .list li")).to_have_count(before + 1)
        page.locator("#uploads").get_by_role("link", name="Open the inbox").click()
        page.wait_for_url("**/portal/receipts")


def error_of(field: Locator) -> Locator:
    """Return the message that a field is linked to."""
    expect(field).to_have_attribute("aria-invalid", "true")
    return field.page.locator(f"#{field.get_attribute('aria-describedby')}")


def test_values_are_checked_while_typing(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "nia")
        page.clock.install()
        total = page.get_by_role("textbox", name="Total", exact=True)
        total.fill("abc")
        with page.expect_response("**/sums"):
            page.clock.run_for(300)
        # Half a value is not called wrong while one types.
        expect(total).not_to_have_attribute("aria-invalid", "true")
        page.clock.run_for(1000)
        expect(error_of(total)).to_have_text("Total must be a number, such as 1234.50.")
        expect(page.locator("[data-sums=line_items]")).to_be_empty()
        wrong = {
            "#currency": ("XXQ", "must be an ISO 4217 code"),
            "#merchant_tax_id": ("!!", "must be letters and digits only"),
            "#issued_time": ("25:99", "must be a date with a time and an offset"),
            "#payment-1-last4": ("51", "must be four digits"),
            "#item-0-total": ("1..2", "must be a number"),
        }
        for name, (value, said) in wrong.items():
            field = page.locator(name)
            field.fill(value)
            field.blur()
            page.clock.run_for(300)
            expect(error_of(field)).to_contain_text(said)
        total.fill("34.20")
        page.clock.run_for(300)
        expect(total).not_to_have_attribute("aria-invalid", "true")
        expect(page.locator("#total-error")).to_have_count(0)
        page.locator("#item-0-total").press("Escape")
        page.clock.run_for(300)
        expect(page.locator("#item-0-total-error")).to_have_count(0)
        assert [] == violations(page)


def test_missing_amount_is_filled_into_a_new_item(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "eda")
        add = page.get_by_role("button", name=re.compile("up to the subtotal"))
        missing = (add.text_content() or "").split()[1].rstrip(",")
        for _ in range(2):
            add.click()
            expect(page.locator("#item-3-name")).to_be_focused()
            expect(page.locator("#item-3-total")).to_have_value(missing)
        expect(page.locator("#item-4-total")).to_have_value("")
        expect(page.locator("[data-sums=line_items]")).to_have_text("Items add up to the subtotal")


@pytest.mark.parametrize("javascript", [True, False])
def test_details_of_items_are_shown_where_there_are_any(site: Site, *, javascript: bool) -> None:
    with site.visit(size=(390, 844), javascript=javascript) as page:
        upload_two(page, "oda")
        code = page.get_by_role("textbox", name="Code, line 2")
        expect(code).to_be_hidden()
        page.get_by_role("checkbox", name="Code, unit, tax rate and discount").check()
        code.fill("7891000")
        page.get_by_role("textbox", name="Item discount, line 2").fill("-1")
        assert width(page) <= 390
        # The page says it while one types, too.
        with page.expect_navigation():
            page.get_by_role("button", name="Save", exact=True).last.click()
        expect(page.locator("#item-1-discount-error")).to_contain_text("must not be negative")
        expect(page.get_by_role("textbox", name="Code, line 1")).to_be_visible()
        page.get_by_role("textbox", name="Item discount, line 2").fill("1")
        page.get_by_role("button", name="Save", exact=True).last.click()
        page.wait_for_url("**notice=saved")
        expect(code).to_have_value("7891000")
        expect(page.get_by_role("textbox", name="Code, line 1")).to_be_hidden()
        assert width(page) <= 390
        assert not javascript or [] == violations(page)


def test_saving_while_the_page_still_loads_asks_nothing(site: Site) -> None:
    pictures, saved, questions = list[Route](), list[Route](), list[str]()

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.accept()

    def hold_picture(route: Route) -> None:
        pictures.append(route)

    def hold_saving(route: Route) -> None:
        if route.request.method == "POST":
            saved.append(route)
        else:
            route.continue_()

    with site.visit(size=DESK) as page:
        upload_two(page, "ula")
        page.on("dialog", answer)
        page.route("**/pages/1*", hold_picture)
        page.reload(wait_until="domcontentloaded")
        page.route(page.url.partition("?")[0], hold_saving)
        page.get_by_role("textbox", name="Total", exact=True).fill("34.20")
        with page.expect_request(lambda one: one.method == "POST" and "/sums" not in one.url):
            page.get_by_role("button", name="Save", exact=True).last.click()
        page.unroute("**/pages/1*")
        for route in pictures:
            route.continue_()
        page.wait_for_load_state()
        saved[0].continue_()
        page.wait_for_url("**notice=saved")

    assert [] == questions


def test_page_loads_again_when_the_receipt_is_read(site: Site) -> None:
    def show_as_pending(route: Route) -> None:
        answer = route.fetch()
        watched = '<script src="/portal/static/watch.js" defer></script></head>'
        page = answer.text().replace("</head>", watched)
        pending = re.sub('id="standing"[^>]*>', r"\g<0><i data-pending data-reload></i>", page)
        route.fulfill(response=answer, body=pending)

    with site.visit(size=DESK) as page:
        page.clock.install()
        path, _ = upload_two(page, "eli")
        page.route(f"**{path}", show_as_pending, times=1)
        page.goto(path)
        expect(page.locator("[data-reload]")).to_have_count(1)
        with page.expect_navigation():
            page.clock.run_for(3000)
        expect(page.locator("[data-reload]")).to_have_count(0)


def test_document_is_zoomed_and_turned(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "bea")
        sheet = page.locator("svg.page")
        upright = sheet.get_attribute("viewBox")
        page.keyboard.press("+")
        expect(page.get_by_text("150%")).to_be_visible()
        page.keyboard.press("r")
        turned = sheet.get_attribute("viewBox")
        page.keyboard.press("b")
        expect(page.locator("#box-total")).to_be_hidden()

    assert upright is not None
    across, down = upright.split()[2:]
    assert f"0 0 {down} {across}" == turned


def test_review_works_without_javascript(site: Site) -> None:
    with site.visit(size=DESK, javascript=False) as page:
        older, _ = upload_two(page, "cora")
        page.get_by_role("link", name="Rotate").click()
        page.get_by_role("link", name="Zoom in").click()
        expect(page.locator("svg.page g")).to_have_attribute("transform", re.compile("rotate"))
        expect(page.locator(".doc[data-zoom='150']")).to_have_count(1)
        page.get_by_role("textbox", name="Total", exact=True).fill("ten")
        page.keyboard.press("Enter")
        # A region for screen readers has the same text, a little later.
        expect(page.locator("#total-error")).to_contain_text("Total must be a number")
        page.get_by_role("textbox", name="Total", exact=True).fill("34.20")
        page.get_by_role("button", name="Approve and next").click()
        page.wait_for_url(re.compile(rf"{older}\?notice=next"))
        page.get_by_role("button", name="Remove line item 1").click()
        expect(page.get_by_text("Read as 3 lines")).to_be_visible()


def test_review_has_no_serious_barriers(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "dora")
        page.get_by_role("textbox", name="Total", exact=True).fill("ten")
        page.keyboard.press("Enter")
        # A region for screen readers has the same text, a little later.
        expect(page.locator("#total-error")).to_contain_text("Total must be a number")
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = violations(page)
        page.set_viewport_size({"width": 320, "height": 640})
        narrow = width(page)

    assert [] == found
    assert narrow <= 320


def test_python_sample_reads_the_receipt(site: Site) -> None:
    with site.visit(size=DESK, javascript=False) as page:
        older, _ = upload_two(page, "pia")
        page.goto(older)
        page.get_by_text("API", exact=True).click()
        expect(page.locator("#api-json")).to_be_visible()
        expect(page.locator("#api-python")).to_be_hidden()
        page.get_by_label("Python").check()
        program = page.locator("#api-python").inner_text()
        answer = page.request.post("/v1/api-keys", data={"name": "Sample", "scopes": ["read"]})
        environment = {"RECIBO_API_KEY": answer.json()["secret"]}
        said = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )

    assert b"KEDAI KOPI MESRA SDN BHD 34.15 MYR" == said.stdout.strip()


def test_duplicates_are_compared_without_scripts(site: Site) -> None:
    with site.visit(size=(390, 844), javascript=False) as page:
        older, newer = upload_two(page, "lia")
        first, second = (one.rsplit("/", 1)[1] for one in (older, newer))
        page.goto(f"/portal/receipts/{first}/duplicates/{second}")
        assert width(page) <= 390
        page.get_by_role("button", name="Keep this one").first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.get_by_role("button", name="Cancel").first.click()
        page.get_by_role("link", name="Back to review").click()
        expect(page.get_by_role("heading", name="Line items")).to_be_visible()


def test_escape_closes_the_question_and_then_the_comparison(site: Site) -> None:
    with site.visit(size=DESK) as page:
        older, newer = upload_two(page, "eva")
        page.goto(f"{older}/duplicates/{newer.rsplit('/', 1)[1]}")
        page.get_by_role("button", name="Keep this one").first.click()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("Escape")
        page.wait_for_url(older)


def test_enter_asks_before_a_possible_duplicate_is_approved(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "dua", are_duplicates=True)
        newer = page.url
        approve = page.get_by_role("button", name=re.compile("Approve and"))
        question = page.get_by_role("dialog", name="Approve a possible duplicate?")
        expect(approve).to_be_visible()
        page.keyboard.press("Enter")
        expect(question).to_be_visible()
        expect(question.get_by_role("link", name="Compare")).to_be_visible()
        # Enter again leaves everything as it is, and so do the keys of the page.
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(question).to_be_hidden()
        assert newer == page.url
        # Chromium moves the focus away from a hidden button only when it draws again.
        expect(page.locator("[popover] :focus")).to_have_count(0)
        page.keyboard.press("Enter")
        expect(question.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Tab")
        expect(question.get_by_role("button", name="Approve")).to_be_focused()
        # The focus stays in the question.
        for _ in range(6):
            page.keyboard.press("Tab")
            assert question.evaluate(
                "one => [one, document.body].some((at) => at.contains(document.activeElement) "
                "&& (at === one || document.activeElement === at))"
            )
        question.get_by_role("button", name="Approve").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("notice=next"))


@pytest.mark.parametrize("are_duplicates", [True, False], ids=["duplicate", "doubt"])
def test_invalid_value_is_shown_before_anything_is_asked(
    site: Site, *, are_duplicates: bool
) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "ilo", are_duplicates=are_duplicates)
        total = page.get_by_role("textbox", name="Total", exact=True)
        total.fill("ten")
        total.blur()
        page.keyboard.press("Enter")
        expect(total).to_be_focused()
        expect(error_of(total)).to_have_text("Total must be a number, such as 1234.50.")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#outcome")).to_be_empty()
        total.press("Escape")
        page.keyboard.press("Enter")
        asked = "Approve a possible duplicate?" if are_duplicates else "Press Enter again"
        expect(page.get_by_text(asked).locator("visible=true")).to_be_visible()


def test_what_a_value_breaks_is_said_where_one_looks(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "jan")
        total, fresh = page.locator("#total"), page.locator("[data-new]")
        expect(fresh).to_be_empty()
        total.fill("99.15")
        expect(fresh).to_contain_text("the total is 99.15")
        expect(page.locator("[data-left]")).to_have_text("3 things to check")
        total.press("Escape")
        expect(fresh).to_be_empty()


def test_reasons_are_not_clipped_on_home(site: Site) -> None:
    with site.visit(size=(320, 640)) as page:
        upload_two(page, "hal")
        page.goto("/portal")
        why = page.locator(".doubted .why").first
        expect(why).to_be_visible()
        assert why.evaluate("one => one.scrollWidth <= one.clientWidth")
        assert why.evaluate("one => one.parentElement.scrollWidth <= one.parentElement.clientWidth")
        assert width(page) <= 320


def test_keys_lead_to_home_and_the_inbox(site: Site) -> None:
    with site.visit(size=DESK) as page:
        upload_two(page, "gil")
        page.keyboard.press("g")
        page.keyboard.press("h")
        page.wait_for_url("**/portal")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Inbox")
        page.keyboard.press("Escape")
        page.keyboard.press("h")
        page.keyboard.press("g")
        page.keyboard.press("i")
        page.wait_for_url("**/portal/receipts")


def test_sequence_of_keys_may_be_slow_and_ends_with_a_click(site: Site) -> None:
    with site.visit(size=DESK) as page:
        page.clock.install()
        upload_two(page, "mia")
        page.keyboard.press("g")
        page.clock.fast_forward("01:00")
        page.keyboard.press("h")
        page.wait_for_url("**/portal")
        page.keyboard.press("g")
        page.get_by_role("heading", name="To review").click()
        page.evaluate(
            "addEventListener('click', e => { e.preventDefault(); document.title = 'Followed'; })"
        )
        page.keyboard.press("i")
        assert page.title() != "Followed"
        page.keyboard.press("g")
        page.keyboard.press("i")
        assert page.title() == "Followed"


def test_single_keys_are_turned_off_in_the_list_of_keys(site: Site) -> None:
    with site.visit(size=DESK) as page:
        older, newer = upload_two(page, "kai")
        page.goto(newer)
        page.keyboard.press("?")
        page.get_by_role("button", name="Turn single keys off").click()
        page.wait_for_url(newer)
        page.keyboard.press("j")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Keys").click()
        expect(page.get_by_text("Single keys are off in this browser.")).to_be_visible()
        page.get_by_role("button", name="Turn single keys on").click()
        page.wait_for_url(newer)
        page.keyboard.press("j")
        page.wait_for_url(older)
