"""What every page says to the browser: who may see it, load into it, frame it; and the cookies."""

from typing import Any

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recibo.web.cookies import clear_session, set_session
from recibo.web.services import Services

#: Where a route leaves the tokens of the session that begins with the answer; None ends it.
SESSION = "portal_session"


def policy(*form_targets: str) -> str:
    """Return the content security policy of a page whose forms may lead to these sources, too."""
    targets = " ".join(("'self'", *form_targets))
    return (
        f"default-src 'none'; style-src 'self'; img-src 'self'; form-action {targets}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


_ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": policy(),
    "Cross-Origin-Opener-Policy": "same-origin",
    # Addresses of pages hold tokens; no site is told more than where we are. `no-referrer` would
    # make browsers send `Origin: null` with our own forms, which reads as a foreign page.
    "Referrer-Policy": "strict-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Headers:
    """ASGI middleware around all pages, those of errors too."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one page."""
        is_head = scope["method"] == "HEAD"

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add_to(MutableHeaders(scope=message), scope)
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        if is_head:
            # Whoever asks what a link leads to gets the answer of GET.
            scope["method"] = "GET"
        await self._app(scope, receive, answer)

    def _add_to(self, headers: MutableHeaders, scope: Scope) -> None:
        for name, value in _ALWAYS.items():
            headers.setdefault(name, value)
        state: dict[str, Any] = scope["state"]
        if SESSION in state:
            for cookie in self._cookies(Request(scope), state[SESSION]):
                headers.append("Set-Cookie", cookie)

    def _cookies(self, request: Request, tokens: Any) -> list[str]:
        response = Response()
        if tokens is None:
            clear_session(response, request, self._services)
        else:
            set_session(response, tokens, request, self._services)
        return response.headers.getlist("set-cookie")
