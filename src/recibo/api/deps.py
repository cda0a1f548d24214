"""The dependencies of the API's routes: who sent a request, and whether they may do this."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security import APIKeyHeader
from fastapi.security.base import SecurityBase
from pydantic import BaseModel

from recibo.api import browser_sessions
from recibo.api.rate_limits import report_quota
from recibo.errors import ValidationFailed
from recibo.schemas.actor import KeyActor, Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.states import KeyKind, Scope
from recibo.services.identity import sessions
from recibo.web import authentication, csrf, rate_limits
from recibo.web.authentication import access_token_of
from recibo.web.cookies import ACCESS_COOKIE, REFRESH_COOKIE
from recibo.web.permissions import (
    require_org,
    require_permission,
    require_scopes,
    require_secret,
)
from recibo.web.services import TheServices, services_of

_api_key = APIKeyHeader(
    name="X-API-Key",
    auto_error=False,
    description="A secret key, `sk_live_…`, or in browsers a publishable one, `pk_publishable_…`.",
)


async def _authenticated(
    request: Request, services: TheServices, secret: Annotated[str | None, Security(_api_key)]
) -> KeyActor:
    actor = await authentication.authenticate_key(request, services, secret)
    report_quota(request.scope, actor)
    await rate_limits.count(request, actor.plan, actor.key_id)
    return actor


AnyKey = Annotated[KeyActor, Depends(_authenticated)]


async def _is_secret(actor: AnyKey) -> KeyActor:
    return require_secret(actor)


async def _reads(actor: AnyKey) -> KeyActor:
    return require_scopes(actor, Scope.READ)


async def _reads_receipts(request: Request, services: TheServices, actor: AnyKey) -> KeyActor:
    """A publishable key needs no scope: it reads what its browser session uploaded."""
    if actor.kind is KeyKind.PUBLISHABLE:
        return await browser_sessions.of_reader(request, services, actor)
    return require_scopes(actor, Scope.READ)


async def _extracts(request: Request, services: TheServices, actor: AnyKey) -> KeyActor:
    if actor.kind is KeyKind.PUBLISHABLE:
        actor = await browser_sessions.of_uploader(request, services, actor)
    if Scope.EXTRACT_WRITE in actor.scopes:
        return actor
    return require_scopes(actor, Scope.WRITE)


async def _changes(actor: AnyKey) -> KeyActor:
    return require_scopes(actor, Scope.READ, Scope.WRITE)


#: A secret key, whatever its scopes.
AnySecretKey = Annotated[KeyActor, Depends(_is_secret)]
#: Not for receipts: publishable keys are refused.
CanRead = Annotated[KeyActor, Depends(_reads)]
CanReadReceipts = Annotated[KeyActor, Depends(_reads_receipts)]
CanExtract = Annotated[KeyActor, Depends(_extracts)]
#: Publishable keys are refused: they have no scopes.
CanChange = Annotated[KeyActor, Depends(_changes)]


class _Session(SecurityBase):
    """Finds the access token: in the Authorization header if there is one, else in the cookie."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(bearerFormat="JWT", description="An access token.")
        self.scheme_name = "Session"

    async def __call__(self, request: Request) -> str | None:
        return access_token_of(request)


async def _signed_in(
    request: Request, token: Annotated[str | None, Security(_Session())]
) -> SignedIn:
    # No dependency on the services here: the framework would solve it again at each place that
    # depends on the user.
    services = await services_of(request)
    user = await authentication.authenticate_user(request, services, token)
    await rate_limits.count(request, user.plan, user.user_id)
    return user


TheUser = Annotated[SignedIn, Depends(_signed_in)]

#: The dependencies that find out who sent a request.
IDENTIFYING = (_authenticated, _signed_in)


async def identify_sender(request: Request) -> None:
    """Find out who sent a request that no route takes, and count it.

    Raises:
        RateLimitExceeded: there are too many of the address, the key or the user.
        ServiceError: its credential is missing or not valid.
    """
    secret = request.headers.get("x-api-key")
    if secret is not None:
        await _authenticated(request, await services_of(request), secret)
    else:
        await _signed_in(request, access_token_of(request))


async def refuse_cross_site(request: Request, services: TheServices) -> None:
    """Guard the routes that set or clear the session's cookies."""
    csrf.refuse_cross_site(request, services.base_url)


async def refuse_cross_site_cookies(request: Request, services: TheServices) -> None:
    """Guard public routes that may get the session's cookies but do not set them."""
    if ACCESS_COOKIE in request.cookies or REFRESH_COOKIE in request.cookies:
        csrf.refuse_cross_site(request, services.base_url)


async def _unbound(user: TheUser, services: TheServices) -> SignedIn:
    async with services.database.read() as session:
        await sessions.require_unbound(session, user)
    return user


#: A user whose session may leave its org and change the account.
TheUnboundUser = Annotated[SignedIn, Depends(_unbound)]


def _may(permission: Permission) -> Callable[[SignedIn], Awaitable[Member]]:
    async def guard(user: TheUser) -> Member:
        return require_permission(user, permission)

    return guard


MayReadTeam = Annotated[Member, Depends(_may(Permission.TEAM_READ))]
MayInvite = Annotated[Member, Depends(_may(Permission.TEAM_INVITE))]
MayWriteTeam = Annotated[Member, Depends(_may(Permission.TEAM_WRITE))]
MayRemoveMembers = Annotated[Member, Depends(_may(Permission.TEAM_REMOVE))]
MayReadKeys = Annotated[Member, Depends(_may(Permission.KEYS_READ))]
MayWriteKeys = Annotated[Member, Depends(_may(Permission.KEYS_WRITE))]
MayReadAnalytics = Annotated[Member, Depends(_may(Permission.ANALYTICS_READ))]
MayReadAudit = Annotated[Member, Depends(_may(Permission.AUDIT_READ))]
MayReadBilling = Annotated[Member, Depends(_may(Permission.BILLING_READ))]
MayWriteBilling = Annotated[Member, Depends(_may(Permission.BILLING_WRITE))]


def _may_in_org(permission: Permission) -> Callable[[SignedIn], Awaitable[Member]]:
    """For routes about the org itself: they answer 404, not 403, to a user without one."""

    async def guard(user: TheUser) -> Member:
        require_org(user)
        return require_permission(user, permission)

    return guard


async def _reads_org(user: TheUser) -> SignedIn:
    require_org(user)
    require_permission(user, Permission.ORG_READ)
    return user


#: A user who has an org.
OrgReader = Annotated[SignedIn, Depends(_reads_org)]
MayWriteOrg = Annotated[Member, Depends(_may_in_org(Permission.ORG_WRITE))]
#: As MayWriteBilling, but 404 for users without an org.
MayCheckOut = Annotated[Member, Depends(_may_in_org(Permission.BILLING_WRITE))]


def refuse_repeated(request: Request, query: type[BaseModel]) -> None:
    """Refuse a query parameter that is given twice: it is unclear which one is meant."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        is_known = name in query.model_fields or name.startswith("metadata.")
        if is_known and given.count(name) > 1:
            raise ValidationFailed.of(name, "is given more than once; give it once")
