"""Months, quotas and credits."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.errors import RateLimitExceeded
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.plans import PlanName
from recibo.services.reading import usage
from recibo.services.reading.usage import Usage
from recibo.store.db import Database
from recibo.store.tables import UsageMonth
from tests import make

MOMENTS = st.datetimes(
    min_value=dt.datetime(2000, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=dt.datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14, 14).map(lambda hours: dt.timezone(dt.timedelta(hours=hours))),
)


@given(MOMENTS)
def test_month_ends_at_the_first_instant_that_is_another_month(moment: dt.datetime) -> None:
    end = usage.month_end(moment)

    assert moment < end <= moment + dt.timedelta(days=31)
    assert usage.month_of(moment) == usage.month_of(end - dt.timedelta(microseconds=1))
    assert usage.month_of(moment) != usage.month_of(end)


def test_month_is_the_one_in_utc() -> None:
    new_year_in_tokyo = dt.datetime(2027, 1, 1, 8, tzinfo=dt.timezone(dt.timedelta(hours=9)))

    assert "2026-12" == usage.month_of(new_year_in_tokyo)
    assert dt.datetime(2027, 1, 1, tzinfo=dt.UTC) == usage.month_end(new_year_in_tokyo)


@pytest.mark.parametrize(
    ("plan", "quota"),
    [("free", 50), ("indie", 1000), ("startup", 25_000), ("scale", 250_000)],
)
async def test_plan_sets_the_quota(database: Database, plan: PlanName, quota: int) -> None:
    actor = await make.actor(database, plan=plan)
    async with database.write() as session:
        session.add(
            UsageMonth(
                org_id=actor.org_id,
                month=usage.month_of(clock.now()),
                held=quota - 1,
                completed=0,
                credits=0,
            )
        )
    async with database.write() as session:
        await usage.hold(session, actor, usage.month_of(clock.now()))

    async with database.write() as session:
        with pytest.raises(RateLimitExceeded, match=str(quota)):
            await usage.hold(session, actor, usage.month_of(clock.now()))


async def test_use_of_nothing_is_nothing(database: Database, actor: Actor) -> None:
    async with database.read() as session:
        assert Usage() == await usage.this_month(session, actor)


async def test_use_is_the_orgs_own(database: Database, actor: Actor) -> None:
    other = await make.actor(database)
    async with database.write() as session:
        await usage.hold(session, other, usage.month_of(clock.now()))
        await usage.bill(session, other.org_id, ReceiptId("rcp_1"), accuracy="high", again=False)

    async with database.read() as session:
        assert Usage() == await usage.this_month(session, actor)
        assert Usage(held=1, completed=1, credits=5) == await usage.this_month(session, other)


async def test_nothing_is_given_back_that_was_not_held(database: Database, actor: Actor) -> None:
    month = usage.month_of(clock.now())
    async with database.write() as session:
        await usage.hold(session, actor, month)
        await usage.give_back(session, actor.org_id, month)
        await usage.give_back(session, actor.org_id, month)

    async with database.read() as session:
        assert 0 == (await usage.this_month(session, actor)).held
