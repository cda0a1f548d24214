"""The pages to sign in by password, sign up and sign out."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.portal import forms, next_paths, pages, request_user, routers
from recibo.portal.forms import Trimmed
from recibo.portal.request_user import SECOND_FACTOR, SIGN_IN, CurrentVisitor
from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import devices, password_auth
from recibo.services.identity.passwords import MAX_LENGTH, MIN_LENGTH
from recibo.web.authentication import RequestUser
from recibo.web.services import TheServices

router = routers.make()

_SIGN_UP = "/portal/sign-up"


async def _require_open_signup(services: TheServices) -> None:
    services.identity.require_open_signup()


class SignIn(BaseModel):
    """An address and its password."""

    email: Trimmed = Field(min_length=1)
    password: str = Field(min_length=1)
    next: str = ""


class SignUp(BaseModel):
    """The new user and organization."""

    email: Trimmed = Field(min_length=1)
    password: str = Field(min_length=MIN_LENGTH, max_length=MAX_LENGTH)
    full_name: Trimmed = Field(default="", max_length=255)
    org_name: Trimmed = Field(min_length=1, max_length=255)
    next: str = ""


@router.get(SIGN_IN)
async def show_sign_in(request: Request, visitor: CurrentVisitor) -> Response:
    """Show the form; redirect signed-in users."""
    return _unless_signed_in(request, visitor, "sign_in.html")


@router.post(SIGN_IN)
async def sign_in(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[SignIn, Depends(forms.of(SignIn, "sign_in.html"))],
) -> Response:
    """Start a session, and ask for the second factor if the user has one."""
    tokens = await password_auth.sign_in(
        services.identity, email=form.email, password=form.password, visit=visitor.visit
    )
    return signed_in(request, tokens, next_paths.of(form.next))


@router.get(_SIGN_UP)
async def show_sign_up(request: Request, visitor: CurrentVisitor) -> Response:
    """Show the form; redirect signed-in users."""
    return _unless_signed_in(request, visitor, "sign_up.html")


@router.post(_SIGN_UP, dependencies=[Depends(_require_open_signup)])
async def sign_up(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    form: Annotated[SignUp, Depends(forms.of(SignUp, "sign_up.html"))],
) -> Response:
    """Create a user and an org, and start a session."""
    wanted = password_auth.Signup(form.email, form.password, form.full_name or None, form.org_name)
    tokens = await password_auth.sign_up(services.identity, wanted, visit=visitor.visit)
    return signed_in(request, tokens, next_paths.of(form.next))


@router.post("/portal/sign-out")
async def sign_out(request: Request, services: TheServices, visitor: CurrentVisitor) -> Response:
    """End the session and remove it from this browser."""
    if visitor.user is not None:
        await devices.sign_out(services.identity, visitor.user)
    request_user.end(request)
    return pages.see_other(f"{SIGN_IN}?notice=signed-out")


def signed_in(request: Request, tokens: TokenResponse, wanted: str) -> Response:
    """Start a session and redirect to the wanted page, or to the second factor first."""
    request_user.begin(request, tokens)
    if tokens.two_factor_required:
        return pages.see_other(next_paths.after(SECOND_FACTOR, wanted))
    return pages.see_other(wanted)


def _unless_signed_in(request: Request, visitor: RequestUser, template: str) -> Response:
    wanted = next_paths.of(request.query_params.get("next"))
    if visitor.user is not None:
        return pages.see_other(wanted)
    values = {"next": wanted, "notice": request.query_params.get("notice", "")}
    return pages.form(request, template, values)
