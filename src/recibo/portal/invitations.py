"""The page that accepts an invitation."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.portal import forms, names, next_paths, pages, routers, service_messages
from recibo.portal.account import SET_PASSWORD
from recibo.portal.forms import Trimmed
from recibo.portal.request_user import CurrentVisitor
from recibo.portal.sign_in import signed_in
from recibo.services.identity import invitations
from recibo.services.identity.email_links import Proof
from recibo.web.services import TheServices

router = routers.make()

_ACCEPT = "/portal/accept-invite"
_TEMPLATE = "accept_invite.html"


class Acceptance(BaseModel):
    """The token of an invitation, sent by the button or pasted from the email."""

    token: Trimmed = Field(min_length=1)
    next: str = ""


@router.get(_ACCEPT)
async def show_invitation(request: Request, services: TheServices) -> Response:
    """Show the invitation and a button; only the button accepts it."""
    linked = forms.linked(request, _TEMPLATE)
    if not linked:
        return pages.form(request, _TEMPLATE)
    async with services.database.read() as session:
        offer = await invitations.offer(session, linked["token"])
    role = names.role(offer.role, viewers_write=offer.viewers_write)
    values = {"org": offer.org_name, "role": role, "email": offer.email}
    return pages.form(
        request,
        _TEMPLATE,
        {**linked, **values, "inviter": service_messages.sentence(offer.inviter)},
    )


@router.post(_ACCEPT)
async def accept(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Acceptance, Depends(forms.of(Acceptance, _TEMPLATE))],
) -> Response:
    """Join the org and start a session in it; a new user may set a password next."""
    proof = Proof(form.token, visitor.visit, visitor.shown)
    tokens = await invitations.accept(services.identity, proof, visitor.user)
    wanted = next_paths.of(form.next)
    # The page for a first password redirects users who have one.
    after = wanted if tokens.two_factor_required else next_paths.after(SET_PASSWORD, wanted)
    return signed_in(request, tokens, after)
