"""Links in emails: requesting them, and the pages that they open.

Mail scanners follow every link. So opening a link changes nothing: the page has a button that
sends the token.
"""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.portal import forms, next_paths, pages, routers
from recibo.portal.forms import Trimmed
from recibo.portal.request_user import SIGN_IN, CurrentVisitor, TheUser
from recibo.portal.sign_in import signed_in
from recibo.schemas.states import MailKind
from recibo.services.identity import email_links
from recibo.services.identity.email_links import Proof
from recibo.services.identity.passwords import MAX_LENGTH, MIN_LENGTH
from recibo.web.authentication import RequestUser
from recibo.web.services import Services, TheServices

router = routers.make()

_ACCEPTED = 202


class Address(BaseModel):
    """The address to send a link to."""

    email: Trimmed = Field(min_length=1)
    next: str = ""


class Link(BaseModel):
    """The token of a link, sent by the button or pasted from the email."""

    token: Trimmed = Field(min_length=1)
    next: str = ""


class Reset(Link):
    """The token of a link, and the new password."""

    new_password: str = Field(min_length=MIN_LENGTH, max_length=MAX_LENGTH)


@router.get("/portal/magic-link")
async def show_magic_link(request: Request, _visitor: CurrentVisitor) -> Response:
    """Show the button that signs in."""
    return _of_link(request, "magic_link.html")


@router.post("/portal/magic-link")
async def sign_in_by_link(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Link, Depends(forms.of(Link, "magic_link.html"))],
) -> Response:
    """Consume the link's token and start a session."""
    proof = Proof(form.token, visitor.visit, visitor.shown)
    tokens = await email_links.sign_in(services.identity, proof)
    return signed_in(request, tokens, next_paths.of(form.next))


@router.post("/portal/magic-link/request")
async def send_magic_link(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Address, Depends(forms.of(Address, "sign_in.html"))],
) -> Response:
    """Email a sign-in link, if the account exists."""
    return await _send(request, services, visitor, MailKind.MAGIC_LINK, form)


@router.get("/portal/verify-email")
async def show_verify_email(request: Request, _visitor: CurrentVisitor) -> Response:
    """Show the button that verifies an address."""
    return _of_link(request, "verify_email.html")


@router.post("/portal/verify-email")
async def verify_email(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Link, Depends(forms.of(Link, "verify_email.html"))],
) -> Response:
    """Consume the link's token and mark the address as verified."""
    email = await email_links.verify_email(services.identity, form.token, visit=visitor.visit)
    return pages.show(request, "verified.html", email=email)


@router.post("/portal/verify-email/resend")
async def resend_verification(request: Request, services: TheServices, user: TheUser) -> Response:
    """Email another link, unless the address is already verified."""
    await email_links.resend_verification(services.identity, user)
    return pages.show(
        request, "sent.html", status=_ACCEPTED, email=user.email, is_own=True, back=next_paths.HOME
    )


@router.get("/portal/forgot-password")
async def show_forgot_password(request: Request) -> Response:
    """Show the form for the account's address."""
    wanted = next_paths.of(request.query_params.get("next"))
    return pages.form(request, "forgot_password.html", {"next": wanted})


@router.post("/portal/forgot-password")
async def send_reset_link(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Address, Depends(forms.of(Address, "forgot_password.html"))],
) -> Response:
    """Email a link that resets the password, if the account exists."""
    return await _send(request, services, visitor, MailKind.PASSWORD_RESET, form)


@router.get("/portal/reset-password")
async def show_reset_password(request: Request, services: TheServices) -> Response:
    """Show the form for a new password of the link's account."""
    template = "reset_password.html"
    linked = forms.linked(request, template)
    if not linked:
        return pages.form(request, template)
    async with services.database.read() as session:
        address = await email_links.resets(session, linked["token"])
    return pages.form(request, template, {**linked, "username": address})


@router.post("/portal/reset-password")
async def reset_password(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[Reset, Depends(forms.of(Reset, "reset_password.html"))],
) -> Response:
    """Consume the link's token, set the password and end all sessions but the current one."""
    proof = Proof(form.token, visitor.visit, visitor.shown)
    tokens = await email_links.reset_password(services.identity, proof, form.new_password)
    if tokens is not None:
        return signed_in(request, tokens, next_paths.of(form.next))
    sign_in = next_paths.after(SIGN_IN, next_paths.of(form.next))
    return pages.show(request, "password_set.html", sign_in=sign_in)


def _of_link(request: Request, template: str) -> Response:
    query = request.query_params
    values = {"token": query.get("token", ""), "next": next_paths.of(query.get("next"))}
    return pages.form(request, template, values)


async def _send(
    request: Request, services: Services, visitor: RequestUser, kind: MailKind, form: Address
) -> Response:
    wanted = next_paths.for_mail(form.next)
    await email_links.request(
        services.identity, kind, form.email, visit=visitor.visit, wanted=wanted
    )
    back = next_paths.after(SIGN_IN, next_paths.of(form.next))
    return pages.show(
        request, "sent.html", status=_ACCEPTED, email=form.email, is_own=False, back=back
    )
