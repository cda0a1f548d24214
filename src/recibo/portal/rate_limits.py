"""The limits a minute per address, which pages share with the API; static files are exempt."""

from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from recibo.schemas.plans import Plan
from recibo.web import rate_limits
from recibo.web.services import client_info_of, services_of

# The part of a request's state that tells that it is counted.
_COUNTED = "portal_counted"


async def count(request: Request, plan: Plan | None = None) -> None:
    """Count a request once, at a plan's figure or at that of strangers.

    Raises:
        RateLimitExceeded: too many of the address.
    """
    if getattr(request.state, _COUNTED, False):
        return
    setattr(request.state, _COUNTED, True)
    services = await services_of(request)
    limit = rate_limits.of_address(client_info_of(request), plan or rate_limits.FREE)
    rate_limits.refuse(await rate_limits.take(services.limits, [limit]))


def counting_strangers(visitor_of: Callable[..., object]) -> Callable[..., Awaitable[None]]:
    """Return a dependency that counts requests to routes that do not ask who visits."""

    async def count_strangers(request: Request) -> None:
        route = request.scope["route"]
        if isinstance(route, APIRoute) and not _asks(route.dependant, visitor_of):
            await count(request)

    return count_strangers


def _asks(dependant: Dependant, who: Callable[..., object]) -> bool:
    return any(one.call is who or _asks(one, who) for one in dependant.dependencies)
