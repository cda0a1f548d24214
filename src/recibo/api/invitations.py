"""Invitations to the org, and accepting one."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from recibo.api import json_body, routers
from recibo.api.deps import MayInvite, MayReadTeam, refuse_cross_site
from recibo.api.responses import errors_of
from recibo.schemas.invitations import Invitation
from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import invitations
from recibo.services.identity.email_links import Proof
from recibo.web.authentication import credentials_of
from recibo.web.cookies import set_session
from recibo.web.services import TheServices, client_info_of

router = routers.make("/v1", tag="team")


class Invitations(BaseModel):
    """The invitations that can still be accepted."""

    data: list[Invitation]


class Acceptance(BaseModel):
    """The token of the invitation's mail."""

    token: str


@router.get(
    "/org/invitations",
    summary="List the pending invitations",
    responses=errors_of(401, 403, 429, 500),
)
async def list_invitations(actor: MayReadTeam, services: TheServices) -> Invitations:
    """Return the invitations that can still be accepted, newest first."""
    async with services.database.read() as session:
        return Invitations(data=await invitations.pending(session, actor))


@router.delete(
    "/org/invitations/{invitation_id}",
    summary="Withdraw an invitation",
    status_code=204,
    responses=errors_of(401, 403, 404, 429, 500),
)
async def revoke_invitation(invitation_id: str, actor: MayInvite, services: TheServices) -> None:
    """Withdraw an invitation; only owners may withdraw one for an owner."""
    await invitations.revoke(services.database, actor, invitation_id)


@router.post(
    "/auth/accept-invite",
    summary="Accept an invitation",
    tags=["sessions"],
    dependencies=[Depends(refuse_cross_site)],
    openapi_extra=json_body.documented(Acceptance),
    responses=errors_of(400, 401, 403, 429, 500),
)
async def accept_invitation(
    request: Request,
    response: Response,
    services: TheServices,
    body: Annotated[Acceptance, Depends(json_body.json_body(Acceptance))],
) -> TokenResponse:
    """Use up the invitation's token, join its org and begin a session there."""
    proof = Proof(body.token, client_info_of(request), credentials_of(request, services))
    tokens = await invitations.accept(services.identity, proof)
    set_session(response, tokens, request, services)
    return tokens
