"""The first password of an account, and the switch to another organization."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel, Field

from recibo.portal import forms, navigation, next_paths, pages, request_user, routers
from recibo.portal.request_user import TheUser
from recibo.services.identity import account, orgs
from recibo.services.identity.passwords import MAX_LENGTH, MIN_LENGTH
from recibo.web.services import TheServices

router = routers.make()

SET_PASSWORD = "/portal/set-password"  # noqa: S105 - a path


class FirstPassword(BaseModel):
    """The password of an account that has none."""

    new_password: str = Field(min_length=MIN_LENGTH, max_length=MAX_LENGTH)
    next: str = ""


class OrgChoice(BaseModel):
    """The organization to switch to, and the page to stay on."""

    org_id: str
    next: str = ""


@router.post("/portal/switch-org")
async def switch_org(
    request: Request,
    user: TheUser,
    services: TheServices,
    form: Annotated[OrgChoice, Depends(forms.plain(OrgChoice))],
) -> Response:
    """Work in another organization, in the same section if the role there allows it."""
    tokens = await account.switch_org(services.identity, user, form.org_id, ends_current=True)
    request_user.begin(request, tokens)
    joined = await orgs.of_user(services.database, user.user_id)
    roles = [one.role for one in joined if one.id == tokens.org_id]
    section = navigation.section_of(next_paths.of(form.next))
    may_see = section is not None and any(section.is_open_to(role) for role in roles)
    return pages.see_other(section.path if section and may_see else next_paths.HOME)


@router.get(SET_PASSWORD)
async def show_set_password(request: Request, user: TheUser, services: TheServices) -> Response:
    """Show the form for a first password; redirect users who have a password."""
    wanted = next_paths.of(request.query_params.get("next"))
    async with services.database.read() as session:
        if not await account.lacks_password(session, user):
            return pages.see_other(wanted)
    return pages.form(request, "set_password.html", {"username": user.email, "next": wanted})


@router.post(SET_PASSWORD)
async def set_password(
    request: Request,
    user: TheUser,
    services: TheServices,
    form: Annotated[FirstPassword, Depends(forms.of(FirstPassword, "set_password.html"))],
) -> Response:
    """Set the first password of the account."""
    tokens = await account.change_password(
        services.identity, user, form.new_password, current_password=None
    )
    request_user.begin(request, tokens)
    return pages.see_other(next_paths.of(form.next))
