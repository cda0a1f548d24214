"""Bars of counts and sums of money, which templates draw with their figures."""

import bisect
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.portal import receipt_lists
from recibo.services.reading.spend import Period, Spend, Sum

# A bar is this long at most, in units of its drawing.
_FULL = 100
_WEEK = 7
_DAY = dt.timedelta(days=1)
# Longer periods have a bar for each week, and still longer ones for each month.
_MOST_DAYS, _MOST_WEEKS = 31, 26


@dataclass(frozen=True, slots=True)
class Bar:
    """A month, day, category or merchant."""

    name: str
    value: Decimal | int
    #: The length of its bar, 0 to 100.
    length: float
    receipts: int = 0
    #: The list of its receipts; empty if there is none.
    path: str = ""
    #: The first day, of a month or of days.
    day: dt.date | None = None
    #: Whether it is the current month.
    is_current: bool = False


def of_months(spend: Spend, period: Period, today: dt.date) -> list[Bar]:
    """Return a bar for each month of a period, also for those without receipts."""
    sums = {one.name: one for one in spend.months}
    found = [sums.get(f"{day:%Y-%m}", Sum(f"{day:%Y-%m}", 0, Decimal(0))) for day in period.months]
    paths = [_receipts_of(_within(period, day), spend.currency) for day in period.months]
    return [
        replace(bar, day=day, is_current=(day.year, day.month) == (today.year, today.month))
        for bar, day in zip(_of_sums(found, paths), period.months, strict=True)
    ]


def of_categories(spend: Spend, period: Period) -> list[Bar]:
    """Return a bar for each category, the largest first; receipts without one come last."""
    found = sorted(spend.categories, key=lambda one: not one.name)
    currency = spend.currency
    return _of_sums(
        found,
        [_receipts_of(period, currency, category=one.name) if one.name else "" for one in found],
    )


def of_merchants(merchants: Sequence[Sum], currency: str, period: Period) -> list[Bar]:
    """Return a bar for each merchant."""
    return _of_sums(
        merchants, [_receipts_of(period, currency, merchant=one.name) for one in merchants]
    )


def _of_sums(sums: Sequence[Sum], paths: Sequence[str]) -> list[Bar]:
    most = max((one.total for one in sums), default=Decimal(0))
    return [
        Bar(one.name, one.total, _length(one.total, most), one.receipts, path)
        for one, path in zip(sums, paths, strict=True)
    ]


def of_readings(counts: Sequence[tuple[dt.date, int]], period: Period) -> list[Bar]:
    """Return a bar for each day of a period; for each week or month if there are many days."""
    days = (period.last - period.first).days + 1
    if days > _MOST_WEEKS * _WEEK:
        starts = [max(month, period.first) for month in period.months]
    else:
        step = 1 if days <= _MOST_DAYS else _WEEK
        starts = [period.first + place * _DAY for place in range(0, days, step)]
    sums = [0] * len(starts)
    for day, count in counts:
        sums[bisect.bisect_right(starts, day) - 1] += count
    most = Decimal(max(sums))
    return [
        Bar(f"{day:%Y-%m-%d}", count, _length(Decimal(count), most), day=day)
        for day, count in zip(starts, sums, strict=True)
    ]


def are_months(bars: Sequence[Bar]) -> bool:
    """Return whether bars are months, not days or weeks."""
    days = [bar.day for bar in bars if bar.day]
    return len(days) > 1 and (days[-1] - days[0]).days > _WEEK * (len(days) - 1)


def _within(period: Period, month: dt.date) -> Period:
    """Return the part of a month that lies in a period."""
    next_month = (month + 31 * _DAY).replace(day=1)
    return Period(max(month, period.first), min(next_month - _DAY, period.last))


def _receipts_of(period: Period, currency: str, **more: str) -> str:
    """Return the URL of the receipts in the list that a bar sums up."""
    return receipt_lists.of_period(period, currency=currency, **more)


def _length(value: Decimal, most: Decimal) -> float:
    # A bar that is too short to see still shows that there is something.
    return max(1.0, round(float(_FULL * value / most), 1)) if value > 0 else 0.0
