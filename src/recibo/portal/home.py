"""The home page: what to review, what was spent, the use of the quota, and the first steps."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from fastapi import Depends, Request, Response

from recibo.errors import ServiceError
from recibo.lib import clock
from recibo.portal import (
    analytics,
    audit_sentences,
    bars,
    first_steps,
    next_paths,
    pages,
    periods,
    receipt_lists,
    request_context,
    routers,
)
from recibo.portal.analytics import Spending
from recibo.portal.audit_sentences import Known
from recibo.portal.bars import Bar
from recibo.portal.first_steps import Step
from recibo.portal.receipt_lists import ReceiptSearch, Tab
from recibo.portal.request_context import RequestContext
from recibo.portal.request_user import TheUser
from recibo.portal.translations import gettext as _
from recibo.schemas.actor import Member, SignedIn
from recibo.schemas.audit import AuditEvent
from recibo.schemas.permissions import Permission
from recibo.schemas.receipts import Receipt
from recibo.schemas.states import ResourceType
from recibo.services import audit
from recibo.services.identity import keys
from recibo.services.identity.keys import Issued
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists as lists
from recibo.services.reading import spend, usage
from recibo.services.reading.receipt_lists import Filters
from recibo.store.db import ReadSession
from recibo.web.services import Services, TheServices

router = routers.make()

_OLDEST = 6
_RECENT, _LOOKED_AT = 5, 50
_NEWEST = Filters()

KeyMaker = Annotated[RequestContext, Depends(request_context.context_with(Permission.KEYS_WRITE))]
Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_READ))]


@dataclass(frozen=True, slots=True)
class Overview:
    """What the role may see of the org's receipts."""

    has_receipts: bool
    #: The oldest receipts to review.
    to_review: Sequence[Receipt] = ()
    #: How many receipts are on each tab of the inbox, at most a hundred, with its URL.
    tabs: Sequence[tuple[Tab, int, str]] = ()
    #: None if the role may not see analytics.
    spent: Spending | None = None
    months: Sequence[Bar] = ()
    categories: Sequence[Bar] = ()
    #: The newest entries of the audit log, if the role may read it, and what they name.
    activity: Sequence[AuditEvent] = ()
    known: Known | None = None
    #: The checklist; empty once all is done or hidden.
    steps: Sequence[Step] = field(default_factory=list)

    @property
    def month(self) -> Bar:
        """The current month; the last one with receipts if the months are past."""
        with_receipts = [bar for bar in self.months if bar.receipts]
        return self.months[-1] if self.months[-1].is_current else with_receipts[-1]

    @property
    def counts(self) -> Mapping[str, int]:
        """The numbers of receipts by the icon of their tab."""
        return {tab.mark: count for tab, count, _path in self.tabs}


@router.get("/portal")
async def home(request: Request, user: TheUser, services: TheServices) -> Response:
    """Show what to do next, and the figures of the year."""
    return await _shown(request, user, services)


@router.post(first_steps.CREATE_KEY)
async def create_first_key(caller: KeyMaker) -> Response:
    """Create a key and show it in the command of a first request, in this response only."""
    try:
        async with caller.services.database.write() as session:
            wanted = first_steps.new_key(_("First key"))
            issued = await keys.issue(session, caller.member, wanted)
    except ServiceError as e:
        return await _shown(caller.request, caller.user, caller.services, error=e)
    return await _shown(caller.request, caller.user, caller.services, issued=issued)


@router.post(first_steps.HIDE)
async def hide_first_steps(caller: Reader) -> Response:
    """Hide the checklist in this browser."""
    answer = pages.see_other(next_paths.HOME)
    first_steps.hide(answer, caller.request, caller.member, caller.services)
    return answer


async def _shown(
    request: Request,
    user: SignedIn,
    services: Services,
    *,
    issued: Issued | None = None,
    error: ServiceError | None = None,
) -> Response:
    member, today = user.member, clock.now().date()
    overview = None
    if member is not None and member.may(Permission.RECEIPTS_READ):
        overview = await _overview(request, user, member, services)
    return pages.section(
        request,
        "home.html",
        values={},
        error=error,
        user=user,
        overview=overview,
        issued=issued,
        base=services.base_url or str(request.base_url).rstrip("/"),
        sentence=audit_sentences.sentence,
        today=today,
        renews_at=usage.month_end(clock.now()),
        may_write=member is not None and member.may(Permission.RECEIPTS_WRITE),
    )


async def _overview(
    request: Request, user: SignedIn, member: Member, services: Services
) -> Overview:
    """Return all that the page shows; the spend, which takes longest, is summed meanwhile."""
    spent, overview = await asyncio.gather(
        _spent(request, member, services), _without_spend(request, user, member, services)
    )
    if spent is None or spent.shown is None or not overview.has_receipts:
        return overview
    period = spent.chosen.period
    return replace(
        overview,
        spent=spent,
        months=bars.of_months(spent.shown, period, clock.now().date()),
        categories=bars.of_categories(spent.shown, period),
    )


async def _without_spend(
    request: Request, user: SignedIn, member: Member, services: Services
) -> Overview:
    async with services.database.read() as session:
        has_receipts = bool(await lists.count(session, member, _NEWEST, most=1))
        steps: list[Step] = []
        if member.may(Permission.RECEIPTS_WRITE) and not first_steps.are_hidden(request, member):
            found = await first_steps.steps(
                session, user, member, services, has_receipts=has_receipts
            )
            steps = [] if all(step.is_done for step in found) else found
        if not has_receipts:
            return Overview(has_receipts, steps=steps)
        to_review = ReceiptSearch.model_validate(receipt_lists.TO_REVIEW.values).filters
        activity = await _activity(session, member, services)
        return Overview(
            has_receipts,
            to_review=await lists.oldest(session, member, to_review, limit=_OLDEST),
            tabs=[await _counted(session, member, tab) for tab in receipt_lists.TABS if tab.mark],
            activity=activity,
            known=await audit_sentences.known(session, member, activity),
            steps=steps,
        )


async def _activity(
    session: ReadSession, member: Member, services: Services
) -> Sequence[AuditEvent]:
    if not member.may(Permission.AUDIT_READ):
        return ()
    wanted = PageRequest(_LOOKED_AT, None, services.cursor_key)
    found = (await audit.page(session, member, audit.Filters(), wanted=wanted)).items
    # Sign-ins would hide what happened to receipts and members.
    return [one for one in found if one.resource_type != ResourceType.USER][:_RECENT]


async def _counted(session: ReadSession, member: Member, tab: Tab) -> tuple[Tab, int, str]:
    filters = ReceiptSearch.model_validate(tab.values).filters
    count = await lists.count(session, member, filters, most=pages.MOST_COUNTED)
    return tab, count, receipt_lists.address(tab.values)


async def _spent(request: Request, member: Member, services: Services) -> Spending | None:
    if not member.may(Permission.ANALYTICS_READ):
        return None
    chosen = periods.default(clock.now().date())
    async with services.database.read() as session:
        found = await spend.by_currency(session, member, chosen.period)
        newest = () if found else await spend.newest_months(session, member, most=1)
        for month in newest:
            # Old receipts only: their last year says more than an empty chart.
            chosen = periods.dates(periods.year_of(month))
            found = await spend.by_currency(session, member, chosen.period)
    return analytics.spending(chosen, found, request.query_params.get("currency"))
