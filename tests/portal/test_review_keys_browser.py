"""The keys of the review page in a real browser: to what is in doubt, to a part, to approve."""

import re
from collections.abc import Sequence
from secrets import token_hex

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests import drawing, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, Site, upload

# One server and one browser, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


def show(page: Page, name: str, *, is_whole: bool = True, **corrected: object) -> str:
    """Sign up, upload and correct a receipt, and show it; a part of it does not add up."""
    body = {
        "email": f"{name}-{token_hex(4)}@keys.test",
        "password": PASSWORD,
        "org_name": "Padaria Aurora",
    }
    assert page.request.post("/v1/auth/signup", data=body).ok
    rows = make_documents.till_receipt().rows
    shown = [one for one in rows if is_whole or not re.search("Kaya|1 x 4.20", repr(one))]
    [path] = upload(page, drawing.pdf(shown))
    if corrected:
        wanted = {"name": "Corrections", "scopes": ["read", "write"]}
        key = page.request.post("/v1/api-keys", data=wanted).json()["secret"]
        answer = page.request.patch(
            f"/v1/receipts/{path.rsplit('/', 1)[1]}", data=corrected, headers={"X-API-Key": key}
        )
        assert answer.ok, answer.text()
    page.goto(path)
    page.wait_for_load_state("load")
    return path


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        page.keyboard.press(key)


def texts(fields: Sequence[Locator]) -> list[str]:
    """Return what is typed into fields."""
    return [field.input_value() for field in fields]


def test_n_leads_from_doubt_to_doubt_and_types_nothing(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "ana", is_whole=False, merchant_name=None, issued_at=None)
        date, merchant = page.locator("#issued_date"), page.locator("#merchant_name")
        add = page.locator("[data-missing]").first
        for key, reached in (
            ("n", date), ("n", merchant), ("n", add), ("n", date), ("Shift+N", add),
            ("Shift+N", merchant), ("Shift+N", date), ("n", merchant),
        ):  # fmt: skip
            page.keyboard.press(key)
            expect(reached).to_be_focused()
        assert ["", ""] == texts([date, merchant])
        # Once one types, N is a letter.
        page.keyboard.type("Pn")
        expect(merchant).to_have_value("Pn")
        # What is settled keeps its place, and N passes over it.
        expect(page.locator(".chk.settled[data-f=merchant_name]")).to_have_count(1)
        page.locator(".chk.settled").evaluate("one => { one.tabIndex = -1; one.focus(); }")
        for reached in (add, date, add):
            page.keyboard.press("n")
            expect(reached).to_be_focused()


@pytest.mark.parametrize("way", ["click", "Tab", "Backspace"])
def test_n_is_a_letter_in_a_field_that_one_has_entered(site: Site, way: str) -> None:
    with site.visit(size=DESK) as page:
        show(page, "bea", merchant_name=None, customer_name="Ana")
        merchant = page.locator("#merchant_name")
        if way == "click":
            merchant.click()
        elif way == "Tab":
            page.locator("[data-next-doubt]").focus()
            page.keyboard.press("Tab")
        else:
            press(page, "n", way)
        expect(merchant).to_be_focused()
        page.keyboard.type("nina")
        expect(merchant).to_have_value("nina")


@pytest.mark.parametrize(
    ("name", "way"),
    [("subtotal", "click"), ("issued_time", "click"), ("item-0-qty", "Tab"), ("item-0-total", "i")],
)
def test_letters_are_typed_in_a_figure_that_one_has_entered(
    site: Site, name: str, way: str
) -> None:
    with site.visit(size=DESK) as page:
        show(page, "ben")
        field = page.locator(f"#{name}")
        if way == "click":
            field.click()
        elif way == "Tab":
            page.locator("#item-0-name").focus()
            page.keyboard.press("Tab")
        else:
            page.keyboard.press(way)
        expect(field).to_be_focused()
        field.evaluate("one => { one.value = ''; }")
        # Where a key led to, this is so from the first digit on.
        page.keyboard.type("1nfcitp5")
        expect(field).to_be_focused()
        expect(field).to_have_value("1nfcitp5")


