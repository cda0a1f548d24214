"""Money and time, exact on both databases."""

import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, func, insert, select
from sqlalchemy.exc import StatementError
from sqlalchemy.ext.asyncio import AsyncSession

from recibo.store.columns import Money, UtcDateTime
from recibo.store.db import Database

SAMPLES = Table(
    "samples",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("amount", Money()),
    Column("moment", UtcDateTime()),
)
AMOUNTS = st.decimals(
    min_value=Decimal(-(10**12)), max_value=Decimal(10**12), places=4, allow_nan=False
)
MOMENTS = st.datetimes(
    min_value=dt.datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=dt.datetime(9998, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(
        lambda minutes: dt.timezone(dt.timedelta(minutes=minutes))
    ),
)


class Undone(Exception):  # noqa: N818 - it undoes a transaction, and is no error
    """Raised to roll back a transaction."""


ON_A_DATABASE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@asynccontextmanager
async def undone(database: Database) -> AsyncIterator[AsyncSession]:
    """Open a transaction with the table above, and roll back both."""
    with contextlib.suppress(Undone):
        async with database.write() as session:
            connection = await session.connection()
            await connection.run_sync(SAMPLES.create)
            yield session
            raise Undone


async def stored(session: AsyncSession, column: str, values: Sequence[object]) -> list[object]:
    """Store values and return them as read back, in the same order."""
    rows = [{"id": number, column: value} for number, value in enumerate(values)]
    await session.execute(insert(SAMPLES), rows)
    query = select(SAMPLES.c[column]).order_by(SAMPLES.c.id)
    return list((await session.execute(query)).scalars())


@ON_A_DATABASE
@given(amounts=st.lists(AMOUNTS, min_size=1, max_size=50))
async def test_amounts_and_their_sums_stay_exact(
    database: Database, amounts: list[Decimal]
) -> None:
    async with undone(database) as session:
        found = await stored(session, "amount", amounts)
        total = (await session.execute(select(func.sum(SAMPLES.c.amount)))).scalar_one()

    assert amounts == found
    assert sum(amounts) == total


@ON_A_DATABASE
@given(moments=st.lists(MOMENTS, min_size=1, max_size=20))
async def test_times_are_returned_as_the_same_instant_in_utc(
    database: Database, moments: list[dt.datetime]
) -> None:
    async with undone(database) as session:
        found = await stored(session, "moment", moments)

    assert moments == found
    assert {dt.UTC} == {moment.tzinfo for moment in found if isinstance(moment, dt.datetime)}


async def test_amount_of_16_digits_keeps_its_cents(database: Database) -> None:
    amount = Decimal("99999999999999.99")
    async with undone(database) as session:
        assert [amount] == await stored(session, "amount", [amount])


@pytest.mark.parametrize("column", ["amount", "moment"])
async def test_none_is_stored_as_null(database: Database, column: str) -> None:
    async with undone(database) as session:
        assert [None] == await stored(session, column, [None])


async def test_time_without_a_zone_is_refused(database: Database) -> None:
    naive = dt.datetime(2026, 3, 14)  # noqa: DTZ001 - the point
    async with undone(database) as session:
        with pytest.raises(StatementError, match="no time zone"):
            await stored(session, "moment", [naive])
