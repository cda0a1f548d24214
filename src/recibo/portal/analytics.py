"""Analytics: what was spent in one currency, by month, category and merchant, and readings."""

import asyncio
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Response

from recibo.errors import ValidationFailed
from recibo.lib import clock
from recibo.portal import bars, pages, periods, request_context, routers
from recibo.portal.periods import Chosen
from recibo.portal.request_context import RequestContext
from recibo.schemas.permissions import Permission
from recibo.services.reading import analytics, spend, usage
from recibo.services.reading.spend import Period, Spend, Sum

router = routers.make("/portal/analytics")

PAGE = "/portal/analytics"
_MERCHANTS = 10
_CURRENCY = re.compile("[A-Za-z]{3}")

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.ANALYTICS_READ))]


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent in a period, and the currency that the page shows."""

    chosen: Chosen
    #: The currencies with receipts, that of the most receipts first.
    all: Sequence[Spend]
    #: None without receipts.
    shown: Spend | None

    def of_currency(self, currency: str) -> str:
        """Return the query of this period in another currency."""
        return urlencode({**self.chosen.query, "currency": currency})

    def of_period(self, preset: str) -> str:
        """Return the query of another period in this currency."""
        return urlencode({periods.PRESET: preset, **self.currency_query})

    @property
    def currency_query(self) -> Mapping[str, str]:
        """The part of a query that names the currency."""
        return {"currency": self.shown.currency} if self.shown else {}


def spending(chosen: Chosen, found: Sequence[Spend], currency: str | None) -> Spending:
    """Return the spend in a currency, or in the one of the most receipts."""
    named = [one for one in found if one.currency == (currency or "").upper()]
    return Spending(chosen, found, next(iter([*named, *found]), None))


@router.get("")
async def show_analytics(caller: Reader) -> Response:
    """Show the spend of a period in one currency, and the readings."""
    query = caller.request.query_params
    today = clock.now().date()
    given = periods.submitted(query)
    error = None
    try:
        chosen = periods.chosen(given, today)
    except ValidationFailed as e:
        chosen, error = periods.default(today), e
    until = min(chosen.period.last, today)
    (spent, merchants), counts = await asyncio.gather(
        _spent(caller, chosen, query.get("currency")),
        _counts(caller, Period(chosen.period.first, until)),
    )
    return pages.section(
        caller.request,
        "analytics.html",
        error=error,
        values=periods.form_values(chosen.period, given),
        spent=spent,
        presets=periods.PRESETS,
        newest=[] if spent.shown else await _newest_years(caller),
        readings_until=until,
        **counts,
        **_bars(spent, merchants, today),
    )


async def _counts(caller: RequestContext, period: Period) -> Mapping[str, object]:
    """Return what the page says about readings, and about receipts without a date."""
    member = caller.member
    async with caller.services.database.read() as session:
        undated = await spend.undated(session, member, most=pages.MOST_COUNTED)
        readings = await analytics.usage_between(session, member, period.first, period.last)
        month = await usage.this_month(session, member)
    by_time = bars.of_readings(readings, period) if readings else []
    return {
        "undated": undated,
        "readings": sum(count for _, count in readings),
        "receipts_this_month": month.completed,
        "reading_bars": by_time,
        "reading_unit": "month" if bars.are_months(by_time) else "day",
    }


async def _newest_years(caller: RequestContext) -> Sequence[Period]:
    """Return the year of the newest receipt, for a period without any."""
    async with caller.services.database.read() as session:
        newest = await spend.newest_months(session, caller.member, most=1)
    return [periods.year_of(month) for month in newest]


async def _spent(
    caller: RequestContext, chosen: Chosen, currency: str | None
) -> tuple[Spending, Sequence[Sum]]:
    """Return the spend, and the top merchants in the currency that is shown.

    Both queries visit all receipts of the period, so they run at the same time; a receipt that is
    read meanwhile may be in one of them only. The merchants are asked again if another currency is
    shown than was expected.
    """
    member, database = caller.member, caller.services.database

    async def by_currency() -> Sequence[Spend]:
        async with database.read() as session:
            return await spend.by_currency(session, member, chosen.period)

    async def merchants_in(currency: str) -> Sequence[Sum]:
        async with database.read() as session:
            return await spend.top_merchants(
                session, member, chosen.period, currency, limit=_MERCHANTS
            )

    async with database.read() as session:
        newest = await spend.newest_currency(session, member, chosen.period)
    expected = currency.upper() if currency and _CURRENCY.fullmatch(currency) else newest or ""
    found, merchants = await asyncio.gather(by_currency(), merchants_in(expected))
    spent = spending(chosen, found, currency)
    if spent.shown is None:
        return spent, ()
    if spent.shown.currency != expected:
        merchants = await merchants_in(spent.shown.currency)
    return spent, merchants


def _bars(
    spent: Spending, merchants: Sequence[Sum], today: dt.date
) -> Mapping[str, Sequence[bars.Bar]]:
    period = spent.chosen.period
    if spent.shown is None:
        return {}
    return {
        "months": bars.of_months(spent.shown, period, today),
        "categories": bars.of_categories(spent.shown, period),
        "merchants": bars.of_merchants(merchants, spent.shown.currency, period),
    }
