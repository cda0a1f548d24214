"""Sign up, sign in by password, refresh and sign out."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.api import json_body, routers
from recibo.api.deps import refuse_cross_site
from recibo.api.responses import Ok, errors_of
from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import password_auth, sessions
from recibo.web.cookies import REFRESH_COOKIE, clear_session, set_session
from recibo.web.services import TheServices, client_info_of


async def _require_open_signup(services: TheServices) -> None:
    services.identity.require_open_signup()


router = routers.make("/v1/auth", tag="sessions", guards=[refuse_cross_site])


class Signup(BaseModel):
    """The new user and org."""

    email: str
    password: str = Field(min_length=8, max_length=128)
    full_name: str | None = Field(default=None, max_length=255)
    org_name: str = Field(min_length=1, max_length=255)


class Login(BaseModel):
    """An address and its password."""

    email: str
    password: str


class Refresh(BaseModel):
    """The refresh token, if it is not sent as a cookie."""

    refresh_token: str | None = None


@router.post(
    "/signup",
    summary="Sign up",
    status_code=201,
    # Checked before the body is read.
    dependencies=[Depends(_require_open_signup)],
    openapi_extra=json_body.documented(Signup),
    responses=errors_of(400, 403, 409, 429, 500, 503),
)
async def sign_up(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Signup, Depends(json_body.json_body(Signup))],
) -> TokenResponse:
    """Create a user and an org owned by that user, mail a verify-email link, begin a session."""
    tokens = await password_auth.sign_up(
        services.identity,
        password_auth.Signup(body.email, body.password, body.full_name, body.org_name),
        visit=client_info_of(request),
    )
    set_session(response, tokens, request, services)
    return tokens


@router.post(
    "/login",
    summary="Sign in by password",
    openapi_extra=json_body.documented(Login),
    responses=errors_of(400, 401, 403, 429, 500, 503),
)
async def log_in(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Login, Depends(json_body.json_body(Login))],
) -> TokenResponse:
    """Begin a session; with two-factor authentication, the pair works after the code is sent."""
    tokens = await password_auth.sign_in(
        services.identity, email=body.email, password=body.password, visit=client_info_of(request)
    )
    set_session(response, tokens, request, services)
    return tokens


@router.post(
    "/refresh",
    summary="Refresh a session",
    openapi_extra=json_body.documented(Refresh, required=False),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def refresh_session(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Refresh, Depends(json_body.optional_json_body(Refresh))],
) -> TokenResponse:
    """Use up the refresh token, of the body or else of the cookie, and return the next pair."""
    is_from_cookie = body.refresh_token is None
    token = request.cookies.get(REFRESH_COOKIE) if is_from_cookie else body.refresh_token
    tokens = await sessions.refresh(
        services.identity, token, from_cookie=is_from_cookie, visit=client_info_of(request)
    )
    set_session(response, tokens, request, services)
    return tokens


@router.post("/logout", summary="Sign out", responses=errors_of(403, 429, 500))
async def log_out(request: Request, response: Response, services: TheServices) -> Ok:
    """Clear both cookies; the tokens themselves stay valid until they expire."""
    clear_session(response, request, services)
    return Ok()
