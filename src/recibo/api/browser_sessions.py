"""How a browser shows the session of its publishable key, and how it is handed one."""

from typing import Any

from fastapi import Request, Response

from recibo.api.request_log import EXTRA_HEADERS
from recibo.schemas.actor import KeyActor
from recibo.services.identity import browser_sessions
from recibo.web.cookies import LAX, is_secure
from recibo.web.services import Services

HEADER = "X-Session-Token"
COOKIE = "service_browser"
#: How the documents of the interface tell of it.
SESSION_HEADERS: dict[str, Any] = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "With a publishable key: the session that its first upload answered.",
}


async def of_uploader(request: Request, services: Services, actor: KeyActor) -> KeyActor:
    """Return the key at work in the session shown, else in a new one that any answer brings."""
    uploader = await browser_sessions.uploader(services.identity, actor, _token_of(request))
    if uploader.new_token is not None:
        _hand_over(request, services, uploader.new_token)
    return uploader.actor


async def of_reader(request: Request, services: Services, actor: KeyActor) -> KeyActor:
    """Return the key at work in the session shown, if any."""
    return await browser_sessions.reader(services.identity, actor, _token_of(request))


def _token_of(request: Request) -> str | None:
    """A header, when present, is the only one looked at, as with other credentials."""
    return request.headers.get(HEADER, request.cookies.get(COOKIE))


def _hand_over(request: Request, services: Services, token: str) -> None:
    carrier = Response()
    carrier.set_cookie(
        COOKIE,
        token,
        max_age=int(browser_sessions.LIFE.total_seconds()),
        path="/",
        httponly=True,
        samesite=LAX,
        secure=is_secure(request, services),
    )
    headers = [(HEADER, token), ("Set-Cookie", carrier.headers["set-cookie"])]
    setattr(request.state, EXTRA_HEADERS, headers)
