"""The pages for the second factor of a sign-in: a code of the app, or a recovery code."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.portal import forms, next_paths, pages, routers
from recibo.portal.pages import Redirect
from recibo.portal.request_user import RECOVERY, SECOND_FACTOR, SIGN_IN, CurrentVisitor
from recibo.portal.sign_in import signed_in
from recibo.services.identity import two_factor
from recibo.services.identity.sessions import TokenClaims
from recibo.services.identity.two_factor import Attempt, Factor
from recibo.web.services import Services, TheServices

router = routers.make()


class Code(BaseModel):
    """A code, with or without spaces."""

    code: str = Field(min_length=1)
    next: str = ""


async def _half_signed_in(request: Request, visitor: CurrentVisitor) -> TokenClaims:
    """Return the pending session; redirect requests without one."""
    wanted = next_paths.of(request.query_params.get("next"))
    if visitor.user is not None:
        raise Redirect(wanted)
    if visitor.shown is None or not visitor.needs_second_factor:
        raise Redirect(next_paths.after(SIGN_IN, wanted))
    return visitor.shown


TheWaiting = Annotated[TokenClaims, Depends(_half_signed_in)]


@router.get(SECOND_FACTOR)
async def show_code(request: Request, _waiting: TheWaiting) -> Response:
    """Show the form for a code of the app."""
    return _form(request, "second_factor.html")


@router.post(SECOND_FACTOR)
async def use_code(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    waiting: TheWaiting,
    form: Annotated[Code, Depends(forms.of(Code, "second_factor.html"))],
) -> Response:
    """Complete the sign-in with a code of the app."""
    code = "".join(form.code.split())
    attempt = Attempt(Factor.TOTP, waiting.user_id, code, visitor.visit, waiting)
    return await _complete(request, services, attempt, form.next)


@router.get(RECOVERY)
async def show_recovery_code(request: Request, _waiting: TheWaiting) -> Response:
    """Show the form for a recovery code."""
    return _form(request, "recovery_code.html")


@router.post(RECOVERY)
async def use_recovery_code(
    request: Request,
    services: TheServices,
    visitor: CurrentVisitor,
    waiting: TheWaiting,
    form: Annotated[Code, Depends(forms.of(Code, "recovery_code.html"))],
) -> Response:
    """Complete the sign-in with a recovery code, which is used up."""
    attempt = Attempt(Factor.RECOVERY_CODE, waiting.user_id, form.code, visitor.visit, waiting)
    return await _complete(request, services, attempt, form.next)


def _form(request: Request, template: str) -> Response:
    return pages.form(request, template, {"next": request.query_params.get("next", "")})


async def _complete(
    request: Request, services: Services, attempt: Attempt, wanted: str
) -> Response:
    tokens = await two_factor.complete(services.identity, attempt)
    path = next_paths.of(wanted)
    # None if the session was completed by another request: then its tokens are valid.
    return pages.see_other(path) if tokens is None else signed_in(request, tokens, path)
