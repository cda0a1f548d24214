"""GET and PATCH /v1/org: the org of the session."""

from typing import Annotated, NoReturn, cast

from fastapi import Depends, Response
from pydantic import BaseModel, BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from recibo.api import json_body, routers
from recibo.api.deps import MayWriteOrg, OrgReader
from recibo.api.responses import errors_of, model_answer
from recibo.errors import NotFound
from recibo.schemas.orgs import Org
from recibo.services.identity import orgs
from recibo.web.services import TheServices

router = routers.make("/v1/org", tag="org")


def _refused(_: object) -> NoReturn:
    message = "cannot be changed here"
    raise ValueError(message)


_Fixed = SkipJsonSchema[Annotated[None, BeforeValidator(_refused)]]


class OrgChanges(BaseModel):
    """Changes to an org; absent fields stay as they are."""

    name: str = Field(default_factory=str, min_length=1, max_length=255)
    logo_url: str | None = Field(default=None, max_length=500, description="`null` clears it.")
    billing_email: str = Field(default_factory=str)
    # Other unknown fields are ignored; these are refused, as clients may expect them to work.
    slug: _Fixed = None
    plan: _Fixed = None


@router.get(
    "", summary="Get the org", response_model=Org, responses=errors_of(401, 403, 404, 429, 500)
)
async def get_org(user: OrgReader) -> Response:
    """Return the org of the session."""
    if user.org is None:
        raise NotFound
    return model_answer(user.org)


@router.patch(
    "",
    summary="Change the org",
    openapi_extra=json_body.documented(OrgChanges),
    responses=errors_of(400, 401, 403, 404, 429, 500),
)
async def update_org(
    actor: MayWriteOrg,
    services: TheServices,
    body: Annotated[OrgChanges, Depends(json_body.json_body(OrgChanges))],
) -> Org:
    """Change name, logo or billing address; slug and plan cannot be changed here."""
    changes = cast("orgs.Changes", body.model_dump(exclude_unset=True))
    return await orgs.change(services.identity, actor, changes)
