"""The caller's own account."""

import datetime as dt
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.api import json_body, routers
from recibo.api.deps import TheUnboundUser, TheUser, refuse_cross_site
from recibo.api.responses import OkWithSession, errors_of, model_answer
from recibo.schemas.actor import SignedIn
from recibo.schemas.plans import PlanName
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import Role
from recibo.services.identity import account
from recibo.web.cookies import set_session
from recibo.web.services import TheServices

router = routers.make("/v1/auth", tag="account")


class OwnUser(BaseModel):
    """A user, with the fields that only the user may see."""

    id: str
    email: str
    name: str | None
    created_at: dt.datetime
    email_verified: bool
    two_factor_enabled: bool


class OwnOrg(BaseModel):
    """The org of the session."""

    id: str
    name: str
    slug: str
    plan: PlanName
    billing_email: str


class Me(BaseModel):
    """Who calls; `org` and `role` are null without a membership."""

    user: OwnUser
    org: OwnOrg | None
    role: Role | None


class Renaming(BaseModel):
    """Changes to the caller's own account; absent fields stay as they are."""

    name: str | None = Field(default=None, max_length=255)


class NewPassword(BaseModel):
    """The new password, and the current one."""

    new_password: str = Field(min_length=8, max_length=128)
    current_password: str | None = None


class Switch(BaseModel):
    """The org to switch to."""

    org_id: str


@router.get("/me", summary="Get the caller", response_model=Me, responses=errors_of(401, 429, 500))
async def get_me(user: TheUser) -> Response:
    """Return the user, the session's org and the role in it."""
    return model_answer(_me(user))


@router.patch(
    "/me",
    summary="Rename the caller",
    openapi_extra=json_body.documented(Renaming),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def update_me(
    user: TheUser,
    services: TheServices,
    body: Annotated[Renaming, Depends(json_body.json_body(Renaming))],
) -> Me:
    """Change the caller's name; null clears it."""
    if "name" not in body.model_fields_set:
        return _me(user)
    return _me(await account.rename(services.identity, user, body.name))


@router.post(
    "/password",
    summary="Change the password",
    dependencies=[Depends(refuse_cross_site)],
    openapi_extra=json_body.documented(NewPassword),
    responses=errors_of(400, 401, 403, 429, 500, 503),
)
async def change_password(
    user: TheUnboundUser,
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[NewPassword, Depends(json_body.json_body(NewPassword))],
) -> OkWithSession:
    """Set a password and end all other sessions."""
    tokens = await account.change_password(
        services.identity, user, body.new_password, body.current_password
    )
    set_session(response, tokens, request, services)
    return OkWithSession.of(tokens)


@router.post(
    "/logout-all",
    summary="End all other sessions",
    dependencies=[Depends(refuse_cross_site)],
    responses=errors_of(401, 403, 429, 500),
)
async def end_other_sessions(
    user: TheUnboundUser, request: Request, response: Response, services: TheServices
) -> OkWithSession:
    """End all other sessions of the caller; the current one continues with a new pair."""
    tokens = await account.end_sessions(services.identity, user)
    set_session(response, tokens, request, services)
    return OkWithSession.of(tokens)


@router.post(
    "/switch-org",
    summary="Switch to another org",
    dependencies=[Depends(refuse_cross_site)],
    openapi_extra=json_body.documented(Switch),
    responses=errors_of(400, 401, 403, 404, 429, 500),
)
async def switch_org(
    user: TheUnboundUser,
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Switch, Depends(json_body.json_body(Switch))],
) -> TokenResponse:
    """Begin a session in another org of the caller."""
    tokens = await account.switch_org(services.identity, user, body.org_id)
    set_session(response, tokens, request, services)
    return tokens


def _me(user: SignedIn) -> Me:
    return Me(
        user=OwnUser(
            id=user.user_id,
            email=user.email,
            name=user.full_name,
            created_at=user.created_at,
            email_verified=user.is_email_verified,
            two_factor_enabled=user.has_second_factor,
        ),
        org=OwnOrg.model_validate(user.org, from_attributes=True) if user.org else None,
        role=user.role,
    )
