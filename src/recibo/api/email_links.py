"""Email links: request them and use them."""

from typing import Annotated, Literal

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.api import json_body, routers
from recibo.api.deps import (
    TheUser,
    refuse_cross_site,
    refuse_cross_site_cookies,
)
from recibo.api.responses import Ok, OkWithSession, errors_of
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import MailKind
from recibo.services.identity import email_links
from recibo.services.identity.email_links import Proof
from recibo.web.authentication import credentials_of
from recibo.web.cookies import set_session
from recibo.web.services import TheServices, client_info_of

router = routers.make("/v1/auth", tag="email links")

_SETS_COOKIES = [Depends(refuse_cross_site)]
_SETS_NONE = [Depends(refuse_cross_site_cookies)]


class Address(BaseModel):
    """Where to send a link."""

    email: str


class Link(BaseModel):
    """The token of a link."""

    token: str


class Reset(BaseModel):
    """The token of a link, and the password to set."""

    token: str
    new_password: str = Field(min_length=8, max_length=128)


class Verified(BaseModel):
    """Whose address was verified."""

    ok: Literal[True] = True
    email: str
    verified: Literal[True] = True


TheAddress = Annotated[Address, Depends(json_body.json_body(Address))]


@router.post(
    "/magic-link",
    summary="Send a sign-in link",
    status_code=202,
    dependencies=_SETS_NONE,
    openapi_extra=json_body.documented(Address),
    responses=errors_of(400, 403, 429, 500),
)
async def send_magic_link(request: Request, services: TheServices, body: TheAddress) -> Ok:
    """Mail a link that signs in once, within 15 minutes, if there is such an account."""
    kind = MailKind.MAGIC_LINK
    await email_links.request(services.identity, kind, body.email, visit=client_info_of(request))
    return Ok()


@router.post(
    "/magic-link/verify",
    summary="Sign in with a link",
    dependencies=_SETS_COOKIES,
    openapi_extra=json_body.documented(Link),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def sign_in_with_link(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Link, Depends(json_body.json_body(Link))],
) -> TokenResponse:
    """Use up the link's token and begin a session."""
    proof = Proof(body.token, client_info_of(request), credentials_of(request, services))
    tokens = await email_links.sign_in(services.identity, proof)
    set_session(response, tokens, request, services)
    return tokens


# Before the route that would take `resend` as a token.
@router.post(
    "/verify-email/resend",
    summary="Resend the verification link",
    status_code=202,
    responses=errors_of(401, 403, 429, 500),
)
async def resend_verification_email(user: TheUser, services: TheServices) -> Ok:
    """Mail another link, unless the address is verified already or too many were mailed."""
    await email_links.resend_verification(services.identity, user)
    return Ok()


@router.post(
    "/verify-email/{token}",
    summary="Verify an email address",
    dependencies=_SETS_NONE,
    responses=errors_of(400, 403, 429, 500),
)
async def verify_email(token: str, request: Request, services: TheServices) -> Verified:
    """Use up the link's token and mark the address as verified."""
    visit = client_info_of(request)
    return Verified(email=await email_links.verify_email(services.identity, token, visit=visit))


@router.post(
    "/password/forgot",
    summary="Send a password reset link",
    status_code=202,
    dependencies=_SETS_NONE,
    openapi_extra=json_body.documented(Address),
    responses=errors_of(400, 403, 429, 500),
)
async def send_password_reset(request: Request, services: TheServices, body: TheAddress) -> Ok:
    """Mail a link that resets the password, within 60 minutes, if there is such an account."""
    kind = MailKind.PASSWORD_RESET
    await email_links.request(services.identity, kind, body.email, visit=client_info_of(request))
    return Ok()


@router.post(
    "/password/reset",
    summary="Reset the password with a link",
    dependencies=_SETS_COOKIES,
    openapi_extra=json_body.documented(Reset),
    responses=errors_of(400, 401, 403, 429, 500, 503),
)
async def reset_password(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Reset, Depends(json_body.json_body(Reset))],
) -> OkWithSession | Ok:
    """Use up the link's token, set the password and end all other sessions."""
    proof = Proof(body.token, client_info_of(request), credentials_of(request, services))
    tokens = await email_links.reset_password(services.identity, proof, body.new_password)
    if tokens is None:
        return Ok()
    set_session(response, tokens, request, services)
    return OkWithSession.of(tokens)
