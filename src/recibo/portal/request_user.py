"""The user of a page: anonymous, waiting for the second factor, or signed in."""

import contextlib
from typing import Annotated

from fastapi import Depends, Request

from recibo.portal import headers, next_paths, pages
from recibo.portal.pages import Redirect
from recibo.schemas.actor import SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import ReviewStatus
from recibo.services.identity import orgs, sessions
from recibo.services.reading import receipt_lists, usage
from recibo.services.reading.receipt_lists import Filters
from recibo.web import authentication, rate_limits
from recibo.web.authentication import RequestUser
from recibo.web.services import Services, TheServices

SIGN_IN = "/portal/sign-in"
SECOND_FACTOR = "/portal/second-factor"
RECOVERY = "/portal/second-factor/recovery"
_TO_REVIEW = Filters(review=ReviewStatus.NEEDS_REVIEW)


async def request_user_of(request: Request, services: TheServices) -> RequestUser:
    """Return who sent a request; an expired access token is replaced on the way.

    The request is counted for its address.

    Raises:
        RateLimitExceeded: there are too many requests of the address.
    """
    visitor = await _recognized(request, services, may_refresh=True)
    await rate_limits.count(request, visitor.user.plan if visitor.user else None)
    return visitor


async def note_viewer(request: Request, services: Services, *, may_refresh: bool) -> None:
    """Find out who is signed in, so that the page of an error keeps their navigation."""
    if getattr(request.state, pages.VIEWER, None) is None:
        # Whatever fails here, perhaps the database as before, the page is shown without it.
        with contextlib.suppress(Exception):
            await _recognized(request, services, may_refresh=may_refresh)


async def _recognized(request: Request, services: Services, *, may_refresh: bool) -> RequestUser:
    visitor = await authentication.recognize(
        request,
        services,
        may_refresh=may_refresh,
        on_refresh=lambda tokens: begin(request, tokens),
    )
    if visitor.user is not None:
        setattr(request.state, pages.VIEWER, visitor.user)
    return visitor


CurrentVisitor = Annotated[RequestUser, Depends(request_user_of)]


async def _signed_in(request: Request, visitor: CurrentVisitor, services: TheServices) -> SignedIn:
    if visitor.user is not None:
        await _note_figures(request, visitor.user, services)
        return visitor.user
    page = SECOND_FACTOR if visitor.needs_second_factor else SIGN_IN
    raise Redirect(next_paths.after(page, next_paths.wanted(request)))


async def _note_figures(request: Request, user: SignedIn, services: Services) -> None:
    """Read what the frame shows: the orgs, the use of the quota, how many receipts to review.

    What needs no session is not read within one, or each page would need two connections.
    """
    member = user.member
    joined = await orgs.of_user(services.database, user.user_id)
    async with services.database.read() as session:
        if len(joined) > 1 and await sessions.is_bound(session, user):
            joined = [one for one in joined if user.org and one.id == user.org.id]
        setattr(request.state, pages.ORGS, joined)
        if member is None or not member.may(Permission.RECEIPTS_READ):
            return
        count = await receipt_lists.count(session, member, _TO_REVIEW, most=pages.MOST_COUNTED)
        setattr(request.state, pages.TO_REVIEW, count)
    setattr(request.state, pages.QUOTA, await usage.quota(services.database, member))


TheUser = Annotated[SignedIn, Depends(_signed_in)]


def begin(request: Request, tokens: TokenResponse) -> None:
    """Set the session's cookies on the answer."""
    setattr(request.state, headers.SESSION, tokens)


def end(request: Request) -> None:
    """Clear the session's cookies on the answer."""
    setattr(request.state, headers.SESSION, None)
