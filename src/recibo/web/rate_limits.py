"""The limits per minute: each request is counted once, for its address and for who sent it."""

from fastapi import Request
from prometheus_client import Counter
from starlette.types import Scope

from recibo.errors import RateLimitExceeded
from recibo.schemas.actor import ClientInfo
from recibo.schemas.plans import PLANS, Plan, PlanName
from recibo.store.limits import Limit, LimitStatus
from recibo.web.services import client_info_of, services_of

#: The plan whose limits hold for requests without a credential.
ANONYMOUS_PLAN = PLANS[PlanName.FREE]

_STATUS = "rate_limit_status"
_UNLIMITED = Counter(
    "recibo_unlimited_requests",
    "Requests that passed without a limit, as Redis was out of reach.",
)


async def count(request: Request, plan: Plan | None = None, *subjects: str) -> None:
    """Count a request once, for its address and other subjects, at the figure of a plan.

    Raises:
        RateLimitExceeded: there are too many of the address or of a subject.
    """
    if status_of(request.scope) is not None:
        return
    services = await services_of(request)
    status = await services.limits.take(
        _limits(client_info_of(request), plan or ANONYMOUS_PLAN, subjects)
    )
    if not status.is_known:
        _UNLIMITED.inc()
    setattr(request.state, _STATUS, status)
    if status.retry_after is not None:
        raise RateLimitExceeded(retry_after=status.retry_after)


def status_of(scope: Scope) -> LimitStatus | None:
    """Return what is left of the limits of a request; None before it is counted."""
    status: LimitStatus | None = scope["state"].get(_STATUS)
    return status


def _limits(visit: ClientInfo, plan: Plan, subjects: tuple[str, ...]) -> list[Limit]:
    """Return the limits of a request; the address first, so that a refusal there costs no key."""
    figure = plan.requests_a_minute
    address = Limit(f"ip:{visit.limit_subject}", figure, is_binding=visit.is_limited_by_ip)
    return [address, *(Limit(subject, figure) for subject in subjects)]
