"""The limits a minute at the door, and the headers that tell of them on all answers under /v1.

A request is counted once: for its address and its key or user as soon as these are known; for its
address alone, at the free plan's figure, on public routes before they do anything, and else when
an answer goes out for which nobody was known, such as 401s.
"""

from collections.abc import Mapping

from fastapi import Request
from starlette.types import Scope

from recibo.errors import RateLimitExceeded
from recibo.schemas.actor import Actor, ClientInfo, KeyActor, SignedIn
from recibo.schemas.plans import Plan
from recibo.services.reading import usage
from recibo.services.reading.usage import Quota
from recibo.store.limits import Limit, LimitStatus
from recibo.web import rate_limits
from recibo.web.services import Services, client_info_of

_FREE = rate_limits.FREE
# Parts of a request's state.
_STANDING = "standing"
_QUOTA = "quota"


async def count_key(request: Request, services: Services, actor: KeyActor) -> None:
    """Count a request of an API key.

    Raises:
        RateLimitExceeded: too many of the address or of the key.
    """
    if _is_upload(request.scope):
        await set_quota_headers(request, services, actor)
    await _count(request, services, _of(actor.visit, actor.plan, actor.key_id))


async def count_user(request: Request, services: Services, user: SignedIn) -> None:
    """Count a request of a user with a session.

    Raises:
        RateLimitExceeded: too many of the address or of the user.
    """
    await _count(request, services, _of(user.visit, user.plan or _FREE, user.user_id))


async def refusal(scope: Scope) -> RateLimitExceeded | None:
    """Count a request of nobody known, unless it is counted; return the error if it is too many."""
    if not is_due(scope):
        return None
    request = Request(scope)
    try:
        await _count(request, request.app.state.services, _of(client_info_of(request), _FREE))
    except RateLimitExceeded as e:
        return e
    return None


def is_due(scope: Scope) -> bool:
    """Tell whether a request is to be counted, and is not yet."""
    return _is_counted(scope) and _STANDING not in scope["state"]


async def set_quota_headers(request: Request, services: Services, actor: Actor) -> None:
    """Have the headers of an upload's answer say what is left of the month now."""
    async with services.database.read() as session:
        setattr(request.state, _QUOTA, await usage.quota(session, actor))


def headers(scope: Scope, status: int) -> Mapping[str, str]:
    """Return the headers that tell an answer's reader of the limits; none outside of /v1."""
    standing: LimitStatus | None = scope["state"].get(_STANDING)
    if standing is None:
        return {}
    told = (standing.limit, standing.remaining, standing.reset)
    if _is_upload(scope) and (quota := _quota(scope)) is not None:
        told = (quota.limit, quota.left, int(quota.renews_at.timestamp()))
    limit, remaining, reset = told
    if status == RateLimitExceeded.status:
        # Whichever limit it was: who is refused may send nothing more for now.
        remaining = 0
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(reset),
    }


def _quota(scope: Scope) -> Quota | None:
    """Return the uploader's quota, the free plan's without a key; None where no plan is sold."""
    services: Services = scope["app"].state.services
    if not services.identity.plans.are_sold:
        return None
    return scope["state"].get(_QUOTA) or Quota.of(_FREE)


async def _count(request: Request, services: Services, limits: list[Limit]) -> None:
    standing = await rate_limits.take(services.limits, limits)
    setattr(request.state, _STANDING, standing)
    rate_limits.refuse(standing)


def _of(visit: ClientInfo, plan: Plan, *subjects: str) -> list[Limit]:
    """Return the limits of a request, the address's first: if it is refused, it spends no key."""
    figure = plan.requests_a_minute
    address = rate_limits.of_address(visit, plan)
    return [address, *(Limit(subject, figure) for subject in subjects)]


def _is_counted(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == "/v1" or path.startswith("/v1/")


def _is_upload(scope: Scope) -> bool:
    return (scope["method"], scope["path"]) == ("POST", "/v1/extract")
