"""Set the security headers and the session cookies of every page."""

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recibo.web.cookies import clear_session, set_session
from recibo.web.security_headers import ALWAYS
from recibo.web.services import Services

#: The attribute of the request's state with the tokens of a new session; None ends the session.
SESSION = "portal_session"


# Hosts that a policy may contain; for others only the scheme is used.
_PLAIN_HOST = re.compile(r"[a-z0-9.-]+")
_CONNECTS = "; connect-src 'self'"


def policy(*form_targets: str, images: Collection[str] = (), connects: bool = False) -> str:
    """Return the content security policy of a page.

    Args:
        form_targets: Other origins to which its forms may redirect.
        images: Other origins from which it may load images.
        connects: Whether its scripts may send requests to this server.
    """
    targets = " ".join(("'self'", *form_targets))
    image_sources = " ".join(("'self'", *images))
    return (
        "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; "
        f"img-src {image_sources}; form-action {targets}; base-uri 'none'; frame-ancestors 'none'"
        f"{_CONNECTS if connects else ''}"
    )


def source_of(url: str) -> str:
    """Return the origin of a URL as a CSP source."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if not _PLAIN_HOST.fullmatch(host):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


_ALWAYS = {**ALWAYS, "Cache-Control": "no-store", "Content-Security-Policy": policy()}


def add_to(answer: Response) -> None:
    """Add the headers of every page to an answer."""
    for name, value in _ALWAYS.items():
        answer.headers.setdefault(name, value)


class Headers:
    """ASGI middleware that adds headers to all pages, including error pages."""

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
            # HEAD is answered like GET, without a body.
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
