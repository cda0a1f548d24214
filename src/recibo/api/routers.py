"""What all routes under /v1 have in common."""

from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from recibo.api.deps import limit_anonymous
from recibo.api.responses import errors_of


def make(
    prefix: str, *, tag: str, guards: Sequence[Callable[..., Awaitable[None]]] = ()
) -> APIRouter:
    """Make a router; its guards come before those of each route."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        dependencies=[Depends(one) for one in (limit_anonymous, *guards)],
        responses=errors_of(408, 429, 431, 503),
        generate_unique_id_function=operation_id,
    )


def operation_id(route: APIRoute) -> str:
    """Return the name of a route's function: clients are generated with it."""
    return route.name
