"""Which answers a page of another origin may read (CORS, as the Fetch standard says it).

What browsers call with a publishable key is open to every origin, and never with credentials; the
rest of the interface is for pages of its own origin, which need no header for it. Starlette's
middleware is not used: it would answer a preflight in plain text, and one that asks for too much
with an error of its own, and it cannot stand both outside of what turns a crash into an answer and
inside of what gives each answer its request id.
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
    # Browsers keep it for two hours at most.
    "Access-Control-Max-Age": "7200",
}


class CorsHeaders:
    """ASGI middleware, outside of all others: every answer of an open path may be read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if not _is_open(scope):
            await self._app(scope, receive, send)
            return

        async def opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = "*"
                headers["Access-Control-Expose-Headers"] = ", ".join(_READABLE)
            await send(message)

        await self._app(scope, receive, opened)


class Preflights:
    """ASGI middleware that answers a browser's question what it may send to an open path."""

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
