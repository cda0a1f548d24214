"""What pages ask for beside a session: the permission of a role."""

from collections.abc import Awaitable, Callable

from recibo.errors import InsufficientScope
from recibo.portal.request_user import TheUser
from recibo.schemas.actor import Member, SignedIn
from recibo.schemas.permissions import Permission


def may(permission: Permission) -> Callable[[SignedIn], Awaitable[Member]]:
    """Return a dependency that lets in whose role has a permission."""

    async def guard(user: TheUser) -> Member:
        member = user.member
        if member is None or not member.may(permission):
            raise InsufficientScope(_refusal(user))
        return member

    return guard


def _refusal(user: SignedIn) -> str:
    if user.member is None:
        return "You are in no organization; accept an invitation to join one."
    role = user.member.role.capitalize()
    return f"Your role, {role}, does not allow this. Owners and admins can give you another one."
