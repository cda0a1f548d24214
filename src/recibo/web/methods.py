"""The methods that a path accepts."""

from fastapi import Request
from starlette.routing import Route


def allowed(request: Request) -> str:
    """Return all methods of a request's path for the Allow header; empty for an unknown path.

    The framework returns those of one route only.
    """
    path = getattr(request.scope.get("route"), "path", None)
    routes = (one for one in request.app.routes if isinstance(one, Route) and one.path == path)
    return ", ".join(sorted({method for route in routes for method in route.methods or ()}))
