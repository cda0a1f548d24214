"""The caller's own account."""

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from recibo.api import bodies
from recibo.api.answers import errors_of
from recibo.api.deps import TheServices, TheUser
from recibo.services.identity import accounts
from recibo.shapes.actor import SignedIn
from recibo.shapes.plans import PlanName
from recibo.shapes.states import Role

router = APIRouter(prefix="/v1/auth", tags=["account"])


class OwnUser(BaseModel):
    """A user, as told to that user."""

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
    """What a user may change of the own account; what is left out stays."""

    name: str | None = Field(default=None, max_length=255)


@router.get("/me", summary="Get the caller", responses=errors_of(401, 429, 500))
async def get_me(user: TheUser) -> Me:
    """Return the user, the session's org and the role in it."""
    return _me(user)


@router.patch(
    "/me",
    summary="Rename the caller",
    openapi_extra=bodies.documented(Renaming),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def rename_me(
    user: TheUser,
    services: TheServices,
    body: Annotated[Renaming, Depends(bodies.of(Renaming))],
) -> Me:
    """Change the caller's name; null takes it away."""
    if "name" not in body.model_fields_set:
        return _me(user)
    return _me(await accounts.rename(services.identity, user, body.name))


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
