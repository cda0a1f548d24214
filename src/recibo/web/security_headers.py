"""The security headers of every answer."""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recibo.web.services import Services

#: On all answers; a route may set its own.
ALWAYS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    # URLs of pages hold tokens, so other sites get the origin only. `no-referrer` would make
    # browsers send `Origin: null` with the portal's forms, as if from another site.
    "Referrer-Policy": "strict-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_BY_TLS_ONLY = "max-age=31536000"


class SecurityHeaders:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_data: bool = scope["path"].startswith("/v1/")
        is_by_tls = scope["scheme"] == "https" or self._services.is_production

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                if is_data:
                    headers.setdefault("Cache-Control", "no-store")
                if is_by_tls:
                    headers["Strict-Transport-Security"] = _BY_TLS_ONLY
            await send(message)

        await self._app(scope, receive, answer)
