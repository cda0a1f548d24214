"""Analytics: readings by day as a small chart, receipts by category and by merchant."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Response

from recibo.errors import ValidationFailed
from recibo.lib import clock
from recibo.portal import pages, request_context, routers
from recibo.portal.request_context import RequestContext
from recibo.schemas.analytics import UsageOfDay
from recibo.schemas.permissions import Permission
from recibo.services.reading import analytics, usage

router = routers.make("/portal/analytics")

_SPANS = (7, 30, 90, 365)
_SPAN = 30
_VENDORS = 20
# The size of the chart in its own units; browsers scale it.
_HEIGHT = 100
_PITCH = 10
_GAP = 2
_DAY = dt.timedelta(days=1)

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.ANALYTICS_READ))]


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar of one day in the chart."""

    day: dt.date
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars side by side, drawn by the template."""

    bars: Sequence[Bar]
    most: int
    total: int

    @property
    def width(self) -> int:
        """The width of the chart."""
        return len(self.bars) * _PITCH

    @property
    def bar_width(self) -> int:
        """The width of a bar."""
        return _PITCH - _GAP

    @property
    def view_box(self) -> str:
        """The `viewBox` of the SVG."""
        return f"0 0 {self.width} {_HEIGHT}"


@router.get("")
async def show_analytics(caller: Reader) -> Response:
    """Show readings by day, categories and top merchants."""
    days = _span(caller.request.query_params.get("days"))
    member = caller.member
    async with caller.services.database.read() as session:
        series = await analytics.usage(session, member, days=days)
        categories = await analytics.categories(session, member)
        month = await usage.this_month(session, member)
        vendors = await analytics.top_vendors(session, member, limit=_VENDORS)
    return pages.show(
        caller.request,
        "analytics.html",
        chart=_chart(series, clock.now().date(), days),
        series=list(reversed(series)),
        days=days,
        spans=_SPANS,
        categories=categories,
        vendors=vendors,
        receipts_this_month=month.completed,
    )


def _chart(series: Sequence[UsageOfDay], today: dt.date, days: int) -> Chart:
    """Return a bar for each day up to today; bars of days without readings have height 0."""
    counts = {one.day.date(): one.count for one in series}
    most = max(counts.values(), default=0)
    bars = []
    for place in range(days):
        day = today - (days - 1 - place) * _DAY
        count = counts.get(day, 0)
        height = round(_HEIGHT * count / most, 2) if count else 0.0
        bars.append(Bar(day, count, place * _PITCH, round(_HEIGHT - height, 2), height))
    return Chart(bars, most, sum(counts.values()))


def _span(given: str | None) -> int:
    if given is None:
        return _SPAN
    if given not in {str(span) for span in _SPANS}:
        raise ValidationFailed.of("days", f"is one of {', '.join(str(span) for span in _SPANS)}")
    return int(given)
