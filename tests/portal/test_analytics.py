"""The page of analytics."""

import re
from decimal import Decimal

from recibo.lib import clock
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

PATH = "/portal/analytics"
HOSTILE = "</table><script>alert(1)</script>"


async def used(i: Installation, org_id: str, counts: dict[int, int]) -> None:
    """Record the number of readings billed on days before today."""
    async with i.database.write() as session:
        for days, count in counts.items():
            day = (clock.now() - days * accounts.DAY).date()
            session.add(tables.UsageDay(org_id=org_id, day=day, count=count))


async def test_readings_by_day_are_shown_as_chart_and_table(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await used(service, ana.org_id, {0: 10, 3: 40, 29: 1, 30: 500})
    await used(service, bea.org_id, {1: 7777})
    await forms.sign_in_as(service, ana)
    answer = await service.stranger.get(PATH)
    month = pages.parse(answer)
    week = await forms.get_page(service, f"{PATH}?days=7")
    quarter = await forms.get_page(service, f"{PATH}?days=90")

    heights = re.findall(r'<rect x="(\d+)" y="([\d.]+)" width="8" height="([\d.]+)">', answer.text)
    assert [("0", "97.5", "2.5"), ("260", "0.0", "100.0"), ("290", "75.0", "25.0")] == heights
    assert 'viewBox="0 0 300 100"' in answer.text
    assert "51 readings were billed in the last 30 days (UTC), at most 40 a day." in month.text
    assert f"{clock.now():%Y-%m-%d} 10" in month.text
    assert "50 readings were billed in the last 7 days" in week.text
    assert "551 readings were billed in the last 90 days (UTC), at most 500 a day." in quarter.text
    assert "7,777" not in quarter.text


async def test_receipts_are_counted_by_category_and_merchant(sqlite_service: Installation) -> None:
    ana = await people.signed_up(sqlite_service)
    async with sqlite_service.database.write() as session:
        session.add(tables.CategoryTotal(org_id=ana.org_id, category="groceries", receipts=1200))
        session.add(
            tables.MerchantTotal(
                org_id=ana.org_id,
                merchant_hash="0" * 64,
                merchant=HOSTILE,
                receipts=3,
                total_spent=Decimal("88123.9"),
            )
        )
    await forms.sign_in_as(sqlite_service, ana)
    answer = await sqlite_service.stranger.get(PATH)

    page = pages.parse(answer)
    assert "Groceries 1,200" in page.text
    assert f"{HOSTILE} 3 88,123.90" in page.text
    assert "<script" not in answer.text


async def test_unknown_time_range_is_refused(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for days in ("", "0", "31", "x", "٣٠", "9" * 5000):
        answer = await sqlite_service.stranger.get(PATH, params={"days": days})
        assert 400 == answer.status_code, days
        assert "must be one of 7, 30, 90, 365" in pages.parse(answer).text


async def test_page_of_an_org_without_receipts_says_so(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    page = await forms.get_page(sqlite_service, PATH)

    assert "No readings in the last 30 days." in page.text
    assert 2 == page.text.count("No receipts yet.")
