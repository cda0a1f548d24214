"""The team: the members of the org and their roles."""

from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel

from recibo.api import json_body, routers
from recibo.api.deps import MayInvite, MayReadTeam, MayRemoveMembers, MayWriteTeam
from recibo.api.responses import errors_of
from recibo.schemas.invitations import Invitation
from recibo.schemas.members import Member
from recibo.schemas.states import Role
from recibo.services.identity import invitations, members
from recibo.web.services import TheServices

router = routers.make("/v1/org/members", tag="team")


class Invited(BaseModel):
    """The address and role of the invitee."""

    email: str
    role: Role


class NewRole(BaseModel):
    """The new role."""

    role: Role


@router.get("", summary="List the members", responses=errors_of(401, 403, 429, 500))
async def list_members(actor: MayReadTeam, services: TheServices) -> list[Member]:
    """Return the members of the org in the order in which they joined."""
    async with services.database.read() as session:
        return await members.in_join_order(session, actor)


@router.post(
    "",
    summary="Invite a member",
    status_code=201,
    openapi_extra=json_body.documented(Invited),
    responses=errors_of(400, 401, 403, 409, 429, 500),
)
async def invite_member(
    actor: MayInvite,
    services: TheServices,
    body: Annotated[Invited, Depends(json_body.json_body(Invited))],
) -> Invitation:
    """Mail an invitation, which replaces an earlier one to the address; only owners invite owners.

    The invitee becomes a member when the invitation is accepted.
    """
    return await invitations.send(services.identity, actor, email=body.email, role=body.role)


@router.patch(
    "/{user_id}",
    summary="Change a member's role",
    openapi_extra=json_body.documented(NewRole),
    responses=errors_of(400, 401, 403, 404, 429, 500),
)
async def update_member_role(
    user_id: str,
    actor: MayWriteTeam,
    services: TheServices,
    body: Annotated[NewRole, Depends(json_body.json_body(NewRole))],
) -> Member:
    """Change a member's role from the next request on; the last owner cannot be demoted."""
    return await members.change_role(services.database, actor, user_id, role=body.role)


@router.delete(
    "/{user_id}",
    summary="Remove a member",
    status_code=204,
    responses=errors_of(400, 401, 403, 404, 429, 500),
)
async def remove_member(user_id: str, actor: MayRemoveMembers, services: TheServices) -> None:
    """Remove another member; the API keys that the member created in this org are revoked."""
    await members.remove(services.database, actor, user_id)
