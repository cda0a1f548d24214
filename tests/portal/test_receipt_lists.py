"""The list of receipts: its filters and its pages."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import DocumentType, Moment
from tests import make, people
from tests.installation import Installation
from tests.portal import forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH
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
    "?status=&type=&after=&before=&tag=&tagged=": ALL,
    "?status=failed": ["failed"],
    "?status=pending": [],
    "?type=nfce": ["may"],
    "?after=2026-03-15": ["may"],
    "?before=2026-03-15": ["march"],
    "?after=2026-03-14&before=2026-05-03": ["may", "march"],
    "?tag=filename&tagged=may.jpg": ["may"],
    "?tag=filename&tagged=may.jpg&type=invoice": [],
}


async def test_filters_match_the_api_and_pages_keep_them(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = FakeReader({make.jpeg(name): answer for name, answer in RECEIPTS.items()})
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        ids = {}
        for name in RECEIPTS:
            await receipt_pages.send_files(service, (f"{name}.jpg", make.jpeg(name)))
            (newest, *_) = receipt_pages.listed_ids(await service.stranger.get(PATH))
            ids[newest] = name
            await receipt_pages.read_receipt(service, owner, newest)
        found = {
            query: [
                ids[one]
                for one in receipt_pages.listed_ids(await service.stranger.get(PATH + query))
            ]
            for query in FOUND
        }
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


WRONG = {
    "?status=best": "Status",
    "?type=bill": "Type",
    "?after=yesterday": "Issued on or after must be a date, such as 2026-03-14.",
    "?before=2026-02-30": "Issued before must be a date",
    "?tag=%00": "Tag must not contain NUL",
    "?tagged=x": "Name the tag that has this value.",
    "?cursor=x": "There is no such page of this list",
    "?cursor=%00": "There is no such page of this list",
}


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


async def test_empty_list_says_what_to_do(sqlite_service: Installation) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, owner)
    first = await receipt_pages.get_page(sqlite_service)
    nothing = await receipt_pages.get_page(sqlite_service, "?status=failed")

    assert "Choose a photo or a PDF above and press Upload" in first.text
    assert "No receipts match these filters." in nothing.text
