"""The list of receipts: its filters and its pages."""

import datetime as dt
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import DocumentType, Moment
from tests import make, people
from tests.installation import Installation
from tests.portal import forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH
from tests.portal.test_first_use import DAMAGED
from tests.readers import UNREADABLE

MAY = Moment(dt.date(2026, 5, 2))
RECEIPTS: dict[str, Any] = {
    "march": receipt_pages.make_reading("March"),
    "may": receipt_pages.make_reading("May", issued=MAY, type_=DocumentType.NFCE),
    "failed": UNREADABLE,
    "undated": receipt_pages.make_reading("Undated", issued=None),
}
ALL = ["undated", "failed", "may", "march"]
FOUND = {
    "": ALL,
    "?status=&type=&after=&until=&tag=&tagged=": ALL,
    "?status=failed": ["failed"],
    "?status=pending": [],
    "?type=nfce": ["may"],
    "?after=2026-03-15": ["may"],
    "?until=2026-03-14": ["march"],
    "?until=9999-12-31": ["may", "march"],
    "?after=2026-03-14&until=2026-05-02": ["may", "march"],
    "?tag=filename&tagged=may.jpg": ["may"],
    "?tag=filename&tagged=may.jpg&type=invoice": [],
    "?q=ma": ["may", "march"],
    "?q=-": [],
    "?merchant=MAY": ["may"],
    "?currency=brl&min_total=42.5&max_total=42.50": ["undated", "may", "march"],
    "?min_total=43": [],
    "?max_confidence=100%": ["undated", "may", "march"],
    "?max_confidence=0": [],
    "?duplicates=true&category=fuel": [],
    "?review=needs_review": ["undated", "may", "march"],
    "?review=approved": [],
}


# The primary action of the bar that appears with a selection.
HIDDEN = "Approve"


@asynccontextmanager
async def stocked(
    database_url: str, folder: Path
) -> AsyncIterator[tuple[Installation, dict[str, str]]]:
    """Run an installation with the receipts; their names by their ids."""
    reader = FakeReader({make.jpeg(name): answer for name, answer in RECEIPTS.items()})
    async with receipt_pages.run_service(database_url, folder, reader) as (service, owner):
        ids = {}
        for name in RECEIPTS:
            await receipt_pages.send_files(service, (f"{name}.jpg", make.jpeg(name)))
            (newest, *_) = receipt_pages.listed_ids(await service.stranger.get(PATH))
            ids[newest] = name
            await receipt_pages.read_receipt(service, owner, newest)
        yield service, ids


