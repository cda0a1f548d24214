"""The session of a browser with a publishable key, in a header or a cookie."""

from typing import Any

from fastapi import Request, Response

from recibo.api.request_log import EXTRA_HEADERS
from recibo.schemas.actor import KeyActor
from recibo.services.identity import browser_sessions
from recibo.web.cookies import LAX, is_secure
from recibo.web.services import Services

HEADER = "X-Session-Token"
COOKIE = "service_browser"
#: The header in the OpenAPI document.
SESSION_HEADERS: dict[str, Any] = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "With a publishable key: the session that its first upload answered.",
}


async def of_uploader(request: Request, services: Services, actor: KeyActor) -> KeyActor:
    """Return the key with the request's session, or with a new one that the answer sets."""
    uploader = await browser_sessions.uploader(services.identity, actor, _token_of(request))
    if uploader.new_token is not None:
        _set_session(request, services, uploader.new_token)
    return uploader.actor


async def of_reader(request: Request, services: Services, actor: KeyActor) -> KeyActor:
    """Return the key with the request's session, if it has one."""
    return await browser_sessions.reader(services.identity, actor, _token_of(request))


def _token_of(request: Request) -> str | None:
    """Return the session's token; the header, even a bad one, beats the cookie."""
    return request.headers.get(HEADER, request.cookies.get(COOKIE))


def _set_session(request: Request, services: Services, token: str) -> None:
    response = Response()
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(browser_sessions.LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite=LAX,
        secure=is_secure(request, services),
    )
    headers = [(HEADER, token), ("Set-Cookie", response.headers["set-cookie"])]
    setattr(request.state, EXTRA_HEADERS, headers)
