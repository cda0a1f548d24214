"""The page of members and invitations."""

from collections.abc import Awaitable, Mapping
from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import forms, pages, request_context, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import lazy_gettext
from recibo.schemas.permissions import Permission
from recibo.schemas.states import Role
from recibo.services.identity import invitations, members

router = routers.make("/portal/members")

_PAGE = "/portal/members"
_NOTICES = {
    "invited": lazy_gettext("The invitation is sent."),
    "withdrawn": lazy_gettext("The invitation is withdrawn. Its link no longer works."),
    "changed": lazy_gettext("The role is changed."),
    "removed": lazy_gettext(
        "The member is removed. API keys that the member created here are revoked."
    ),
}
# Most whom one invites keep books; a role with keys is chosen on purpose.
_BLANK = {"email": "", "role": Role.VIEWER.value}
# The description of each role.
_ROLES = {
    Role.OWNER: lazy_gettext("full access; there is always at least one owner"),
    Role.ADMIN: lazy_gettext(
        "manages the team, keys, settings and billing; may do everything but delete the "
        "organization"
    ),
    Role.DEVELOPER: lazy_gettext(
        "uploads, corrects, approves, exports and deletes receipts, and creates API keys "
        "and webhooks; for programmers"
    ),
    Role.VIEWER: lazy_gettext(
        "reads and exports receipts, and changes nothing; for bookkeepers, auditors and managers"
    ),
    Role.BILLING: lazy_gettext("manages the plan and payments, and sees no receipts"),
}
# What viewers do where the organization lets them write.
_WRITING_VIEWER = lazy_gettext(
    "uploads, corrects, approves, exports and deletes receipts, without API keys and webhooks; for "
    "bookkeepers"
)

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.TEAM_READ))]
Inviter = Annotated[RequestContext, Depends(request_context.context_with(Permission.TEAM_INVITE))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.TEAM_WRITE))]
Remover = Annotated[RequestContext, Depends(request_context.context_with(Permission.TEAM_REMOVE))]


class InvitationForm(BaseModel):
    """The address and role to invite; validated by the service."""

    email: Trimmed = ""
    role: str = ""


class RoleForm(BaseModel):
    """The new role."""

    role: str = ""


@router.get("")
async def show_members(caller: Reader) -> Response:
    """Show the members and the pending invitations."""
    return await _shown(caller)


@router.post("/invite")
async def invite(
    caller: Inviter, form: Annotated[InvitationForm, Depends(forms.plain(InvitationForm))]
) -> Response:
    """Email an invitation; it replaces an earlier one to the same address."""

    async def send() -> None:
        identity, role = caller.services.identity, _role(form.role)
        await invitations.send(identity, caller.member, email=form.email, role=role)

    return await _done(caller, send(), notice="invited", values=form.model_dump())


@router.post("/invitations/{invitation_id}/withdraw")
async def withdraw(caller: Inviter, invitation_id: str) -> Response:
    """Withdraw an invitation."""
    revoked = invitations.revoke(caller.services.database, caller.member, invitation_id)
    return await _done(caller, revoked, notice="withdrawn")


@router.post("/{user_id}/role")
async def change_role(
    caller: Writer, user_id: str, form: Annotated[RoleForm, Depends(forms.plain(RoleForm))]
) -> Response:
    """Change the role of a member."""

    async def change() -> None:
        database, role = caller.services.database, _role(form.role)
        await members.change_role(database, caller.member, user_id, role=role)

    return await _done(caller, change(), notice="changed")


@router.post("/{user_id}/remove")
async def remove(caller: Remover, user_id: str) -> Response:
    """Remove a member and revoke the keys that the member created."""
    removed = members.remove(caller.services.database, caller.member, user_id)
    return await _done(caller, removed, notice="removed")


async def _done(
    caller: RequestContext,
    action: Awaitable[None],
    *,
    notice: str,
    values: Mapping[str, str] | None = None,
) -> Response:
    """Run an action and redirect to the page; errors are shown on it."""
    try:
        await action
    except MESSAGES as e:
        return await _shown(caller, error=e, values=values)
    return pages.see_other(f"{_PAGE}?notice={notice}")


async def _shown(
    caller: RequestContext,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    member = caller.member
    abouts = {**_ROLES, Role.VIEWER: _WRITING_VIEWER} if member.viewers_write else _ROLES
    async with caller.services.database.read() as session:
        team = await members.in_join_order(session, member)
        pending = await invitations.pending(session, member)
    return pages.section(
        caller.request,
        "members.html",
        error=error,
        # Errors that are not about the invitation form are shown at the top of the page.
        values=values or {},
        filled=values or _BLANK,
        org=caller.user.org.name if caller.user.org else "",
        team=team,
        pending=pending,
        own_id=member.user_id,
        abouts=abouts,
        roles=[(role, about) for role, about in abouts.items() if _may_touch(caller, role)],
        viewers_write=member.viewers_write,
        may_set_viewers=caller.may(Permission.ORG_WRITE),
        is_owner=member.role is Role.OWNER,
        notice="" if error else caller.notice(_NOTICES),
        just_invited=caller.request.query_params.get("notice") == "invited",
        may_invite=caller.may(Permission.TEAM_INVITE),
        may_write=caller.may(Permission.TEAM_WRITE),
        may_remove=caller.may(Permission.TEAM_REMOVE),
    )


def _may_touch(caller: RequestContext, role: Role) -> bool:
    return role is not Role.OWNER or caller.member.role is Role.OWNER


def _role(given: str) -> Role:
    try:
        return Role(given)
    except ValueError:
        raise ValidationFailed.of("role", f"is one of {', '.join(Role)}") from None
