"""CORS: which answers a page of another origin may read (by the Fetch standard).

The routes for publishable keys are open to every origin, without cookies; all others are for pages
of the service's own origin, which need no header. Starlette's middleware does not fit: it answers
preflights in plain text, and it can't be outside of the handler of crashes and inside of the
middleware that sets the request id.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_OPEN = "/v1/extract", "/v1/receipts"
_OPEN_BELOW = "/v1/receipts/"
_READABLE = ("X-Session-Token", "X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining",
             "X-RateLimit-Reset", "Retry-After")  # fmt: skip
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": (
        "Accept, Content-Type, Idempotency-Key, X-API-Key, X-Request-ID, X-Session-Token"
    ),
    # Browsers cache it for two hours at most.
    "Access-Control-Max-Age": "7200",
}


class CorsHeaders:
    """ASGI middleware that makes the answers of open paths readable for every origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if not _is_open(scope):
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = "*"
                headers["Access-Control-Expose-Headers"] = ", ".join(_READABLE)
            await send(message)

        await self._app(scope, receive, answer)


class Preflights:
    """ASGI middleware that answers the preflight requests to open paths."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_preflight = (
            _is_open(scope)
            and scope["method"] == "OPTIONS"
            and "access-control-request-method" in Headers(scope=scope)
        )
        answer = Response(status_code=204, headers=_PREFLIGHT) if is_preflight else self._app
        await answer(scope, receive, send)


def _is_open(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    path = scope["path"]
    return path in _OPEN or path.startswith(_OPEN_BELOW)
