"""The page of analytics."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.schemas.states import ReceiptStatus, ReviewStatus
from recibo.services.reading import rollups
from recibo.store import tables
from tests import make, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

PATH = "/portal/analytics"
HOSTILE = "</table><script>alert(1)</script>"
TODAY = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: TODAY)


async def used(i: Installation, org_id: str, counts: dict[int, int]) -> None:
    """Record the number of readings billed on days before today."""
    async with i.database.write() as session:
        for days, count in counts.items():
            day = (clock.now() - days * accounts.DAY).date()
            session.add(tables.UsageDay(org_id=org_id, day=day, count=count))


async def spent(i: Installation, org_id: str, day: str, total: str, **columns: Any) -> None:
    """Add a receipt, in reais unless said otherwise."""
    row = make.receipt_of(org_id)
    known = {
        "status": ReceiptStatus.COMPLETED,
        "confidence": 0.9,
        "currency": "BRL",
        "category": "fuel",
        "merchant_name": "Posto Serra Azul",
        "review_status": ReviewStatus.APPROVED,
        **columns,
    }
    for name, value in known.items():
        setattr(row, name, value)
    row.issued_on, row.total = dt.date.fromisoformat(day), Decimal(total)
    row.merchant_key = row.merchant_name and row.merchant_name.lower()
    async with i.database.write() as session:
        session.add(row)
        await rollups.change(session, OrgId(org_id), before=None, after=rollups.entry_of(row))


async def test_spend_is_shown_by_month_category_and_merchant(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await spent(service, ana.org_id, "2026-11-02", "1200.5")
    await spent(service, ana.org_id, "2026-10-31", "300", category=None, merchant_name=HOSTILE)
    await spent(service, ana.org_id, "2026-10-01", "41.37", currency="EUR")
    await spent(service, bea.org_id, "2026-11-02", "7777")
    await forms.sign_in_as(service, ana)
    answer = await service.stranger.get(PATH)
    euros = await forms.get_page(service, f"{PATH}?currency=EUR")

    page = pages.parse(answer)
    assert "Spend 1,500.50 BRL" in page.text
    assert "Receipts 2 750.25 on average" in page.text
    assert "Oct 2026 300.00 Nov 2026 1,200.50" in page.text
    assert "Dec 2025 0.00" in page.text
    assert "Fuel 1,200.50" in page.text
    assert "No category 300.00" in page.text
    assert f"{HOSTILE} 1 300.00 300.00" in page.text
    assert "<script>" not in answer.text
    assert "7,777" not in page.text
    assert "41.37" not in page.text
    assert "Spend 41.37 EUR" in euros.text


@pytest.mark.parametrize("currency", ["%00", "USD", "E%27"])
async def test_a_currency_without_receipts_shows_that_of_the_most(
    service: Installation, currency: str
) -> None:
    ana = await people.signed_up(service)
    await spent(service, ana.org_id, "2026-11-02", "1200.5")
    await forms.sign_in_as(service, ana)
    page = await forms.get_page(service, f"{PATH}?currency={currency}")

    assert "Spend 1,200.50 BRL" in page.text
    assert "Posto Serra Azul 1 1,200.50" in page.text


async def test_bars_lead_to_their_receipts(sqlite_service: Installation) -> None:
    ana = await people.signed_up(sqlite_service)
    await spent(sqlite_service, ana.org_id, "2026-11-02", "12")
    await forms.sign_in_as(sqlite_service, ana)
    page = await forms.get_page(sqlite_service, PATH)
    empty = await forms.get_page(sqlite_service, f"{PATH}?from=1999-01-01&to=1999-12-31")

    assert f"{PATH}?from=2026-01-01&to=2026-12-31" in empty.links
    month = "/portal/receipts?after=2026-11-01&until=2026-11-30&currency=BRL"
    year = "/portal/receipts?after=2025-12-01&until=2026-11-30&currency=BRL"
    assert month in page.links
    assert f"{year}&category=fuel" in page.links
    assert f"{year}&merchant=Posto+Serra+Azul" in page.links


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("period=this-month", "1.00"),
        ("period=last-month", "2.00"),
        ("period=this-year", "7.00"),
        ("period=last-year", "24.00"),
        ("period=last-12-months", "15.00"),
        ("from=2026-10-31&to=2026-11-01", "3.00"),
        ("from=2025-01-01", "31.00"),
        ("to=2026-10-31", "6.00"),
        ("", "15.00"),
    ],
)
async def test_period_is_a_preset_or_two_dates(
    sqlite_service: Installation, query: str, total: str
) -> None:
    ana = await people.signed_up(sqlite_service)
    for place, day in enumerate(
        ("2026-11-01", "2026-10-31", "2026-01-01", "2025-12-01", "2025-11-30", "2024-12-31")
    ):
        await spent(sqlite_service, ana.org_id, day, str(2**place))
    await forms.sign_in_as(sqlite_service, ana)
    page = await forms.get_page(sqlite_service, f"{PATH}?{query}")

    assert f"Spend {total} BRL" in page.text


@pytest.mark.parametrize(
    ("first", "column"), [("2026-01-01", '"Mar">Mar 2026<'), ("2025-01-01", '"Mar 2025">Mar 2025<')]
)
async def test_columns_of_more_than_a_year_name_their_years(
    sqlite_service: Installation, first: str, column: str
) -> None:
    ana = await people.signed_up(sqlite_service)
    await accounts.sign_in(sqlite_service.stranger)
    await spent(sqlite_service, ana.org_id, "2026-11-02", "3")

    answer = await sqlite_service.stranger.get(f"{PATH}?from={first}&to=2026-11-23")

    assert column in answer.text


async def test_invalid_period_has_an_error(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    bad = {
        "period=forever": "There is no such period.",
        "from=soon": "Choose a date, such as",
        "from=2026-11-02&to=2026-11-01": "The last day must not be before the first day",
        "from=2010-01-01": "Choose at most 10 years",
        "to=9999-12-31": "no later than next year",
        f"from={'9' * 5000}": "Choose a date, such as",
    }
    for query, said in bad.items():
        answer = await sqlite_service.stranger.get(f"{PATH}?{query}")
        assert 400 == answer.status_code, query
        assert said in pages.parse(answer).text


async def test_share_to_review_and_undated_receipts_are_counted(
    sqlite_service: Installation,
) -> None:
    ana = await people.signed_up(sqlite_service)
    for review in (ReviewStatus.APPROVED, ReviewStatus.APPROVED, ReviewStatus.NEEDS_REVIEW):
        await spent(sqlite_service, ana.org_id, "2026-11-01", "1", review_status=review)
    async with sqlite_service.database.write() as session:
        row = make.receipt_of(ana.org_id)
        row.status, row.confidence = ReceiptStatus.COMPLETED, 0.9
        session.add(row)
    await forms.sign_in_as(sqlite_service, ana)
    page = await forms.get_page(sqlite_service, PATH)

    assert "To review 33% 1 receipt Approved 66% 2 receipts" in page.text
    assert "1 receipt without a date is not counted." in page.text


async def test_readings_are_shown_by_day_week_or_month(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await used(service, ana.org_id, {0: 10, 3: 40, 21: 1, 30: 500})
    await used(service, bea.org_id, {1: 7777})
    await forms.sign_in_as(service, ana)
    month = await forms.get_page(service, f"{PATH}?period=this-month")
    year = await forms.get_page(service, PATH)
    weeks = await forms.get_page(service, f"{PATH}?from=2026-09-01")

    assert "51 readings were billed" in month.text
    assert "Nov 2, 2026 1 " in month.text
    assert "Nov 23, 2026 10 A receipt" in month.text
    assert "551 readings were billed" in year.text
    assert "Oct 2026 500 Nov 2026 51 A receipt" in year.text
    assert "Oct 20, 2026 500 " in weeks.text
    assert "Nov 17, 2026 50 A receipt" in weeks.text
    assert "7,777" not in year.text


async def test_page_of_an_org_without_receipts_says_so(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    page = await forms.get_page(sqlite_service, PATH)

    assert "No receipts in this period" in page.text
    assert "No readings in this period" in page.text
