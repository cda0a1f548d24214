"""Two-factor authentication: set up, sign in, disable."""

from typing import Annotated, Literal

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.api import json_body, routers
from recibo.api.deps import TheUnboundUser, TheUser, refuse_cross_site
from recibo.api.responses import Ok, OkWithSession, errors_of
from recibo.services.identity import two_factor, two_factor_setup
from recibo.services.identity.two_factor import Attempt, Factor
from recibo.web.authentication import credentials_of
from recibo.web.cookies import set_session
from recibo.web.services import Services, TheServices, client_info_of

router = routers.make("/v1/auth/2fa", tag="two-factor authentication")

_SETS_COOKIES = [Depends(refuse_cross_site)]
# No cache may store secrets that are shown once.
_NO_STORE = {"Cache-Control": "no-store"}


class Enrolled(BaseModel):
    """A secret for an authenticator app; it is not active yet."""

    secret: str = Field(description="In base32.")
    provisioning_uri: str = Field(examples=["otpauth://totp/Recibo:ana%40example.com?secret=..."])
    qr_png_base64: str = Field(description="A QR code of the URI.")


class FirstCode(BaseModel):
    """The first code of the app."""

    code: str = Field(pattern=r"^[0-9]{6,8}$", examples=["287082"])


class Enabled(BaseModel):
    """Two-factor authentication is on; the recovery codes are not shown again."""

    enabled: Literal[True] = True
    recovery_codes: list[str] = Field(min_length=10, max_length=10, examples=[["K7QM-2F9X-WBTD"]])


class Code(BaseModel):
    """A current code of the app."""

    code: str


class CodeOf(BaseModel):
    """A code and its user."""

    user_id: str
    code: str


class RecoveryCodes(BaseModel):
    """How many recovery codes there are; zeros without two-factor authentication."""

    total: int
    unused: int


TheCode = Annotated[CodeOf, Depends(json_body.json_body(CodeOf))]


@router.post(
    "/enroll", summary="Enroll an authenticator app", responses=errors_of(401, 403, 409, 429, 500)
)
async def enroll_two_factor(
    user: TheUnboundUser, response: Response, services: TheServices
) -> Enrolled:
    """Return a secret for an authenticator app; its first code turns it on."""
    response.headers.update(_NO_STORE)
    made = await two_factor_setup.enroll(services.identity, user)
    return Enrolled.model_validate(made, from_attributes=True)


@router.post(
    "/enroll/verify",
    summary="Turn on two-factor authentication",
    openapi_extra=json_body.documented(FirstCode),
    responses=errors_of(400, 401, 403, 409, 429, 500),
)
async def enable_two_factor(
    user: TheUnboundUser,
    response: Response,
    services: TheServices,
    body: Annotated[FirstCode, Depends(json_body.json_body(FirstCode))],
) -> Enabled:
    """Turn on two-factor authentication and return ten recovery codes, once."""
    response.headers.update(_NO_STORE)
    return Enabled(recovery_codes=await two_factor_setup.enable(services.identity, user, body.code))


@router.post(
    "/verify",
    summary="Sign in with a code of the app",
    dependencies=_SETS_COOKIES,
    openapi_extra=json_body.documented(CodeOf),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def verify_two_factor(
    request: Request, response: Response, services: TheServices, body: TheCode
) -> OkWithSession | Ok:
    """Complete the pending session; without one, only check the code."""
    return await _complete(Factor.TOTP, body, request, response, services)


@router.post(
    "/recovery/use",
    summary="Sign in with a recovery code",
    dependencies=_SETS_COOKIES,
    openapi_extra=json_body.documented(CodeOf),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def use_recovery_code(
    request: Request, response: Response, services: TheServices, body: TheCode
) -> OkWithSession | Ok:
    """Use up a recovery code, and complete the pending session if there is one."""
    return await _complete(Factor.RECOVERY_CODE, body, request, response, services)


@router.get("/recovery", summary="Count recovery codes", responses=errors_of(401, 429, 500))
async def count_recovery_codes(user: TheUser, services: TheServices) -> RecoveryCodes:
    """Return how many recovery codes the caller has, and how many are unused."""
    async with services.database.read() as session:
        counted = await two_factor_setup.recovery_codes(session, user)
    return RecoveryCodes.model_validate(counted, from_attributes=True)


@router.post(
    "/disable",
    summary="Turn off two-factor authentication",
    openapi_extra=json_body.documented(Code),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def disable_two_factor(
    user: TheUnboundUser,
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Code, Depends(json_body.json_body(Code))],
) -> OkWithSession:
    """Delete the secret and all recovery codes, and end all other sessions."""
    tokens = await two_factor_setup.disable(services.identity, user, body.code)
    set_session(response, tokens, request, services)
    return OkWithSession.of(tokens)


async def _complete(
    factor: Factor, body: CodeOf, request: Request, response: Response, services: Services
) -> OkWithSession | Ok:
    shown = credentials_of(request, services)
    attempt = Attempt(factor, body.user_id, body.code, client_info_of(request), shown)
    tokens = await two_factor.complete(services.identity, attempt)
    if tokens is None:
        return Ok()
    set_session(response, tokens, request, services)
    return OkWithSession.of(tokens)
