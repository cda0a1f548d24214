"""A member who opens a page of a section or presses a button on it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from fastapi import Request

from recibo.errors import InsufficientScope
from recibo.portal import names
from recibo.portal.request_user import TheUser
from recibo.portal.translations import LazyText, _
from recibo.schemas.actor import Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.web.permissions import require_permission
from recibo.web.services import Services, TheServices


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request of a member who has the permission for it."""

    request: Request
    user: SignedIn
    member: Member
    services: Services

    def may(self, permission: Permission) -> bool:
        """Return whether the member has a permission."""
        return self.member.may(permission)

    def notice(self, notices: Mapping[str, LazyText]) -> str:
        """Return the notice that the query parameter `notice` names; empty without one."""
        found = notices.get(self.request.query_params.get("notice", ""))
        return str(found) if found else ""


def context_with(permission: Permission) -> Callable[..., Awaitable[RequestContext]]:
    """Return a dependency that requires a permission of the user's role."""

    async def context(request: Request, user: TheUser, services: TheServices) -> RequestContext:
        try:
            member = require_permission(user, permission)
        except InsufficientScope:
            raise InsufficientScope(_refusal(user)) from None
        return RequestContext(request, user, member, services)

    return context


def _refusal(user: SignedIn) -> str:
    if user.member is None:
        return _("You are in no organization; accept an invitation to join one.")
    return _(
        "Your role, %(role)s, does not allow this. Owners and admins can give you another one.",
        role=names.role(user.member.role, viewers_write=user.member.viewers_write),
    )
