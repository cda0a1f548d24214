"""Routes that run their guards before the framework reads a body or asks a dependency."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from functools import cached_property
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from recibo.web import rate_limits

Guard = Callable[[Request], Awaitable[None]]


class GuardedRoute(APIRoute):
    """A route of the API or of the portal."""

    #: What each request must pass, in this order.
    guards: ClassVar[Sequence[Guard]] = ()
    #: The dependencies that find out who sent a request, and count it.
    identifying: ClassVar[Collection[Callable[..., Any]]] = ()

    @cached_property
    def is_public(self) -> bool:
        """Whether no dependency of this route finds out who sent a request."""
        return not self._identifies(self.dependant)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request: first the guards, then the framework."""
        answer = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            for guard in self.guards:
                await guard(request)
            return await answer(request)

        return guarded

    def _identifies(self, dependant: Dependant) -> bool:
        return any(
            one.call in self.identifying or self._identifies(one) for one in dependant.dependencies
        )


async def count_anonymous(request: Request) -> None:
    """Count a request to a public route; the others count when they know who sent it.

    Raises:
        RateLimitExceeded: there are too many of the address.
    """
    route = request.scope["route"]
    if isinstance(route, GuardedRoute) and route.is_public:
        await rate_limits.count(request)
