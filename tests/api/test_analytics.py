"""GET /v1/analytics: usage by day, receipts by category, the top vendors."""

import datetime as dt
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, delete

from recibo.extract.model import Category, Moment, Receipt
from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.schemas.states import Role
from recibo.store.tables import (
    CategoryTotal,
    MerchantMonth,
    MerchantTotal,
    Org,
    SpendMonth,
    Table,
    UsageDay,
)
from tests import installation, make, people
from tests.installation import Installation
from tests.readers import UNREADABLE, Answer, ScriptedReader

DAY = dt.timedelta(days=1)
GROCERIES, FUEL = Category.GROCERIES, Category.FUEL


def bought(
    merchant: str | None,
    total: str | None = "10",
    category: Category | None = None,
    *,
    confidence: float = 0.6,
) -> Receipt:
    """Return what is read from a receipt of a merchant."""
    issued = Moment(dt.date(2026, 3, 14))
    read = make.reading(merchant or "", total=total, confidence=confidence, issued=issued)
    name = read.merchant_name if merchant else None
    return replace(read, merchant_name=name, category=category)


@asynccontextmanager
async def reading(
    database_url: str, folder: Path, *answers: Answer
) -> AsyncIterator[tuple[Installation, list[str]]]:
    """Start a service that reads one document per result, and return the receipts' ids."""
    reader = ScriptedReader(answers)
    async with installation.start(database_url, folder, reader=reader) as service:
        made = [await service.extract(make.jpeg(str(number))) for number in range(len(answers))]
        yield service, [answer.json().get("id", "") for answer in made]


