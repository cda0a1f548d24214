"""What pages ask for beside a session: the permission of a role."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends

from recibo.errors import InsufficientScope
from recibo.portal.visitors import TheUser
from recibo.shapes.actor import Member, SignedIn
from recibo.shapes.permissions import Permission


def _may(permission: Permission) -> Callable[[SignedIn], Awaitable[Member]]:
    async def guard(user: TheUser) -> Member:
        member = user.member
        if member is None or not member.may(permission):
            raise InsufficientScope.lacking("permission", permission)
        return member

    return guard


MayReadWebhooks = Annotated[Member, Depends(_may(Permission.WEBHOOKS_READ))]
MayWriteWebhooks = Annotated[Member, Depends(_may(Permission.WEBHOOKS_WRITE))]
