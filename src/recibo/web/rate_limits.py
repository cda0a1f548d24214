"""The limits a minute, counted for the API and the pages together."""

from collections.abc import Sequence

from prometheus_client import Counter

from recibo.errors import RateLimitExceeded
from recibo.schemas.actor import ClientInfo
from recibo.schemas.plans import PLANS, Plan, PlanName
from recibo.store.limits import Limit, Limits, LimitStatus

#: The plan whose figures hold for strangers.
FREE = PLANS[PlanName.FREE]

_UNLIMITED = Counter(
    "recibo_unlimited_requests",
    "Requests that passed without a limit, as Redis was out of reach.",
)


def of_address(visit: ClientInfo, plan: Plan) -> Limit:
    """Return the limit of an address; its counts are kept per figure."""
    subject = f"ip:{visit.limit_subject}"
    return Limit(subject, plan.requests_a_minute, is_binding=visit.is_limited_by_ip)


async def take(limits: Limits, counted: Sequence[Limit]) -> LimitStatus:
    """Count a request against limits and return where it stands; it may be refused."""
    standing = await limits.take(counted)
    if not standing.is_known:
        _UNLIMITED.inc()
    return standing


def refuse(standing: LimitStatus) -> None:
    """Refuse a request that is one too many.

    Raises:
        RateLimitExceeded: it is.
    """
    if standing.retry_after is not None:
        raise RateLimitExceeded(retry_after=standing.retry_after)
