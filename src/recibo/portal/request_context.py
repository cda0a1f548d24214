"""Members who ask for a page of a section or press a button of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from recibo.portal import guards
from recibo.portal.request_user import TheUser
from recibo.schemas.actor import Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.web.services import Services, TheServices


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A member who may do what the page or the button is for."""

    request: Request
    user: SignedIn
    member: Member
    services: Services

    def may(self, permission: Permission) -> bool:
        """Tell whether the page has for this member what needs a permission."""
        return self.member.may(permission)

    def notice(self, notices: Mapping[str, str]) -> str:
        """Return what is said of what was done, by what the address tells after it."""
        return notices.get(self.request.query_params.get("notice", ""), "")


def context_with(permission: Permission) -> Callable[..., Awaitable[RequestContext]]:
    """Return a dependency that lets in whose role has a permission, as a caller."""

    async def caller(
        request: Request,
        user: TheUser,
        member: Annotated[Member, Depends(guards.may(permission))],
        services: TheServices,
    ) -> RequestContext:
        return RequestContext(request, user, member, services)

    return caller