async def asked(i: Installation, question: str, **query: str) -> Any:
    """Ask as a viewer of the demo org."""
    org = (await i.rows(Org))[0]
    tokens = await make.session(i.services.identity, OrgId(org.id), role=Role.VIEWER)
    url, headers = f"/v1/analytics/{question}", people.bearer(tokens.access_token)
    answer = await i.stranger.get(url, params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_org_without_receipts_has_empty_lists(idle_service: Installation) -> None:
    assert {"series": []} == await asked(idle_service, "usage")
    assert {"items": []} == await asked(idle_service, "categories")
    assert {"items": []} == await asked(idle_service, "top-vendors")


async def test_usage_counts_billed_readings_by_day_and_leaves_out_empty_days(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, bought("A"), UNREADABLE, bought("B")) as (i, _):
        today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        with clock.moved(2 * DAY):
            await i.extracted(make.jpeg("later"))
            body = await asked(i, "usage")
            of_three, of_two = await asked(i, "usage", days="3"), await asked(i, "usage", days="2")

    series = [
        {"day": f"{day:%Y-%m-%d}T00:00:00Z", "count": count}
        for day, count in ((today, 2), (today + 2 * DAY, 1))
    ]
    assert {"series": series} == body == of_three
    assert {"series": series[1:]} == of_two


async def test_usage_keeps_what_was_deleted_and_the_totals_do_not(
    database_url: str, tmp_path: Path
) -> None:
    answers = bought("A", category=FUEL), bought("A", "2.50", GROCERIES)
    async with reading(database_url, tmp_path, *answers) as (i, made):
        await i.delete(f"/receipts/{made[0]}")
        counts = [one["count"] for one in (await asked(i, "usage"))["series"]]

        assert [2] == counts
        assert {"items": [{"category": "groceries", "count": 1}]} == await asked(i, "categories")
        vendors = (await asked(i, "top-vendors"))["items"]
        assert [{"merchant": "A", "receipts": 1, "total_spent": 2.5}] == vendors


async def test_categories_and_vendors_without_receipts_are_omitted(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, bought("A", category=FUEL)) as (i, made):
        await i.delete(f"/receipts/{made[0]}")

        assert {"items": []} == await asked(i, "categories")
        assert {"items": []} == await asked(i, "top-vendors")


async def test_categories_come_by_count_and_without_the_unknown(
    database_url: str, tmp_path: Path
) -> None:
    answers = bought("A", category=FUEL), bought("B"), *(2 * [bought("C", category=GROCERIES)])
    async with reading(database_url, tmp_path, *answers) as (i, _):
        body = await asked(i, "categories")

    assert [("groceries", 2), ("fuel", 1)] == [tuple(one.values()) for one in body["items"]]


async def test_vendors_come_by_receipts_then_by_spent_then_by_name(
    database_url: str, tmp_path: Path
) -> None:
    answers = (
        bought("One", "0.01"), bought("One", "0.02"),
        bought("Dear", "100"), bought("B", "5"), bought("A", "5"),
        bought(None), bought("Unpriced", None),
    )  # fmt: skip
    async with reading(database_url, tmp_path, *answers) as (i, _):
        body = (await asked(i, "top-vendors"))["items"]
        of_two = (await asked(i, "top-vendors", limit="2"))["items"]

    expected = [("One", 2, 0.03), ("Dear", 1, 100), ("A", 1, 5), ("B", 1, 5), ("Unpriced", 1, 0)]
    assert expected == [tuple(one.values()) for one in body]
    assert body[:2] == of_two


async def test_better_second_reading_moves_a_receipt_and_a_worse_one_does_not(
    database_url: str, tmp_path: Path
) -> None:
    first, better = bought("Au#ra", "1", FUEL), bought("Aurora", "7", GROCERIES, confidence=0.9)
    reader = ScriptedReader([first, better])
    again = {"accuracy": "high", "reread": "true"}
    async with installation.start(database_url, tmp_path, reader=reader) as i:
        await i.extracted(make.jpeg("document"))
        await i.extracted(make.jpeg("document"), **again)

        assert [("Aurora", 1, 7)] == [
            tuple(one.values()) for one in (await asked(i, "top-vendors"))["items"]
        ]
        assert {"items": [{"category": "groceries", "count": 1}]} == await asked(i, "categories")


async def test_receipts_of_other_orgs_are_not_counted(database_url: str, tmp_path: Path) -> None:
    async with reading(database_url, tmp_path, bought("A", category=FUEL)) as (i, _):
        stranger = await people.signed_up(i)
        for question in ("usage", "categories", "top-vendors"):
            url = f"/v1/analytics/{question}"
            answer = await i.stranger.get(url, headers=stranger.headers)

            assert [[]] == list(answer.json().values())


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("usage", "days=0"), ("usage", "days=366"), ("usage", "days=x"), ("usage", "days=1.0"),
        ("usage", "days=1&days=2"), ("usage", "days="),
        ("top-vendors", "limit=0"), ("top-vendors", "limit=101"), ("top-vendors", "limit=-1"),
        ("top-vendors", "limit=1&limit=1"),
    ],
)  # fmt: skip
async def test_bad_query_is_refused(door: Installation, question: str, query: str) -> None:
    owner = await people.signed_up(door)
    url = f"/v1/analytics/{question}?{query}"
    answer = await door.stranger.get(url, headers=owner.headers)

    assert (400, "validation_error") == (answer.status_code, answer.json()["error"]["code"])


async def test_totals_of_older_receipts_are_made_by_the_migration(
    database_url: str, tmp_path: Path
) -> None:
    answers = bought("A", "2.50", FUEL), bought("A", "1", FUEL), bought("A"), bought(None, "3")
    of_months = MerchantMonth, SpendMonth
    tables: tuple[type[Table], ...] = (UsageDay, CategoryTotal, MerchantTotal, *of_months)
    async with reading(database_url, tmp_path, *answers) as (i, made):
        await i.delete(f"/receipts/{made[2]}")
        kept = [await _totals(i, table) for table in tables]
        async with i.database.write() as session:
            for table in tables:
                await session.execute(delete(table))
            await (await session.connection()).run_sync(_fill_totals)

        assert kept == [await _totals(i, table) for table in tables]


_WITH_TOTALS = ("0005_totals_of_receipts", "0032_merchants_by_month", "0033_spend_by_month")


def _fill_totals(connection: Connection) -> None:
    versions = "recibo.store.migrations.versions"
    with Operations.context(MigrationContext.configure(connection)):
        for name in _WITH_TOTALS:
            importlib.import_module(f"{versions}.{name}").fill()


async def _totals(i: Installation, table: type[Table]) -> list[dict[str, Any]]:
    """Return the rows of a table in one order."""
    rows = [
        {name: value for name, value in sorted(vars(row).items()) if not name.startswith("_")}
        for row in await i.rows(table)
    ]
    return sorted(rows, key=str)
