"""What routes ask for: the actor, guards."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.dependencies.models import Dependant
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader
from fastapi.security.base import SecurityBase
from pydantic import BaseModel

from recibo.api import browser_sessions, rate_limits
from recibo.errors import InsufficientScope, NotFound, ValidationFailed
from recibo.schemas.actor import KeyActor, Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.states import KeyKind, Scope
from recibo.services.identity import keys, sessions
from recibo.services.identity.sessions import TokenClaims
from recibo.web import csrf
from recibo.web.cookies import ACCESS_COOKIE, REFRESH_COOKIE
from recibo.web.services import Services, TheServices, client_info_of, services_of

_api_key = APIKeyHeader(
    name="X-API-Key",
    auto_error=False,
    description="A secret key, `sk_live_…`, or in browsers a publishable one, `pk_publishable_…`.",
)


async def _authenticated(
    request: Request, services: TheServices, secret: Annotated[str | None, Security(_api_key)]
) -> KeyActor:
    identity = services.identity
    actor = await keys.authenticate(
        services.database, secret, visit=client_info_of(request), plans=identity.plans
    )
    identity.key_uses.note(actor.key_id)
    await rate_limits.count_key(request, services, actor)
    return actor


AnyKey = Annotated[KeyActor, Depends(_authenticated)]


async def _is_secret(actor: AnyKey) -> KeyActor:
    """Refuse publishable keys: everybody who opens a page with one can read it."""
    if actor.kind is KeyKind.PUBLISHABLE:
        raise InsufficientScope("A publishable key may not do this; use a secret key.")
    return actor


async def _reads(actor: AnyKey) -> KeyActor:
    return _require(actor, Scope.READ)


async def _reads_receipts(request: Request, services: TheServices, actor: AnyKey) -> KeyActor:
    """A publishable key may read without the scope: what its browser session made."""
    if actor.kind is KeyKind.PUBLISHABLE:
        return await browser_sessions.of_reader(request, services, actor)
    return _require(actor, Scope.READ)


async def _extracts(request: Request, services: TheServices, actor: AnyKey) -> KeyActor:
    if actor.kind is KeyKind.PUBLISHABLE:
        actor = await browser_sessions.of_uploader(request, services, actor)
    if Scope.EXTRACT_WRITE in actor.scopes:
        return actor
    return _require(actor, Scope.WRITE)


async def _deletes(actor: AnyKey) -> KeyActor:
    return _require(_require(actor, Scope.READ), Scope.WRITE)


def _require(actor: KeyActor, scope: Scope) -> KeyActor:
    if scope not in actor.scopes:
        raise InsufficientScope.lacking("scope", scope)
    return actor


#: Whatever its scopes.
AnySecretKey = Annotated[KeyActor, Depends(_is_secret)]
#: Not for receipts: publishable keys are refused.
CanRead = Annotated[KeyActor, Depends(_reads)]
CanReadReceipts = Annotated[KeyActor, Depends(_reads_receipts)]
CanExtract = Annotated[KeyActor, Depends(_extracts)]
CanDelete = Annotated[KeyActor, Depends(_deletes)]


class _Session(SecurityBase):
    """Finds the access token: in the Authorization header if there is one, else in the cookie."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(bearerFormat="JWT", description="An access token.")
        self.scheme_name = "Session"

    async def __call__(self, request: Request) -> str | None:
        return access_token_of(request)


def access_token_of(request: Request) -> str | None:
    """Return the access token that a request shows; empty when its Authorization is no bearer."""
    header = request.headers.get("authorization")
    if header is None:
        return request.cookies.get(ACCESS_COOKIE)
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def refuse_cross_site(request: Request, services: TheServices) -> None:
    """Guard the routes that set or clear the session's cookies."""
    csrf.refuse_cross_site(request, services.base_url)


async def refuse_cross_site_cookies(request: Request, services: TheServices) -> None:
    """Guard public routes that bear the session's cookies, if at all, and do not set them."""
    if ACCESS_COOKIE in request.cookies or REFRESH_COOKIE in request.cookies:
        csrf.refuse_cross_site(request, services.base_url)


