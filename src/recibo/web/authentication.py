"""Who sent a request: an API key, or a user with a session in a header or in cookies."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from recibo.errors import AuthenticationFailed, NoSession
from recibo.schemas.actor import ClientInfo, KeyActor, SignedIn
from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import keys, sessions
from recibo.services.identity.sessions import TokenClaims
from recibo.web import csrf
from recibo.web.cookies import ACCESS_COOKIE, REFRESH_COOKIE
from recibo.web.services import Services, client_info_of


@dataclass(frozen=True, slots=True)
class RequestUser:
    """What the cookies of a request say about who sent it."""

    visit: ClientInfo
    #: The session of the cookies, live or not; None without one.
    shown: TokenClaims | None
    #: None until all factors were shown.
    user: SignedIn | None

    @property
    def needs_second_factor(self) -> bool:
        """Whether a password or a link was accepted, and a code is still missing."""
        return self.user is None and self.shown is not None and self.shown.is_pending


async def authenticate_key(request: Request, services: Services, secret: str | None) -> KeyActor:
    """Return the API key of a request.

    Raises:
        Unauthorized: there is none, or it is unknown, revoked or expired.
    """
    identity = services.identity
    actor = await keys.authenticate(
        services.database, secret, visit=client_info_of(request), plans=identity.plans
    )
    identity.key_uses.note(actor.key_id)
    return actor


async def authenticate_user(request: Request, services: Services, token: str | None) -> SignedIn:
    """Return the user of an access token.

    Raises:
        CrossSiteRequest: a page of another site sent the token as a cookie.
        NoSession: there is no token, or its session ended.
    """
    if "authorization" not in request.headers and ACCESS_COOKIE in request.cookies:
        csrf.refuse_cross_site(request, services.base_url)
    return await _user_of(request, services, token)


async def recognize(
    request: Request,
    services: Services,
    *,
    may_refresh: bool,
    on_refresh: Callable[[TokenResponse], None],
) -> RequestUser:
    """Return who sent a request, by its cookies alone.

    Args:
        request: The request.
        services: What finds the session.
        may_refresh: Whether an expired access token is replaced by means of the refresh token.
        on_refresh: Called with the new tokens as soon as the old ones are used up.
    """
    visit = client_info_of(request)
    token = request.cookies.get(ACCESS_COOKIE)
    shown = sessions.read_access_token(services.identity.keyring, token)
    if shown is None and may_refresh and (tokens := await _refresh(request, services)) is not None:
        on_refresh(tokens)
        token = tokens.access_token
        shown = sessions.read_access_token(services.identity.keyring, token)
    if shown is None:
        return RequestUser(visit, None, None)
    try:
        user = await _user_of(request, services, token)
    except (NoSession, AuthenticationFailed):
        return RequestUser(visit, shown, None)
    return RequestUser(visit, shown, user)


def access_token_of(request: Request) -> str | None:
    """Return the access token of a request: of its Authorization header, else of its cookie.

    The token is empty when the header has another scheme than Bearer.
    """
    header = request.headers.get("authorization")
    if header is None:
        return request.cookies.get(ACCESS_COOKIE)
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def credentials_of(request: Request, services: Services) -> TokenClaims | None:
    """Return the claims of the token that a request to a public route has; None without one.

    A browser whose access token expired still has its refresh token.
    """
    keyring = services.identity.keyring
    shown = sessions.read_access_token(keyring, access_token_of(request))
    if shown is not None or "authorization" in request.headers:
        return shown
    return sessions.read_refresh_token(keyring, request.cookies.get(REFRESH_COOKIE))


async def _user_of(request: Request, services: Services, token: str | None) -> SignedIn:
    identity = services.identity
    return await sessions.authenticate(
        services.database,
        identity.keyring,
        token,
        visit=client_info_of(request),
        plans=identity.plans,
    )


async def _refresh(request: Request, services: Services) -> TokenResponse | None:
    token = request.cookies.get(REFRESH_COOKIE)
    if not token:
        return None
    try:
        return await sessions.refresh(
            services.identity, token, from_cookie=True, visit=client_info_of(request)
        )
    except AuthenticationFailed:
        return None