async def test_filters_match_the_api_and_pages_keep_them(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stocked(database_url, tmp_path) as (service, ids):
        found = {
            query: [
                ids[one]
                for one in receipt_pages.listed_ids(await service.stranger.get(PATH + query))
            ]
            for query in FOUND
        }
        newest = await service.stranger.get(PATH)
        monkeypatch.setattr("recibo.portal.receipt_lists._A_PAGE", 1)
        walked, count = [], 0
        older: str | None = f"{PATH}?status=completed"
        while older:
            answer = await service.stranger.get(older)
            walked += [ids[one] for one in receipt_pages.listed_ids(answer) if one in ids]
            links = [one for one in pages.parse(answer).links if "cursor=" in one]
            older, count = (links[0] if links else None), count + 1

    assert FOUND == found
    assert (["undated", "may", "march"], 3) == (walked, count)
    tabs = pages.parse(newest).by_id["tabs"]
    assert "All To review 3 Ready Approved Processing Failed 1" == " ".join(tabs.split())


WRONG = {
    "?status=best": "Status",
    "?type=bill": "Type",
    "?after=yesterday": "Issued on or after must be a date, such as 2026-03-14.",
    "?until=2026-02-30": "Issued until must be a date",
    "?review=best": "Review must be one of",
    "?max_total=42,5,0": "Largest total must be an amount",
    "?min_total=much": "Smallest total must be an amount, such as 1234.50",
    "?max_confidence=101": "Highest confidence, in percent must be a whole number",
    "?max_confidence=0.9": "Highest confidence, in percent must be a whole number",
    "?currency=XXY": "Currency must be a currency code, such as BRL",
    "?q=%00": "must not contain NUL",
    "?tag=%00": "Tag must not contain NUL",
    "?tagged=x": "Name the tag that has this value.",
    "?cursor=x": "There is no such page of this list",
    "?cursor=%00": "There is no such page of this list",
}


async def test_page_may_be_longer(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.portal.receipt_lists._A_PAGE", 1)
    async with stocked(database_url, tmp_path) as (service, _):
        short = await service.stranger.get(f"{PATH}?status=completed")
        (longer,) = {
            one for one in pages.parse(short).links if "size=100" in one and "sort" not in one
        }
        whole = await service.stranger.get(longer)
        odd = await service.stranger.get(f"{PATH}?status=completed&size=1000000")

    assert [1, 3, 1] == [len(receipt_pages.listed_ids(one)) for one in (short, whole, odd)]
    assert "Show 25 on a page" in pages.parse(whole).text
    back = {one for one in pages.parse(whole).links if "list=" in one and "size%3D100" in one}
    assert 3 == len(back)


async def test_invalid_filters_show_an_error_and_the_newest_receipts(
    sqlite_service: Installation,
) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    await receipt_pages.upload(sqlite_service)
    for query, error in WRONG.items():
        answer = await sqlite_service.stranger.get(f"{PATH}{query}")

        assert 400 == answer.status_code, query
        assert error in pages.parse(answer).text, query
        assert 1 == len(receipt_pages.listed_ids(answer)), query


async def test_date_is_empty_until_it_is_read(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    await receipt_pages.upload(sqlite_service)
    answer = await sqlite_service.stranger.get(PATH)

    assert '<td role="cell" class="c-date num soft"></td>' in answer.text
    assert re.search(r"receipt.jpg Uploaded \w+ \d+, \d{4} Reading", pages.parse(answer).text)


async def test_empty_list_says_what_to_do(sqlite_service: Installation) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, owner)
    first = await receipt_pages.get_page(sqlite_service)
    nothing = await receipt_pages.get_page(sqlite_service, "?q=nothing")

    assert "Choose photos or PDFs." in first.text
    assert ["Upload receipts", HIDDEN] == first.primary
    assert "No receipts match these filters" in nothing.text


async def test_failed_rows_offer_what_helps(sqlite_url: str, tmp_path: Path) -> None:
    reader = FakeReader({make.jpeg("blurred"): UNREADABLE, make.jpeg("damaged"): DAMAGED})
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        counts = []
        for name in ("damaged", "blurred"):
            receipt_id = await receipt_pages.upload(service, make.jpeg(name))
            await receipt_pages.read_receipt(service, owner, receipt_id)
            page = await receipt_pages.get_page(service, "?status=failed")
            counts.append(page.buttons.count("Try high accuracy"))
        raw = (await service.stranger.get(f"{PATH}?status=failed")).text
        blurred = receipt_pages.listed_ids(await service.stranger.get(PATH))[0]

    assert [0, 1] == counts
    # The picture of what can be drawn helps to take a better one; a cut name is shown as a whole.
    assert [f"{PATH}/{blurred}/pages/1?width=96"] == re.findall(r'class="thumb" src="(.*?)"', raw)
    assert 2 == raw.count('title="receipt.jpg"')


async def test_headings_sort_the_list_and_pages_keep_the_order(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stocked(database_url, tmp_path) as (service, ids):

        async def listed(query: str) -> list[str]:
            answer = await service.stranger.get(f"{PATH}?{query}")
            assert answer.status_code == 200
            return [ids[one] for one in receipt_pages.listed_ids(answer)]

        by_date = await listed("sort=-issued")
        by_merchant = await listed("sort=merchant&status=completed")
        of_currency = await listed("sort=-total&currency=BRL")
        # Without a currency totals are not compared.
        ignored = await listed("sort=-total")
        compared = await service.stranger.get(f"{PATH}?sort=-total&currency=BRL")
        unknown = await listed("sort=shoe-size")
        monkeypatch.setattr("recibo.portal.receipt_lists._A_PAGE", 1)
        first = await service.stranger.get(f"{PATH}?sort=-issued&status=completed")
        link = next(one for one in pages.parse(first).links if "cursor=" in one)
        second = await service.stranger.get(link)
        broken = await service.stranger.get(link.replace("-issued", "merchant"))

    assert ["may", "march"] == by_date[:2]
    assert ["march", "may", "undated"] == by_merchant
    assert {"undated", "may", "march"} == set(of_currency)
    assert ALL == ignored == unknown
    assert "Totals in other currencies than BRL are not compared" in pages.parse(compared).text
    assert "sort=-issued" in link
    assert ["march"] == [ids[one] for one in receipt_pages.listed_ids(second)]
    assert 'aria-sort="descending"' in first.text
    assert f"{PATH}?status=completed&amp;sort=issued" in first.text
    assert f"{PATH}?status=completed&amp;sort=-total&amp;currency=BRL" in first.text
    assert '<input type="hidden" name="sort" value="-issued">' in first.text
    assert "by date of issue: newest first" in pages.parse(first).text
    assert 400 == broken.status_code
