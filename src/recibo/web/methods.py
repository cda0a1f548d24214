"""Which methods a path takes."""

from fastapi import Request


def allowed(request: Request) -> str:
    """Return all methods of a request's path as the Allow header names them; empty for none.

    The framework names those of one route only.
    """
    path = getattr(request.scope.get("route"), "path", None)
    return ", ".join(sorted(request.app.openapi()["paths"].get(path, {}))).upper()
