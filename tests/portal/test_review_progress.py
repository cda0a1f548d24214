"""What is left to check while one types, and what comes after a receipt is approved."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import update

from recibo.extract.model import Details, Extracted
from recibo.lib import clock
from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.portal import accounts, forms, pages
from tests.portal.receipt_pages import PATH
from tests.portal.review_pages import Review, reviewing


def sure(**amounts: str) -> dict[str, Any]:
    """Return amounts that were read with confidence."""
    return {name: Extracted(Decimal(text), 0.95, text) for name, text in amounts.items()}


async def left(review: Review, **typed: str) -> dict[str, Any]:
    """Return what is left to check with these values."""
    page = await review.page()
    form = {name: one.get("value") or "" for name, one in page.inputs.items()}
    answer = await review.service.stranger.post(f"{review.path()}/sums", data={**form, **typed})
    checked: dict[str, Any] = answer.json()
    return {name: checked[name] for name in ("left", "heading")}


async def test_what_is_typed_settles_what_was_to_check(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        untouched = await left(review)
        one = await left(review, **{"item-2-name": "Bag", "item-2-total": "0.90"})
        both = await left(review, total="41.20")
        wrong = await left(review, total="41,20,1")
        status = (await review.receipt())["review"]["status"]

    assert {"left": ["line_items", "total"], "heading": "2 things to check"} == untouched
    assert {"left": ["total"], "heading": "1 thing to check"} == one
    assert {"left": [], "heading": "Nothing left to check"} == both
    assert untouched["heading"] == wrong["heading"]
    assert "needs_review" == status


async def test_items_may_lack_something_of_the_subtotal_or_of_the_total(
    sqlite_url: str, tmp_path: Path
) -> None:
    amounts = sure(subtotal="42.52", tax="3.85", total="46.37")
    async with reviewing(sqlite_url, tmp_path, **amounts) as review:
        page = await review.page()

    assert "Add 1.32, up to the subtotal Add 5.17, up to the total" in page.text


async def test_items_lack_what_leads_to_the_subtotal_above_a_discount(
    sqlite_url: str, tmp_path: Path
) -> None:
    amounts = sure(subtotal="56.20", tax="0.00", total="36.20")
    discount = Details(discount=Extracted(Decimal("20.00"), 0.9, "Desconto 20,00"))
    async with reviewing(sqlite_url, tmp_path, details=discount, **amounts) as review:
        page = await review.page()
        # The button of the page without scripts.
        added = pages.parse(await review.post(add="item-2-total=15.00"))
        saved = await review.post(add="item-2-total=15.00", **{"item-2-name": "Bag"})
        receipt = await review.receipt()

    assert "Items add up to 41.20, the subtotal is 56.20: 15.00 missing." in page.text
    assert "Add an item of 15.00" in page.text
    assert ("15.00", 303) == (added.inputs["item-2-total"]["value"], saved.status_code)
    assert "must say what was bought" in added.error("item-2-name")
    assert ["Bag", "15.00"] == [receipt["line_items"][2][name] for name in ("name", "total")]


async def test_amounts_that_disagree_are_among_what_to_check(
    sqlite_url: str, tmp_path: Path
) -> None:
    # The first one of two taxes was read.
    amounts = sure(subtotal="50.00", tax="3.85", total="58.00")
    async with reviewing(sqlite_url, tmp_path, **amounts) as review:
        page = await review.page()
        settled = await left(review, tax="8", **{"item-2-name": "Bag", "item-2-total": "8.80"})

    said = "Subtotal and tax add up to 53.85, the total is 58.00: 4.15 missing."
    assert page.text.index(said) < page.text.index("Header")
    assert {"left": [], "heading": "Nothing left to check"} == settled


async def approve_next(review: Review, number: int) -> str:
    """Approve a receipt and return the notice on the next one."""
    target = accounts.redirect_target(await review.post(number, do="next"))
    return parse_qs(urlsplit(target).query)["notice"][0]


async def test_next_receipt_of_an_earlier_upload_is_called_so(
    database_url: str, tmp_path: Path
) -> None:
    earlier = clock.now() - dt.timedelta(days=1)
    async with reviewing(database_url, tmp_path, count=3) as review:
        async with review.service.database.write() as session:
            older = update(tables.Receipt).where(tables.Receipt.id == review.ids[0])
            await session.execute(older.values(created_at=earlier))
        notices = [await approve_next(review, number) for number in (2, 1)]
        page = await forms.get_page(review.service, f"{review.path(0)}?notice={notices[-1]}")
        stopped = await forms.get_page(review.service, f"{PATH}?review=needs_review&notice=stopped")
        [file] = [one for one in stopped.links if "format=csv&rows=receipts&id=" in one]
        rows = (await review.service.stranger.get(file)).text.splitlines()

    assert ["next", "next-older"] == notices
    assert "Approved. This one is of an earlier upload. Stop here and export" in page.text
    assert f"{PATH}?review=needs_review&notice=stopped" in page.links
    assert "Export 2 approved receipts" in stopped.text
    assert ["Mercado Sol", "Café Brisa"] == [
        name for row in rows[1:] for name in ("Mercado Sol", "Café Brisa") if name in row
    ]


async def test_next_receipt_of_another_member_is_called_so(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        bea = await people.joined(review.service, review.owner, Role.DEVELOPER)
        async with review.service.database.write() as session:
            older = update(tables.Receipt).where(tables.Receipt.id == review.ids[0])
            await session.execute(older.values(created_by=bea.user_id))
        notice = await approve_next(review, 1)
        page = await forms.get_page(review.service, f"{review.path(0)}?notice={notice}")

    assert "Approved. This one was uploaded by someone else." in page.text


@pytest.mark.parametrize("pause", [dt.timedelta(minutes=5), dt.timedelta(hours=2)])
async def test_only_what_was_approved_just_now_is_offered(
    sqlite_url: str, tmp_path: Path, pause: dt.timedelta
) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        await review.post(0, do="approve")
        with clock.moved(pause):
            # Sessions end after a while.
            signed_in = {"email": review.owner.email, "password": people.PASSWORD}
            await review.service.stranger.post("/portal/sign-in", data=signed_in)
            end = await review.post(1, do="next")
            finished = pages.parse(await review.service.stranger.get(accounts.redirect_target(end)))

    is_long = pause > dt.timedelta(hours=1)
    expected = "Export 1 approved receipt" if is_long else "Export 2 approved receipts"
    assert expected in finished.text
    # Besides that of the bar that appears with a selection.
    assert [expected, "Approve"] == finished.primary
    assert "Ready receipts" not in finished.text
    assert "March 2026 2 receipts CSV Excel Line items" in finished.text
