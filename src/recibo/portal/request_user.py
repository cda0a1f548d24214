"""Who looks at a page: nobody yet, somebody half signed in, or a user."""

import contextlib
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from recibo.errors import AuthenticationFailed, NoSession
from recibo.portal import headers, navigation, next_paths, pages, rate_limits
from recibo.portal.pages import Redirect
from recibo.schemas.actor import ClientInfo, SignedIn
from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import sessions
from recibo.services.identity.sessions import TokenClaims
from recibo.web import csrf
from recibo.web.cookies import ACCESS_COOKIE, REFRESH_COOKIE
from recibo.web.services import Services, TheServices, client_info_of

SIGN_IN = "/portal/sign-in"
SECOND_FACTOR = "/portal/second-factor"
RECOVERY = "/portal/second-factor/recovery"


@dataclass(frozen=True, slots=True)
class RequestUser:
    """Whoever sent a request."""

    visit: ClientInfo
    #: The session that the browser shows, live or not; None without one.
    shown: TokenClaims | None
    #: None until all factors were shown.
    user: SignedIn | None

    @property
    def owes_second_factor(self) -> bool:
        """Whether a password or a link was right, and a code is to come."""
        return self.user is None and self.shown is not None and self.shown.is_pending


async def refuse_cross_site(request: Request, services: TheServices) -> None:
    """Guard every form: pages of other sites may send none in a visitor's name."""
    csrf.refuse_foreign_page(request, services.base_url)


async def request_user_of(request: Request, services: TheServices) -> RequestUser:
    """Return who sent a request; a session whose access token is over goes on unasked.

    The request is counted for its address.

    Raises:
        RateLimitExceeded: too many requests of the address.
    """
    visitor = await _recognized(request, services, may_renew=True)
    await rate_limits.count(request, visitor.user.plan if visitor.user else None)
    return visitor


#: Counts what asks for no visitor.
count_strangers = rate_limits.counting_strangers(request_user_of)


async def note_viewer(request: Request, services: Services, *, may_renew: bool) -> None:
    """Find out for an error's page who is signed in, so that it keeps their navigation."""
    if getattr(request.state, pages.VIEWER, None) is None:
        # Whatever fails here (the database may be what failed before): the page is shown without.
        with contextlib.suppress(Exception):
            await _recognized(request, services, may_renew=may_renew)


async def _recognized(request: Request, services: Services, *, may_renew: bool) -> RequestUser:
    identity = services.identity
    keyring = identity.keyring
    visit = client_info_of(request)
    token = request.cookies.get(ACCESS_COOKIE)
    shown = sessions.read_access_token(keyring, token)
    if shown is None and may_renew and (tokens := await _refreshed(request, services)) is not None:
        token = tokens.access_token
        shown = sessions.read_access_token(keyring, token)
    if shown is None:
        return RequestUser(visit, None, None)
    try:
        user = await sessions.authenticate(
            services.database, keyring, token, visit=visit, plans=identity.plans
        )
    except (NoSession, AuthenticationFailed):
        return RequestUser(visit, shown, None)
    setattr(request.state, pages.VIEWER, user)
    return RequestUser(visit, shown, user)


CurrentVisitor = Annotated[RequestUser, Depends(request_user_of)]


async def _signed_in(request: Request, visitor: CurrentVisitor) -> SignedIn:
    if visitor.user is not None:
        return visitor.user
    page = SECOND_FACTOR if visitor.owes_second_factor else SIGN_IN
    raise Redirect(next_paths.after(page, _wanted(request)))


TheUser = Annotated[SignedIn, Depends(_signed_in)]


def begin(request: Request, tokens: TokenResponse) -> None:
    """Hand a session to the browser with the answer."""
    setattr(request.state, headers.SESSION, tokens)


def end(request: Request) -> None:
    """Take the session from the browser with the answer."""
    setattr(request.state, headers.SESSION, None)


def _wanted(request: Request) -> str:
    """Return the page that was asked for; for a form, the section that it belongs to."""
    if request.method != "GET":
        return navigation.path_of(request.url.path) or next_paths.HOME
    query = f"?{request.url.query}" if request.url.query else ""
    return next_paths.of(request.url.path + query)


async def _refreshed(request: Request, services: Services) -> TokenResponse | None:
    token = request.cookies.get(REFRESH_COOKIE)
    if not token:
        return None
    try:
        tokens = await sessions.refresh(services.identity, token, from_cookie=True)
    except AuthenticationFailed:
        return None
    begin(request, tokens)
    return tokens
