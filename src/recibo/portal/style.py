"""The style page: every component of the pages, in development only."""

import datetime as dt
from decimal import Decimal

from fastapi import Request, Response

from recibo.errors import NotFound
from recibo.lib import clock
from recibo.portal import pages, routers
from recibo.portal.bars import Bar
from recibo.portal.error_messages import ErrorMessage
from recibo.portal.request_user import CurrentVisitor
from recibo.web.services import TheServices

router = routers.make("/portal/style")

#: The color roles of `static/css/tokens.css` that are shown.
_COLORS = (
    "canvas", "surface", "sunken", "raised", "hover", "press", "line", "line-strong", "line-input",
    "text", "text-2", "text-3", "brand", "brand-text", "brand-soft", "ok-mark", "warn-mark",
    "warn-soft", "bad-mark", "bad-soft", "info-mark", "info-soft", "chart-1", "chart-2",
)  # fmt: skip
_COUNTS = (3, 8, 0, 12, 21, 17, 4, 9, 30, 26, 14, 22)
_REFUSAL = ErrorMessage(fields={"amount": "must be an amount, such as 41.37"})


@router.get("")
async def show_style(request: Request, services: TheServices, _visitor: CurrentVisitor) -> Response:
    """Show every component; the page does not exist in production."""
    if services.is_production:
        raise NotFound
    today = clock.now().date()
    days = [today - dt.timedelta(days=ago) for ago in range(len(_COUNTS) - 1, -1, -1)]
    most = max(_COUNTS)
    return pages.show(
        request,
        "style.html",
        colors=_COLORS,
        refusal=ErrorMessage(),
        wrong=_REFUSAL,
        columns=[
            Bar(f"{day}", count, 100 * count / most, day=day, is_current=day == today)
            for day, count in zip(days, _COUNTS, strict=True)
        ],
        categories=[
            Bar(name, Decimal(total), total / 34)
            for name, total in (("groceries", 3400), ("fuel", 2300), ("lodging", 1600))
        ],
    )
