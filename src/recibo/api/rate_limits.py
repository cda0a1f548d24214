"""The rate limit headers of all answers under /v1, and the count of requests that are refused.

A request whose sender is never found out, such as one answered 401, is counted for its address when
its answer is sent.
"""

from collections.abc import Mapping

from fastapi import Request
from starlette.types import Scope

from recibo.errors import DatabaseUnavailable, RateLimitExceeded
from recibo.schemas.actor import Actor
from recibo.services.reading import usage
from recibo.services.reading.usage import Quota
from recibo.web import rate_limits
from recibo.web.services import Services

# A part of a request's state.
_UPLOADER = "uploader"


async def refusal(scope: Scope) -> RateLimitExceeded | None:
    """Count a request that is not counted yet; return the error if it is one too many."""
    if not is_due(scope):
        return None
    try:
        await rate_limits.count(Request(scope))
    except RateLimitExceeded as e:
        return e
    return None


def is_due(scope: Scope) -> bool:
    """Return whether a request must be counted, and is not counted yet."""
    return _is_limited(scope) and rate_limits.status_of(scope) is None


def report_quota(scope: Scope, actor: Actor) -> None:
    """Make the headers of an upload's answer report the quota of the actor's org."""
    if is_upload(scope):
        scope["state"][_UPLOADER] = actor


async def headers(scope: Scope, status: int) -> Mapping[str, str]:
    """Return the rate limit headers of an answer; none outside of /v1."""
    counted = rate_limits.status_of(scope)
    if counted is None or not _is_limited(scope):
        return {}
    limit, remaining, reset = counted.limit, counted.remaining, counted.reset
    if is_upload(scope) and (quota := await _quota(scope)) is not None:
        limit, remaining, reset = quota.limit, quota.left, int(quota.renews_at.timestamp())
    if status == RateLimitExceeded.status:
        # Whichever limit refused: no more requests pass for now.
        remaining = 0
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(reset),
    }


def is_upload(scope: Scope) -> bool:
    """Return whether a request uploads a document, so that the quota holds for it."""
    return (scope["method"], scope["path"]) == ("POST", "/v1/extract")


async def _quota(scope: Scope) -> Quota | None:
    """Return what is left of the uploader's quota; the free plan's without a key.

    Returns None where no plan is sold.
    """
    services: Services = scope["app"].state.services
    if not services.identity.plans.are_sold:
        return None
    actor: Actor | None = scope["state"].get(_UPLOADER)
    quota = await _quota_of(services, actor) if actor else None
    return quota or Quota.of(rate_limits.ANONYMOUS_PLAN)


async def _quota_of(services: Services, actor: Actor) -> Quota | None:
    try:
        return await usage.quota(services.database, actor)
    except DatabaseUnavailable:
        # The answer is sent even if its headers cannot be exact.
        return Quota.of(actor.plan)


def _is_limited(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == "/v1" or path.startswith("/v1/")
