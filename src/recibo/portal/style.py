"""The style page: every component of the pages, in development only."""

import datetime as dt
from decimal import Decimal

from fastapi import Request, Response

from recibo.errors import NotFound
from recibo.lib import clock
from recibo.portal import first_steps, pages, routers, user_agents
from recibo.portal.bars import Bar
from recibo.portal.error_messages import ErrorMessage
from recibo.portal.receipt_history import Step
from recibo.portal.receipt_lists import Listed
from recibo.portal.request_user import CurrentVisitor
from recibo.portal.review_checks import Ledger
from recibo.portal.translations import lazy_gettext
from recibo.schemas.states import SignInMethod
from recibo.services.identity.devices import DeviceSession
from recibo.services.reading.receipt_lists import ReceiptPage
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
_GAP = Ledger(lazy_gettext("Items"), Decimal("40.47"), "total", Decimal("41.37"), "EUR")
_FILTERED = Listed(ReceiptPage([], None), {}, {"category": "fuel"}, {})
_FIRST_STEPS = (
    first_steps.Step(
        lazy_gettext("Confirm your email address"), lazy_gettext("Done"), is_done=True
    ),
    first_steps.Step(
        lazy_gettext("Upload a receipt"),
        lazy_gettext("A photo, a scan or a PDF. The results appear after a few seconds."),
        path="/portal/style",
        label=lazy_gettext("Upload"),
    ),
)


@router.get("")
async def show_style(request: Request, services: TheServices, _visitor: CurrentVisitor) -> Response:
    """Show every component; the page does not exist in production."""
    if services.is_production:
        raise NotFound
    now = clock.now()
    today = now.date()
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
        gap=_GAP,
        listed=_FILTERED,
        steps=_history(now),
        sessions=[(one, user_agents.device(one.user_agent)) for one in _sessions(now)],
        first_steps=_FIRST_STEPS,
    )


def _history(now: dt.datetime) -> list[Step]:
    changes = (("total", "47.37", "41.37"), ("merchant_name", None, "Mercearia Boa Vista"))
    return [
        Step("Ana Moreira", "approved", now),
        Step("rui@people.test", "corrected", now - dt.timedelta(hours=3), changes),
    ]


def _sessions(now: dt.datetime) -> list[DeviceSession]:
    signed_in = now - dt.timedelta(days=2)
    browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    phone = (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1"
    )
    return [
        DeviceSession(
            f"session-{number}", SignInMethod.PASSWORD, agent, "192.0.2.7", signed_in, now,
            "Acme", number == 0,
        )
        for number, agent in enumerate((browser, phone))
    ]  # fmt: skip
