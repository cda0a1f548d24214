"""What is offered for export once a review ends: just its receipts, their items, their months."""

import datetime as dt
from pathlib import Path

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Moment
from recibo.lib import clock
from tests import make
from tests.portal import accounts, pages, receipt_pages
from tests.portal.receipt_pages import PATH
from tests.portal.review_pages import FILES, Review, reviewing

STOPPED = f"{PATH}?review=needs_review&notice=stopped"
MONTHS = 13


async def offered(review: Review) -> tuple[pages.Page, str]:
    """Return the inbox after a review, and the file of what was approved."""
    page = pages.parse(await review.service.stranger.get(STOPPED))
    [file] = [one for one in page.links if "format=csv&rows=receipts&id=" in one]
    return page, (await review.service.stranger.get(file)).text


async def test_deleted_receipts_are_not_offered(database_url: str, tmp_path: Path) -> None:
    async with reviewing(database_url, tmp_path, count=3) as review:
        for number in range(3):
            await review.post(number, do="approve")
        await review.service.stranger.post(f"{review.path(1)}/delete")
        await review.post(2, do="withdraw")
        page, file = await offered(review)

    assert "Export 1 approved receipt" in page.text
    assert not [one for one in page.links if review.ids[1] in one or f"id={review.ids[2]}" in one]
    assert [True, False, False] == [
        name in file for name in ("Padaria Aurora", "Café Brisa", "Mercado Sol")
    ]


async def test_receipts_of_an_earlier_batch_are_not_offered(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        for number in range(2):
            await review.post(number, do="approve")
        with clock.moved(dt.timedelta(minutes=5)):
            review.ids.append(await receipt_pages.upload(review.service, FILES[2]))
            await review.receipt(2)
            await review.post(2, do="approve")
            page, file = await offered(review)

    assert "Export 1 approved receipt" in page.text
    assert "Mercado Sol" in file
    assert "Café Brisa" not in file


async def test_items_are_offered(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path, count=2) as review:
        for number in range(2):
            await review.post(number, do="approve")
        page = pages.parse(await review.service.stranger.get(STOPPED))
        [file] = [one for one in page.links if "format=csv&rows=items&id=" in one]
        rows = (await review.service.stranger.get(file)).text.splitlines()

    assert "CSV, one row per item" in page.text
    assert 2 * ["Pão", "Leite"] == [
        name for row in rows for name in ("Pão", "Leite") if name in row
    ]


async def test_twelve_months_and_any_period_are_offered(sqlite_url: str, tmp_path: Path) -> None:
    days = [dt.date(2025 + number // 12, number % 12 + 1, 5) for number in range(MONTHS)]
    files = {
        make.jpeg(f"{day}"): receipt_pages.make_reading(
            f"Shop {day}", issued=Moment(day, dt.time(9), None)
        )
        for day in days
    }
    async with receipt_pages.run_service(sqlite_url, tmp_path, FakeReader(files)) as (
        service,
        owner,
    ):
        ids = [await receipt_pages.upload(service, data) for data in files]
        for one in ids:
            await receipt_pages.read_receipt(service, owner, one)
        approved = await service.stranger.post(
            f"{PATH}/selection/approve",
            data={"id": ids, "duplicates": "approve", "back": "review=needs_review"},
        )
        answer = await service.stranger.get(accounts.redirect_target(approved))
        oldest = {"review": "approved", "after": "2025-01-01", "until": "2025-01-31"}
        file = (await service.stranger.get(f"{PATH}/export", params=oldest)).text

    page = pages.parse(answer)
    months = [one for one in page.links if "format=xlsx&review=approved" in one]
    assert 12 == len(months)
    assert "January 2026 1 receipt CSV" in page.text
    # The form has all others.
    assert "Another period" in page.text
    assert ("get", f"{PATH}/export") in page.forms
    assert ["export-after", "export-until"] == [
        one["id"] for one in page.inputs.values() if (one.get("id") or "").startswith("export-")
    ]
    assert 2 == len(file.splitlines())
    assert "Shop 2025-01-05" in file
