"""What an API key or a member may do; the same rules for the API and the portal."""

from recibo.errors import InsufficientScope, NotFound
from recibo.schemas.actor import KeyActor, Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.states import KeyKind, Scope


def require_scopes(actor: KeyActor, *scopes: Scope) -> KeyActor:
    """Return the key if it has all scopes.

    Raises:
        InsufficientScope: it lacks one; the error names the first.
    """
    for scope in scopes:
        if scope not in actor.scopes:
            raise InsufficientScope.lacking("scope", scope)
    return actor


def require_secret(actor: KeyActor) -> KeyActor:
    """Return the key if it is a secret one.

    Raises:
        InsufficientScope: it is publishable, so everybody who opens a page can read it.
    """
    if actor.kind is KeyKind.PUBLISHABLE:
        raise InsufficientScope("A publishable key may not do this; use a secret key.")
    return actor


def require_org(user: SignedIn) -> Member:
    """Return the user's membership.

    Raises:
        NotFound: the user is in no org.
    """
    if user.member is None:
        raise NotFound("You are in no org; accept an invitation or sign up for one.")
    return user.member


def require_permission(user: SignedIn, permission: Permission) -> Member:
    """Return the user's membership if its role has a permission.

    Raises:
        InsufficientScope: the role lacks it, or the user is in no org.
    """
    member = user.member
    if member is None or not member.may(permission):
        raise InsufficientScope.lacking("permission", permission)
    return member
