"""The page of the user's account: name, password, two-factor authentication, sessions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from recibo.errors import (
    AuthenticationFailed,
    Conflict,
    NotFound,
    RateLimitExceeded,
    ServiceError,
    ValidationFailed,
)
from recibo.lib import totp
from recibo.portal import forms, pages, request_user, routers, user_agents
from recibo.portal.forms import Trimmed
from recibo.portal.request_user import TheUser
from recibo.portal.translations import gettext_noop, lazy_gettext
from recibo.schemas.actor import SignedIn
from recibo.services.identity import account, devices, two_factor_setup
from recibo.services.identity.two_factor_setup import Enrolment
from recibo.web.services import Services, TheServices

router = routers.make("/portal/security")

_PAGE = "/portal/security"
_NOTICES = {
    "named": lazy_gettext("Your name is saved."),
    "password": lazy_gettext(
        "Your password is set. All other sessions of your account have ended."
    ),
    "device": lazy_gettext("That device is signed out."),
    "ended": lazy_gettext("All other sessions of your account have ended."),
    "disabled": lazy_gettext(
        "Two-factor authentication is off. All other sessions of your account have ended."
    ),
}
_SAID = (AuthenticationFailed, Conflict, RateLimitExceeded, ValidationFailed)


@dataclass(frozen=True, slots=True)
class Owner:
    """The user who requests the page."""

    request: Request
    user: SignedIn
    services: Services


async def _owner(request: Request, user: TheUser, services: TheServices) -> Owner:
    return Owner(request, user, services)


TheOwner = Annotated[Owner, Depends(_owner)]


class NameForm(BaseModel):
    """The user's name; an empty name removes it."""

    name: Trimmed = ""


class PasswordForm(BaseModel):
    """The new and the current password."""

    new_password: str = ""
    current_password: str = ""


class CodeForm(BaseModel):
    """A code of the app, with or without spaces."""

    code: str = ""

    @property
    def bare(self) -> str:
        """The code without spaces."""
        return "".join(self.code.split())


TheCode = Annotated[CodeForm, Depends(forms.plain(CodeForm))]


@router.get("")
async def show_security(owner: TheOwner) -> Response:
    """Show the security settings and their forms."""
    return await _shown(owner)


@router.post("/name")
async def rename(
    owner: TheOwner, form: Annotated[NameForm, Depends(forms.plain(NameForm))]
) -> Response:
    """Change the user's name."""
    try:
        await account.rename(owner.services.identity, owner.user, form.name or None)
    except _SAID as e:
        return await _shown(owner, error=e, values=form.model_dump())
    return _done("named")


@router.post("/password")
async def change_password(
    owner: TheOwner, form: Annotated[PasswordForm, Depends(forms.plain(PasswordForm))]
) -> Response:
    """Set a password and end all other sessions."""
    try:
        tokens = await account.change_password(
            owner.services.identity, owner.user, form.new_password, form.current_password or None
        )
    except _SAID as e:
        # Never render passwords again.
        return await _shown(owner, error=e, values=dict.fromkeys(PasswordForm.model_fields, ""))
    request_user.begin(owner.request, tokens)
    return _done("password")


@router.post("/sessions/{session_id}/end")
async def end_session(owner: TheOwner, session_id: str) -> Response:
    """Sign one other device out."""
    try:
        await devices.end(owner.services.identity, owner.user, session_id)
    except NotFound as e:
        return await _shown(owner, error=e)
    return _done("device")


@router.post("/end-sessions")
async def end_sessions(owner: TheOwner) -> Response:
    """End all sessions except this one, which gets new tokens."""
    tokens = await account.end_sessions(owner.services.identity, owner.user)
    request_user.begin(owner.request, tokens)
    return _done("ended")


@router.post("/two-factor/enroll")
async def enroll(owner: TheOwner) -> Response:
    """Show the secret for an authenticator app, in this response only."""
    try:
        made = await two_factor_setup.enroll(owner.services.identity, owner.user)
    except _SAID as e:
        return await _shown(owner, error=e)
    return _enrolling(owner, made)


@router.post("/two-factor/confirm")
async def confirm(owner: TheOwner, form: TheCode) -> Response:
    """Turn two-factor authentication on with a first code, and show the recovery codes once."""
    identity = owner.services.identity
    try:
        codes = await two_factor_setup.enable(identity, owner.user, form.bare)
    except _SAID as e:
        async with owner.services.database.read() as session:
            made = await two_factor_setup.tentative(session, identity, owner.user)
        if made is None:
            never_begun = ValidationFailed(
                gettext_noop(
                    "Setting up two-factor authentication was not started or has ended. Start over."
                )
            )
            return await _shown(owner, error=never_begun if isinstance(e, ValidationFailed) else e)
        return _enrolling(owner, made, error=e)
    return pages.show(owner.request, "recovery_codes.html", codes=codes)


@router.post("/two-factor/disable")
async def disable(owner: TheOwner, form: TheCode) -> Response:
    """Turn two-factor authentication off, and end all other sessions."""
    try:
        tokens = await two_factor_setup.disable(owner.services.identity, owner.user, form.bare)
    except _SAID as e:
        return await _shown(owner, error=e, values={"code": ""})
    request_user.begin(owner.request, tokens)
    return _done("disabled")


def _done(notice: str) -> Response:
    return pages.see_other(f"{_PAGE}?notice={notice}")


def _enrolling(owner: Owner, made: Enrolment, *, error: ServiceError | None = None) -> Response:
    return pages.section(
        owner.request,
        "enroll.html",
        error=error,
        values={"code": ""},
        enrolment=made,
        modules=totp.qr_rows(made.provisioning_uri),
    )


async def _shown(
    owner: Owner,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    user = owner.user
    async with owner.services.database.read() as session:
        protection = await account.protection(session, user)
        found = [] if protection.is_bound else await devices.of_user(session, user)
        codes = await two_factor_setup.recovery_codes(session, user)
    notice = owner.request.query_params.get("notice", "")
    return pages.section(
        owner.request,
        "security.html",
        error=error,
        values=values or {},
        name=(values or {}).get("name", user.full_name or ""),
        user=user,
        protection=protection,
        codes=codes,
        sessions=[(one, user_agents.device(one.user_agent)) for one in found],
        notice="" if error else _NOTICES.get(notice),
    )
