"""Analytics: what was spent in one currency, by month, category and merchant, and readings."""

import datetime as dt
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
    member, period = caller.member, chosen.period
    merchants: Sequence[Sum] = ()
    async with caller.services.database.read() as session:
        found = await spend.by_currency(session, member, period)
        spent = spending(chosen, found, query.get("currency"))
        if spent.shown:
            merchants = await spend.top_merchants(
                session, member, period, spent.shown.currency, limit=_MERCHANTS
            )
        newest = [] if spent.shown else await spend.newest_months(session, member, most=1)
        undated = await spend.undated(session, member, most=pages.MOST_COUNTED)
        until = min(period.last, today)
        readings = await analytics.usage_between(session, member, period.first, until)
        month = await usage.this_month(session, member)
    of_readings = bars.of_readings(readings, Period(period.first, until)) if readings else []
    return pages.section(
        caller.request,
        "analytics.html",
        error=error,
        values=periods.form_values(period, given),
        spent=spent,
        presets=periods.PRESETS,
        newest=[periods.year_of(month) for month in newest],
        undated=undated,
        readings=sum(count for _, count in readings),
        readings_until=until,
        receipts_this_month=month.completed,
        reading_bars=of_readings,
        reading_unit="month" if bars.are_months(of_readings) else "day",
        **_bars(spent, merchants, today),
    )


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
