"""What all routes under /v1 have in common."""

from typing import TYPE_CHECKING, cast

from fastapi.routing import APIRoute

from recibo.api import application as doors
from recibo.api.deps import limit_anonymous

if TYPE_CHECKING:
    from recibo.web.services import Services


def test_every_route_counts_strangers_before_anything_else() -> None:
    """Answers do not tell: whoever was not counted before is refused when it is too late."""
    routes = [
        route
        for route in doors.create_app(cast("Services", None)).routes
        if isinstance(route, APIRoute) and route.path.startswith("/v1")
    ]
    first = {route.path: route.dependant.dependencies[0].call for route in routes}

    assert {"/v1/extract", "/v1/auth/signup"} <= first.keys()
    assert {limit_anonymous} == set(first.values())