def test_n_does_not_choose_a_type_in_doubt(site: Site) -> None:
    def show_as_doubtful(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace(
            '<div class="f" data-f="type">', '<div class="chk" data-f="type">'
        )
        route.fulfill(response=answer, body=body)

    with site.visit(size=DESK) as page:
        path = show(page, "cid")
        page.route(f"**{path}", show_as_doubtful)
        page.reload()
        kind = page.locator("#type")
        press(page, "n", "n")
        expect(kind).to_be_focused()
        press(page, "n", "n")
        expect(kind).to_have_value("receipt")


def test_n_and_next_lead_to_the_missing_item(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "dora", is_whole=False)
        add = page.locator("[data-missing]").first
        page.get_by_role("button", name="Next", exact=False).first.click()
        expect(add).to_be_focused()
        page.locator("#title").click()
        press(page, "n", "Enter")
        expect(page.locator("#item-3-name")).to_be_focused()
        expect(page.locator("#item-3-total")).not_to_have_value("")


def test_n_leads_to_the_first_amount_where_items_are_too_much(site: Site) -> None:
    with site.visit(size=DESK) as page:
        items = [{"name": "Kopi", "qty": None, "unit_price": None, "total": "99.00"}]
        show(page, "eva", line_items=items)
        page.keyboard.press("n")
        expect(page.locator("#item-0-total")).to_be_focused()


def test_keys_lead_to_the_parts_of_the_form_and_arrows_along_columns(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "fay")
        item, tax = page.locator("#item-0-total"), page.locator("#tax-0-amount")
        # In a figure that a key led to, another key leads on.
        for key, reached in (
            ("i", item), ("ArrowDown", page.locator("#item-1-total")), ("ArrowUp", item),
            ("ArrowUp", item), ("t", tax), ("i", item), ("t", tax),
            ("p", page.locator("#payment-0-amount")), ("c", page.locator("#category")),
            ("Escape", page.locator("body")), ("f", page.locator("#merchant_name")),
        ):  # fmt: skip
            page.keyboard.press(key)
            expect(reached).to_be_focused()
        page.keyboard.type("fit")
        expect(page.locator("#merchant_name")).to_have_value("fit")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys")
        for text in ("First field", "Category", "Line items", "Taxes by rate", "Payments"):
            expect(dialog).to_contain_text(text)


def test_category_is_chosen_and_saved_by_keys(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "gus")
        category = page.locator("#category")
        chosen = category.locator("option[value=fuel]").inner_text()
        page.keyboard.press("c")
        expect(category).to_be_focused()
        page.keyboard.type(chosen[:3])
        expect(category).to_have_value("fuel")
        # Enter saves, as in other fields, and does not open the list.
        with page.expect_navigation(url=re.compile("notice=saved")):
            page.keyboard.press("Enter")
        expect(category).to_have_value("fuel")
        expect(page.locator("[data-f=category]")).to_be_focused()


def test_enter_in_an_open_list_only_chooses(site: Site) -> None:
    with site.visit(size=DESK) as page:
        path = show(page, "hugo")
        category = page.locator("#category")
        page.keyboard.press("c")
        page.keyboard.press("Alt+ArrowDown")
        expect(page.locator("#category:open")).to_have_count(1)
        press(page, "ArrowDown", "Enter")
        expect(page.locator("#category:open")).to_have_count(0)
        expect(category).to_be_focused()
        assert page.url.endswith(path)


def test_tab_leads_from_field_to_field(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "gil")
        page.keyboard.press("f")
        page.keyboard.press("Tab")
        expect(page.locator("#issued_date")).to_be_focused()
        expect(page.locator("#box-issued_at.on")).to_have_count(1)


def test_missing_tax_is_filled_in_and_taxes_are_added_up_while_typing(site: Site) -> None:
    with site.visit(size=DESK) as page:
        taxes = [{"name": "Service Tax", "rate": "6", "base": None, "amount": "1.00"}]
        show(page, "hal", taxes=[{**one, "informational": False} for one in taxes], tax="3.00")
        add = page.get_by_role("button", name="Add a tax of 2.00")
        add.click()
        expect(page.locator("#tax-1-name")).to_be_focused()
        expect(page.locator("#tax-1-amount")).to_have_value("2.00")
        sums = page.locator("[data-sums=taxes]")
        expect(sums).to_have_text("Taxes by rate add up to the tax")
        page.locator("#tax-1-amount").fill("2.50")
        expect(sums).to_contain_text("0.50 too much")


def test_focus_is_at_the_same_field_after_saving(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "iva", is_whole=False)
        row = page.locator("[data-f=merchant_name]")
        page.locator("#merchant_name").fill("Kopi")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(row).to_be_focused()
        page.locator("#item-1-total").fill("1.00")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page.locator("td:has(> #item-1-total)")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("#item-1-total")).to_be_focused()
        page.locator("[data-f=total]").evaluate(
            """row => {
              const chip = document.createElement("button");
              Object.assign(chip, { name: "use", value: "total=34.20", textContent: "34.20" });
              row.append(chip);
            }"""
        )
        with page.expect_navigation():
            page.get_by_role("button", name="34.20").click()
        expect(page.locator("[data-f=total]:has(#total)")).to_be_focused()


def test_enter_says_first_what_is_unresolved(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "kai", is_whole=False)
        outcome, check = page.locator("#outcome"), page.locator(".chk[data-f=line_items]")
        page.keyboard.press("Enter")
        expect(check).to_be_focused()
        expect(outcome).to_have_text("1 thing to check. Press Enter again to approve anyway.")
        # What one changes is asked about again.
        page.locator("#tax-0-amount").fill("9")
        expect(outcome).to_be_empty()
        expect(page.locator("[data-sums=taxes]")).to_contain_text("too much")
        page.locator("#tax-0-amount").blur()
        press(page, "Enter")
        expect(check).to_be_focused()
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("notice=reviewed"))


def test_enter_approves_a_receipt_without_doubts_at_once(site: Site) -> None:
    with site.visit(size=DESK) as page:
        show(page, "lou")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("notice="))


def test_box_of_a_field_is_not_behind_the_tools(site: Site) -> None:
    with site.visit(size=(1280, 480)) as page:
        page.emulate_media(reduced_motion="reduce")
        show(page, "mia")
        box, tools = page.locator("#box-total"), page.locator(".doc-tools")
        page.locator("#total").focus()
        expect(page.locator("#box-total.on")).to_have_count(1)
        shown, front = box.bounding_box(), tools.bounding_box()
        assert shown
        assert front
        assert shown["y"] + shown["height"] <= front["y"]


def test_row_is_marked_as_a_whole_on_phones(site: Site) -> None:
    color = "one => getComputedStyle(one).backgroundColor"
    with site.visit(size=(390, 844)) as page:
        show(page, "noa")
        page.locator("#item-0-name").focus()
        row = page.locator("tbody.on[data-f=item-0]")
        expect(row).to_have_count(1)
        assert "rgba(0, 0, 0, 0)" != row.evaluate(color)
        assert {"rgba(0, 0, 0, 0)"} == {one.evaluate(color) for one in row.locator("td").all()}
        assert "ellipsis" == page.locator("#item-1-name").evaluate(
            "one => getComputedStyle(one).textOverflow"
        )