def credentials_of(request: Request, services: Services) -> TokenClaims | None:
    """Return what the tokens say that a request to a public route shows, if it does.

    A browser that was away for a while has no access token any more, but a refresh token.
    """
    keyring = services.identity.keyring
    shown = sessions.read_access_token(keyring, access_token_of(request))
    if shown is not None or "authorization" in request.headers:
        return shown
    return sessions.read_refresh_token(keyring, request.cookies.get(REFRESH_COOKIE))


async def _signed_in(
    request: Request, token: Annotated[str | None, Security(_Session())]
) -> SignedIn:
    # Not asked for as the routes do: the framework would solve it at each place that asks for who
    # calls, though it solves those once.
    services = await services_of(request)
    if "authorization" not in request.headers and ACCESS_COOKIE in request.cookies:
        csrf.refuse_cross_site(request, services.base_url)
    identity = services.identity
    user = await sessions.authenticate(
        services.database,
        identity.keyring,
        token,
        visit=client_info_of(request),
        plans=identity.plans,
    )
    await rate_limits.count_user(request, services, user)
    return user


TheUser = Annotated[SignedIn, Depends(_signed_in)]

_AUTHENTICATION = (_authenticated, _signed_in)


async def identify_user(request: Request) -> None:
    """Find out who sent a request that no route takes, and count it.

    Raises:
        RateLimitExceeded: too many of the address, the key or the user.
        ServiceError: its credential, if there is one, is no good one.
    """
    secret = request.headers.get("x-api-key")
    if secret is not None:
        await _authenticated(request, await services_of(request), secret)
    else:
        await _signed_in(request, access_token_of(request))


async def limit_anonymous(request: Request) -> None:
    """Count a request to a public route before it has any effect; the others know who asks.

    Raises:
        RateLimitExceeded: too many requests from this address.
    """
    if _is_public(request.scope["route"]) and (refusal := await rate_limits.refusal(request.scope)):
        raise refusal


def _is_public(route: APIRoute) -> bool:
    """Tell whether a route asks for no credential."""
    return not _asks(route.dependant)


def _asks(dependant: Dependant) -> bool:
    return any(one.call in _AUTHENTICATION or _asks(one) for one in dependant.dependencies)


async def _unbound(user: TheUser, services: TheServices) -> SignedIn:
    async with services.database.read() as session:
        await sessions.require_unbound(session, user)
    return user


#: Whose session may leave its org and touch the account.
TheUnboundUser = Annotated[SignedIn, Depends(_unbound)]


def _may(permission: Permission) -> Callable[[SignedIn], Awaitable[Member]]:
    async def guard(user: TheUser) -> Member:
        member = user.member
        if member is None or not member.may(permission):
            raise InsufficientScope.lacking("permission", permission)
        return member

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
    async def guard(user: TheUser) -> Member:
        return _in_org(user, permission)

    return guard


async def _reads_org(user: TheUser) -> SignedIn:
    _in_org(user, Permission.ORG_READ)
    return user


def _in_org(user: SignedIn, permission: Permission) -> Member:
    """Guard what is about the org itself: without one there is nothing to be refused."""
    member = user.member
    if member is None:
        raise NotFound("You are in no org; accept an invitation or sign up for one.")
    if not member.may(permission):
        raise InsufficientScope.lacking("permission", permission)
    return member


#: The user, who has an org.
OrgReader = Annotated[SignedIn, Depends(_reads_org)]
MayWriteOrg = Annotated[Member, Depends(_may_in_org(Permission.ORG_WRITE))]
#: As MayWriteBilling, but 404 for whoever is in no org.
MayCheckOut = Annotated[Member, Depends(_may_in_org(Permission.BILLING_WRITE))]


def refuse_repeated(request: Request, query: type[BaseModel]) -> None:
    """Refuse a query parameter that is given twice: nobody can tell which one was meant."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        is_known = name in query.model_fields or name.startswith("metadata.")
        if is_known and given.count(name) > 1:
            raise ValidationFailed.of(name, "is given more than once; give it once")
