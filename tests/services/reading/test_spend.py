"""What an org spent in each currency."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from recibo.lib import clock
from recibo.schemas.actor import Member
from recibo.schemas.ids import OrgId
from recibo.schemas.states import ReceiptStatus, ReviewStatus
from recibo.services.reading import rollups, spend
from recibo.services.reading.spend import Period, Sum
from recibo.store.db import Database
from recibo.store.tables import MerchantMonth, Receipt, SpendMonth
from tests import make

SPRING = Period(dt.date(2026, 2, 10), dt.date(2026, 4, 9))
APRIL = dt.date(2026, 4, 1)


@pytest.fixture
async def member(database: Database) -> Member:
    """The owner of an org."""
    return await make.member(database, await make.org(database))


async def add(database: Database, org_id: str, **columns: Any) -> None:
    """Add a completed receipt of April in euros."""
    row = make.receipt_of(org_id)
    known = {
        "status": ReceiptStatus.COMPLETED,
        "confidence": 0.9,
        "issued_on": APRIL,
        "currency": "EUR",
        "total": Decimal(10),
        "category": "fuel",
        "merchant_name": "Posto Serra Azul",
        "review_status": ReviewStatus.READY,
    }
    for name, value in {**known, **columns}.items():
        setattr(row, name, value)
    if row.merchant_name:
        row.merchant_key = row.merchant_name.lower()
    async with database.write() as session:
        session.add(row)
        if row.deleted_at is None:
            await rollups.change(session, OrgId(org_id), before=None, after=rollups.entry_of(row))


async def test_currencies_are_never_added(database: Database, member: Member) -> None:
    other = await make.org(database)
    await add(database, member.org_id, total=Decimal("41.37"))
    await add(database, member.org_id, total=Decimal("0.6301"), category=None)
    await add(database, member.org_id, currency="BRL", total=None)
    for missing in ({"currency": None}, {"issued_on": None}, {"deleted_at": clock.now()}):
        await add(database, member.org_id, **missing)
    await add(database, other)
    async with database.read() as session:
        euros, reais = await spend.by_currency(session, member, SPRING)
        undated = await spend.undated(session, member, most=5)

    assert ("EUR", 2, Decimal("42.0001")) == (euros.currency, euros.receipts, euros.total)
    assert [Sum("fuel", 1, Decimal("41.37")), Sum("", 1, Decimal("0.6301"))] == euros.categories
    assert ("BRL", 1, Decimal(0)) == (reais.currency, reais.receipts, reais.total)
    assert 1 == undated


async def test_months_are_counted_by_the_state_of_review(
    database: Database, member: Member
) -> None:
    days = (dt.date(2026, 2, 28), dt.date(2026, 4, 1), dt.date(2026, 4, 30), dt.date(2026, 5, 1))
    for day in days:
        await add(database, member.org_id, issued_on=day, review_status=ReviewStatus.APPROVED)
    # Without a currency or a total it counts, too.
    await add(
        database,
        member.org_id,
        currency=None,
        total=None,
        category=None,
        review_status=ReviewStatus.APPROVED,
    )
    await add(database, member.org_id)
    await add(database, await make.org(database), review_status=ReviewStatus.APPROVED)
    months = [dt.date(2026, month, 1) for month in (4, 3, 2)]
    async with database.read() as session:
        counts = await spend.counts_of(session, member, months, review=ReviewStatus.APPROVED)
        none = await spend.counts_of(session, member, [], review=ReviewStatus.APPROVED)

    assert dict(zip(months, (3, 0, 1), strict=True)) == counts
    assert {} == none


async def test_period_includes_its_first_and_last_day(database: Database, member: Member) -> None:
    days = ("2026-02-09", "2026-02-10", "2026-02-28", "2026-04-09", "2026-04-10")
    for day in days:
        await add(database, member.org_id, issued_on=dt.date.fromisoformat(day))
    async with database.read() as session:
        [euros] = await spend.by_currency(session, member, SPRING)

    assert [Sum("2026-02", 2, Decimal(20)), Sum("2026-04", 1, Decimal(10))] == euros.months
    assert [dt.date(2026, 2, 1), dt.date(2026, 3, 1), APRIL] == SPRING.months


async def test_states_of_review_are_counted(database: Database, member: Member) -> None:
    for status in (ReviewStatus.APPROVED, ReviewStatus.APPROVED, ReviewStatus.NEEDS_REVIEW):
        await add(database, member.org_id, review_status=status)
    async with database.read() as session:
        [euros] = await spend.by_currency(session, member, SPRING)

    assert {"approved": 2, "needs_review": 1} == euros.reviews


async def test_merchants_are_those_with_the_largest_totals(
    database: Database, member: Member
) -> None:
    await add(database, member.org_id, merchant_name="PADARIA REAL", total=Decimal(30))
    await add(database, member.org_id, merchant_name="Padaria Real", total=Decimal("11.20"))
    await add(database, member.org_id, merchant_name="Cantina", total=Decimal(40))
    await add(database, member.org_id, merchant_name="Copa", total=None)
    await add(database, member.org_id, merchant_name=None, total=Decimal(99))
    await add(database, member.org_id, merchant_name="Too late", issued_on=dt.date(2026, 5, 1))
    await add(database, member.org_id, merchant_name="Elsewhere", currency="BRL")
    async with database.read() as session:
        found = await spend.top_merchants(session, member, SPRING, "EUR", limit=3)
        nothing = await spend.top_merchants(session, member, SPRING, "USD", limit=3)

    assert [
        Sum("Padaria Real", 2, Decimal("41.20")),
        Sum("Cantina", 1, Decimal(40)),
        Sum("Copa", 1, Decimal(0)),
    ] == found
    assert [] == nothing


@pytest.mark.parametrize(
    ("first", "last", "total"),
    [
        ("2026-02-10", "2026-04-09", "1110"),  # the end of one month, another, a part of the next
        ("2026-02-01", "2026-04-30", "11111"),
        ("2026-02-11", "2026-04-08", "1000"),
        ("2026-03-01", "2026-03-31", "1000"),
        ("2026-02-02", "2026-03-31", "1010"),
        ("2026-03-01", "2026-04-09", "1100"),
        ("2026-03-02", "2026-03-30", "1000"),
        ("2026-02-10", "2026-02-10", "10"),
    ],
)
async def test_merchants_are_those_of_the_days_of_the_period(
    database: Database, member: Member, first: str, last: str, total: str
) -> None:
    days = ("2026-02-01", "2026-02-10", "2026-04-09", "2026-03-15", "2026-04-30")
    for day, amount in zip(days, (1, 10, 100, 1000, 10000), strict=True):
        date = dt.date.fromisoformat(day)
        await add(database, member.org_id, issued_on=date, total=Decimal(amount))
    period = Period(dt.date.fromisoformat(first), dt.date.fromisoformat(last))
    async with database.read() as session:
        [merchant] = await spend.top_merchants(session, member, period, "EUR", limit=3)

    assert Decimal(total) == merchant.total
    assert total.count("1") == merchant.receipts


async def test_totals_of_a_merchant_follow_a_corrected_date(
    database: Database, member: Member
) -> None:
    await add(database, member.org_id, total=Decimal("41.37"))
    async with database.write() as session:
        row = (await session.execute(select(Receipt))).scalar_one()
        before = rollups.entry_of(row)
        row.issued_on = dt.date(2026, 5, 1)
        row.total = Decimal("7.00")
        await rollups.change(session, member.org_id, before=before, after=rollups.entry_of(row))
    async with database.read() as session:
        rows = (await session.execute(select(MerchantMonth))).scalars().all()

    assert [(dt.date(2026, 5, 1), 1, Decimal("7.00"))] == [
        (row.month, row.receipts, row.total_spent) for row in rows
    ]


async def test_spend_of_a_month_follows_an_approval(database: Database, member: Member) -> None:
    await add(database, member.org_id)
    async with database.write() as session:
        row = (await session.execute(select(Receipt))).scalar_one()
        before = rollups.entry_of(row)
        row.review_status = ReviewStatus.APPROVED
        await rollups.change(session, member.org_id, before=before, after=rollups.entry_of(row))
    async with database.read() as session:
        [of_whole_month] = await spend.by_currency(
            session, member, Period(APRIL, spend.month_end(APRIL))
        )
        [of_days] = await spend.by_currency(session, member, SPRING)
        rows = (await session.execute(select(SpendMonth))).scalars().all()

    assert {ReviewStatus.APPROVED: 1} == of_whole_month.reviews == of_days.reviews
    assert Decimal(10) == of_whole_month.total == of_days.total
    assert [(APRIL, ReviewStatus.APPROVED, 1)] == [
        (one.month, one.review_status, one.receipts) for one in rows
    ]


@pytest.mark.parametrize("first", ["2025-12-31", "2026-01-01"])
def test_months_go_over_the_year(first: str) -> None:
    months = Period(dt.date.fromisoformat(first), dt.date(2026, 1, 31)).months

    assert dt.date(2026, 1, 1) == months[-1]
    assert (2 if first < "2026" else 1) == len(months)
