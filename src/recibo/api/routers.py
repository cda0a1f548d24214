"""What all routes under /v1 have in common."""

from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from recibo.api.deps import IDENTIFYING
from recibo.api.responses import errors_of
from recibo.web.guarded_route import GuardedRoute, count_anonymous


class ApiRoute(GuardedRoute):
    """A route under /v1."""

    guards = (count_anonymous,)
    identifying = IDENTIFYING


def make(
    prefix: str, *, tag: str, guards: Sequence[Callable[..., Awaitable[None]]] = ()
) -> APIRouter:
    """Return a router; its guards come before those of each route."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=ApiRoute,
        dependencies=[Depends(one) for one in guards],
        responses=errors_of(408, 429, 431, 503),
        generate_unique_id_function=operation_id,
    )


def operation_id(route: APIRoute) -> str:
    """Return the name of a route's function: clients are generated with it."""
    return route.name
