"""The methods that a path accepts."""

from fastapi import Request


def allowed(request: Request) -> str:
    """Return all methods of a request's path for the Allow header; empty for an unknown path.

    The framework returns those of one route only.
    """
    path = getattr(request.scope.get("route"), "path", None)
    return ", ".join(sorted(request.app.openapi()["paths"].get(path, {}))).upper()
