"""The session's two cookies."""

from typing import Literal, cast

from fastapi import Request, Response

from recibo.schemas.sessions import TokenResponse
from recibo.services.identity import sessions
from recibo.web.services import Services

ACCESS_COOKIE = "service_access"
REFRESH_COOKIE = "service_refresh"

#: As RFC 6265bis spells it; the framework's type knows lower case only.
LAX = cast("Literal['lax']", "Lax")


def set_session(
    response: Response, tokens: TokenResponse, request: Request, services: Services
) -> None:
    """Set the session's cookies; no cache may store the answer (RFC 6749, section 5.1)."""
    response.headers["Cache-Control"] = "no-store"
    lives = {
        ACCESS_COOKIE: (tokens.access_token, tokens.expires_in),
        REFRESH_COOKIE: (
            tokens.refresh_token,
            sessions.refresh_seconds(services.identity.keyring, tokens),
        ),
    }
    for name, (value, seconds) in lives.items():
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            path="/",
            httponly=True,
            samesite=LAX,
            secure=is_secure(request, services),
        )


def clear_session(response: Response, request: Request, services: Services) -> None:
    """Clear the session's cookies."""
    for name in (ACCESS_COOKIE, REFRESH_COOKIE):
        response.delete_cookie(
            name, path="/", httponly=True, samesite=LAX, secure=is_secure(request, services)
        )


def is_secure(request: Request, services: Services) -> bool:
    """Return whether cookies need TLS: always, except on http in development."""
    return services.is_production or request.url.scheme == "https"
