"""The review of a receipt: evidence, corrections, approval, history."""

import re
from decimal import Decimal
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from recibo.extract.model import (
    Box,
    Edge,
    Extracted,
    Hint,
    LineItem,
    Quality,
    SeenPage,
)
from recibo.schemas.states import Role
from tests import people
from tests.portal import accounts, forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH
from tests.portal.review_pages import Review, reviewing


async def boxes(review: Review) -> list[str]:
    """Return the names of the boxes on the document in the order in which they are drawn."""
    text = (await review.service.stranger.get(review.path())).text
    return re.findall(r'id="box-([a-z0-9_-]+)"', text)


async def test_items_that_equal_the_total_are_compared_with_the_subtotal(
    sqlite_url: str, tmp_path: Path
) -> None:
    total = Extracted(Decimal("41.20"), 0.95, "TOTAL 41,20")
    subtotal = Extracted(Decimal("11.20"), 0.95, "SUBTOTAL 11,20")
    async with reviewing(sqlite_url, tmp_path, total=total, subtotal=subtotal) as review:
        page = await review.page()

    assert "Items add up to 41.20, the subtotal is 11.20: 30.00 too much." in page.text


async def test_doubtful_fields_come_first_with_reasons(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        page = await review.page()
        raw = (await review.service.stranger.get(review.path())).text

    assert "2 things to check" in page.text
    assert "Items add up to 41.20, the total is 42.10: 0.90 missing." in page.text
    assert page.text.index("0.90 missing") < page.text.index("Not certain")
    assert page.text.index("Also possible 41.20 47.20") < page.text.index("Header")
    assert raw.count('name="total"') == 1
    assert 'viewBox="0 0 500 900"' in raw
    assert '<rect x="100" y="600" width="200" height="40"/>' in raw
    assert {"#total", "#box-total", "#item-0-name"} <= set(page.links)
    assert 'name="add" value="item-2-total=0.90"' in raw
    assert "style=" not in raw


async def test_pages_are_pictures_for_readers_only(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path) as review:
        client = review.service.stranger
        whole = await client.get(f"{review.path()}/pages/1?turns=1")
        small = await client.get(f"{review.path()}/pages/1?width=88")
        wrong = [
            (await client.get(f"{review.path()}/pages/{rest}")).status_code
            for rest in ("2", "0", "x", "99999", "1?width=8", "1?width=x")
        ]
        bea = await people.signed_up(review.service, email="bea@people.test", org="Loja Bea")
        await forms.sign_in_as(review.service, bea)
        foreign = await client.get(f"{review.path()}/pages/1")

    assert b"page 1 turned 1 width None" == whole.content
    assert b"page 1 turned 1 width 88" == small.content
    assert "image/webp" == whole.headers["content-type"]
    assert whole.headers["cache-control"].startswith("private")
    assert [404] * 6 == wrong
    assert 404 == foreign.status_code


async def test_only_what_was_typed_is_changed(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path) as review:
        before = await review.receipt()
        same = await review.post()
        unchanged = await review.receipt()
        answer = await review.post(
            total="41.2", merchant_tax_id="11.222.333/0001-81", issued_time="09:00",
            currency="brl", **{"item-2-name": "Sacola", "item-2-total": "0.10"},
        )  # fmt: skip
        after = await review.receipt()
        page = await review.page()

    assert f"{review.path()}?notice=saved" == accounts.redirect_target(same)
    assert before == unchanged
    assert f"{review.path()}?notice=saved" == accounts.redirect_target(answer)
    assert ["issued_at", "line_items", "merchant_tax_id", "total"] == after["corrected_fields"]
    assert "41.20" == after["total"]
    assert "11222333000181" == after["merchant_tax_id"]
    assert "2026-03-14T09:00:00-03:00" == after["issued_at"]
    assert ["Pão", "Leite", "Sacola"] == [one["name"] for one in after["line_items"]]
    assert "Read as “42.10”" in page.text
    assert "Read as 2 lines" in page.text


async def test_enter_in_a_field_keeps_an_approval(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        before = (await review.service.stranger.get(review.path())).text
        await review.post(do="approve")
        after = (await review.service.stranger.get(review.path())).text

    # Browsers press the first button of a form.
    first = [re.findall(r'name="do" value="(\w+)"', page)[0] for page in (before, after)]
    assert ["save", "keep"] == first


async def test_saving_an_approved_receipt_says_what_it_leaves_to_check(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(total="41.20", do="approve")
        whole = await review.service.stranger.get(
            accounts.redirect_target(await review.post(document_number="7", do="keep"))
        )
        wrong = await review.service.stranger.get(
            accounts.redirect_target(await review.post(total="43.20", do="keep"))
        )
        receipt = await review.receipt()

    assert "Saved. The receipt stays approved." in pages.parse(whole).text
    assert "to check" not in pages.parse(whole).text
    page = pages.parse(wrong)
    assert "stays approved, although something is left to check" in page.text
    # The notice is no success.
    assert page.text.index("stays approved, although") < page.text.index("1 thing to check")
    assert '"note note-warn" role="status"' in wrong.text
    assert "Items add up to 41.20, the total is 43.20: 2.00 missing." in page.text
    assert "approved" == receipt["review"]["status"]


async def test_what_a_person_changed_has_no_confidence_and_may_be_cleared(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        before = await review.page()
        await review.post(total="43.20", merchant_name="")
        page = await review.page()

    assert "Total 50% confidence" in before.text
    checks, _header, _rest = page.text.partition("Header")
    assert "Merchant This field was cleared. Read as “Padaria Aurora”" in checks
    assert "Line items Items add up to 41.20, the total is 43.20" in checks
    assert "confidence" not in checks


async def test_doubtful_items_are_shown_as_they_were_read(sqlite_url: str, tmp_path: Path) -> None:
    box = Box(120, 500, 320, 530)
    items = [LineItem(f"Pão {number}", total=Decimal(number)) for number in range(1, 9)]
    read = tuple(
        Extracted(one, 0.9 if number == 0 else 0.4, one.name, 1, box)
        for number, one in enumerate(items)
    )
    async with reviewing(sqlite_url, tmp_path, line_items=read) as review:
        page = await review.page()

    checks, _header, _rest = page.text.partition("Header")
    assert "Line item 2: Pão 2 2.00" in checks
    assert "Line item 1:" not in checks
    assert {"#box-item-1", "#item-1-name"} <= set(page.links)
    # The rest is marked in the table.
    assert "Line item 7:" not in checks
    assert "2 more lines are marked below." in checks


async def test_scripts_get_the_address_of_the_page_after_saving(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        review.service.stranger.headers["Accept"] = "application/json"
        saved = await review.post(do="save")
        following = await review.post(1, do="next")
        refused = await review.post(total="ten")

    assert {"location": f"{review.path()}?notice=saved", "is_same": True} == saved.json()
    assert {"location": f"{review.path()}?notice=next", "is_same": False} == following.json()
    assert 400 == refused.status_code


async def test_bad_photo_is_explained(sqlite_url: str, tmp_path: Path) -> None:
    cut = Quality(0.4, 0.8, 0.0, (Edge.BOTTOM,), 200, (Hint.BLURRED, Hint.CUT_OFF))
    async with reviewing(sqlite_url, tmp_path, pages=(SeenPage(500, 900, 1, cut),)) as review:
        page = await review.page()

    assert "The photo is blurred." in page.text
    assert "The bottom edge is cut off. Take the photo again." in page.text


async def test_unsupported_script_is_explained(sqlite_url: str, tmp_path: Path) -> None:
    sharp = Quality(0.9, 0.8, 0.0, (), 200, (Hint.UNSUPPORTED_SCRIPT,))
    seen = SeenPage(500, 900, 1, sharp)
    async with reviewing(sqlite_url, tmp_path, pages=(seen,), merchant_name=None) as review:
        page = await review.page()

    assert "Most of the text is in a script that is not supported." in page.text


async def test_fields_and_lines_are_cleared(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(issued_date="", merchant_name=" ", remove="item-0")
        receipt = await review.receipt()
        page = await review.page()

    assert (None, None) == (receipt["issued_at"], receipt["merchant_name"])
    assert ["Leite"] == [one["name"] for one in receipt["line_items"]]
    assert "This field was cleared." in page.text


async def test_alternative_is_used_by_one_click(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path) as review:
        await review.post(use="total=41.20", merchant_name="Padaria")
        receipt = await review.receipt()
        forged = [
            (await review.post(use=f"issued_at={text}")).status_code for text in ("x", "2026-13-01")
        ]

    assert ("41.20", "Padaria") == (receipt["total"], receipt["merchant_name"])
    assert [400, 400] == forged


async def test_invalid_values_are_explained_and_kept(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path) as review:
        before = await review.receipt()
        answer = await review.post(
            total="12.34.56", currency="REAL", issued_offset="Brasília", merchant_name="Typed",
            **{"item-1-total": "ten", "item-4-qty": "1"},
        )  # fmt: skip
        page = pages.parse(answer)
        after = await review.receipt()

    assert 400 == answer.status_code
    assert before == after
    assert page.title.startswith("Error: ")
    assert "Total must be a number, such as 1234.50." in page.error("total")
    assert "Currency must be an ISO 4217 code" in page.error("currency")
    assert "Item total must be a number" in page.error("item-1-total")
    assert "Description must say what was bought." in page.error("item-4-name")
    assert "must be a date with a time and an offset" in page.by_id["issued_at-error"]
    kept = {name: page.inputs[name]["value"] for name in ("total", "merchant_name", "item-4-qty")}
    assert {"total": "12.34.56", "merchant_name": "Typed", "item-4-qty": "1"} == kept


async def test_change_by_another_person_is_not_overwritten(
    database_url: str, tmp_path: Path
) -> None:
    async with reviewing(database_url, tmp_path) as review:
        await review.post(merchant_name="By another")
        answer = await review.post(
            version="1", total="41.20", tax="2", do="approve", **{"item-1-total": "9"}
        )
        page = pages.parse(answer)
        receipt = await review.receipt()

    assert 409 == answer.status_code
    assert "nothing was saved" in page.alert
    assert "Total: 41.20" in page.alert
    assert "Tax: 2" in page.alert
    assert "Line 2, item total: 9" in page.alert
    assert "Save what I had entered" not in page.alert
    assert ("By another", "42.10") == (receipt["merchant_name"], receipt["total"])
    assert "2" == page.inputs["version"]["value"]


async def test_what_was_entered_meanwhile_is_saved_with_a_button(
    database_url: str, tmp_path: Path
) -> None:
    async with reviewing(database_url, tmp_path) as review:
        await review.post(merchant_name="By another")
        answer = await review.post(version="1", total="41.20", tax="2")
        offered = answer.text.split("Save what I had entered")[0].rpartition("<form")[2]
        sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', offered))
        saved = await review.service.stranger.post(review.path(), data={**sent, "do": "save"})
        receipt = await review.receipt()

    assert {"version": "2", "total": "41.20", "tax": "2"} == sent
    assert 303 == saved.status_code
    assert ("By another", "41.20", "2.00") == tuple(
        receipt[name] for name in ("merchant_name", "total", "tax")
    )


async def test_approving_opens_the_next_older_one(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path, count=3) as review:
        newest, oldest = await review.page(2), await review.page(0)
        targets = [
            accounts.redirect_target(await review.post(number, do="next")) for number in (1, 0, 2)
        ]
        end = await forms.get_page(review.service, targets[-1])
        approved = await review.page(1)
        receipt = await review.receipt(1)

    assert review.path(1) in newest.links
    assert review.path(0) not in newest.links
    assert review.path(1) in oldest.links
    # After the oldest one, those that were left out.
    assert [
        f"{review.path(0)}?notice=next",
        f"{review.path(2)}?notice=next",
        f"{PATH}?review=needs_review&notice=reviewed",
    ] == targets
    assert "That was the last one of this list." in end.text
    assert "March 2026 3 receipts CSV Excel Line items" in end.text
    month = "review=approved&after=2026-03-01&until=2026-03-31"
    assert f"{PATH}/export?format=csv&{month}" in end.links
    assert "approved" == receipt["review"]["status"]
    assert "Approved by ana@people.test" in approved.by_id["standing"]
    assert "to check" not in approved.text


async def test_receipts_are_reviewed_in_the_order_of_the_list_they_were_opened_from(
    database_url: str, tmp_path: Path
) -> None:
    async with reviewing(database_url, tmp_path, count=3) as review:
        client = review.service.stranger
        # By merchant: Café Brisa, Mercado Sol, Padaria Aurora.
        inbox = await client.get(f"{PATH}?review=needs_review&sort=merchant")
        links = [one for one in pages.parse(inbox).links if "?list=" in one]
        brisa, sol, aurora = links
        middle = await forms.get_page(review.service, sol)
        # The correction moves it behind all others; the one after its old place is opened.
        changed = {"merchant_name": "Zebra", "issued_date": "2025-12-10"}
        then = await review.post(2, **changed, do="next", **listed_in(sol))
        last = await review.post(0, do="next", **listed_in(sol))
        end = await review.post(1, do="next", **listed_in(sol))
        finished = await forms.get_page(review.service, accounts.redirect_target(end))

    assert {brisa, aurora, f"{PATH}?review=needs_review&sort=merchant"} <= set(middle.links)
    assert [f"{aurora}&notice=next", f"{brisa}&notice=next"] == [
        accounts.redirect_target(one) for one in (then, last)
    ]
    assert f"{PATH}?review=needs_review&sort=merchant&notice=reviewed" == (
        accounts.redirect_target(end)
    )
    # The month of most of these receipts is first, whichever was approved last.
    months = re.findall(r"(\w+ \d+) (\d+) receipts? CSV Excel", finished.text)
    assert [("March 2026", "2"), ("December 2025", "1")] == months


async def test_page_says_what_a_missing_currency_means(sqlite_url: str, tmp_path: Path) -> None:
    said = "No currency was found: the total is left out of spend"
    async with reviewing(sqlite_url, tmp_path) as review:
        before = await review.page()
        await review.post(do="save", currency="")
        after = await review.page()

    assert said not in before.text
    assert said in after.text


async def test_list_stays_the_same_through_saving_reading_again_and_deleting(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        client = review.service.stranger
        listed = "q=Padaria&currency=BRL"
        path = f"{review.path()}?{urlencode({'list': listed})}"
        saved = await review.post(do="save", list=listed)
        page = await forms.get_page(review.service, path)
        again = await client.post(
            f"{review.path()}/again", data={"accuracy": "high", "list": listed}
        )
        asked = await forms.get_page(review.service, path.replace("?", "/delete?"))
        gone = await client.post(path.replace("?", "/delete?"))
        forged = await forms.get_page(review.service, f"{review.path(1)}?list=status%3Dx")

    assert f"{path}&notice=saved" == accounts.redirect_target(saved)
    assert f"{PATH}?q=Padaria&currency=BRL" in page.links
    assert "Approve and finish" in page.text
    assert f"{path}&notice=again" == accounts.redirect_target(again)
    assert path in asked.links
    assert f"{PATH}?q=Padaria&currency=BRL&notice=deleted" == accounts.redirect_target(gone)
    assert f"{PATH}?review=needs_review" in forged.links


def listed_in(link: str) -> dict[str, str]:
    """Return the hidden field with the list that a link names."""
    return dict(parse_qsl(urlsplit(link).query))


async def test_approval_is_withdrawn_and_history_says_who(
    database_url: str, tmp_path: Path
) -> None:
    async with reviewing(database_url, tmp_path) as review:
        await review.post(total="41.20", do="approve")
        await review.post(do="withdraw")
        page = await review.page()
        receipt = await review.receipt()
        inbox = await receipt_pages.get_page(review.service)
        await forms.sign_in_as(
            review.service, await people.joined(review.service, review.owner, Role.DEVELOPER)
        )
        without_log = await review.page()
        await forms.sign_in_as(
            review.service, await people.joined(review.service, review.owner, Role.VIEWER)
        )
        only_looking = await review.page()

    history = page.by_id["history"]
    assert "ready" == receipt["review"]["status"]
    assert "Ready 1" in inbox.by_id["tabs"]
    for step in (
        "ana@people.test uploaded it",
        "ana@people.test corrected: Total 42.10 → 41.20",
        "ana@people.test approved it",
        "ana@people.test withdrew the approval",
    ):
        assert step in history, step
    assert history == without_log.by_id["history"]
    assert "history" not in only_looking.by_id


async def test_lines_that_were_not_corrected_keep_their_boxes(
    database_url: str, tmp_path: Path
) -> None:
    async with reviewing(database_url, tmp_path) as review:
        await review.post(**{"item-0-name": "Pão francês"})
        renamed = await boxes(review)
        await review.post(remove="item-0")
        removed = await boxes(review)
        history = (await review.page()).by_id["history"]

    assert {"item-0", "item-1"} == {one for one in renamed if one.startswith("item")}
    assert ["item-0"] == [one for one in removed if one.startswith("item")]
    assert "Line items Pão, 2, 15.60, 31.20 → Pão francês, 2, 15.60, 31.20" in history
    assert "Line items removed: Pão francês, 2, 15.60, 31.20" in history


async def test_no_box_is_covered_by_a_larger_one(database_url: str, tmp_path: Path) -> None:
    whole = Extracted("Mercado Sol", 0.9, "MERCADO SOL", 1, Box(0, 0, 480, 880))
    async with reviewing(database_url, tmp_path, merchant_name=whole) as review:
        drawn = await boxes(review)

    assert ("merchant_name", {"total", "item-0", "item-1"}) == (drawn[0], set(drawn[1:]))


async def test_duplicates_are_linked_both_ways(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path, count=2) as review:
        await review.post(1, merchant_name="Padaria Aurora")
        found = [await review.page(number) for number in (0, 1)]

    for number, page in enumerate(found):
        assert "Possible duplicate" in page.text
        assert "Padaria Aurora Mar 14, 2026, 42.10 BRL" in page.text
        assert review.path(1 - number) in page.links


async def test_viewers_see_fields_that_cannot_be_edited(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path) as review:
        viewer = await people.joined(review.service, review.owner, Role.VIEWER)
        await forms.sign_in_as(review.service, viewer)
        page = await review.page()
        refused = await review.service.stranger.post(review.path(), data={"total": "1"})
        picture = await review.service.stranger.get(f"{review.path()}/pages/1")

    assert "readonly" in page.inputs["total"]
    assert ("post", review.path()) not in page.forms
    assert not {"Approve", "Save", "41.20"} & set(page.buttons)
    assert [403, 200] == [refused.status_code, picture.status_code]


async def test_forged_forms_are_refused(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        before = await review.receipt()
        statuses = [
            (await review.post(**forged)).status_code
            for forged in ({"version": "x"}, {"type": "x"}, {"category": "x"}, {"do": "nothing"})
        ]
        after = await review.receipt()

    assert [400, 400, 400, 303] == statuses
    assert before == after
