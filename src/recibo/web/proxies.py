"""Where a request comes from: the peer of its socket, or whom a trusted proxy names."""

import ipaddress
from collections.abc import Sequence
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from recibo.lib import ip_addresses

_SCHEMES = {"http", "https"}


class Proxies:
    """ASGI middleware, the outermost one: settles each request's client and scheme.

    `X-Forwarded-For` and `X-Forwarded-Proto` count only from a trusted peer, and of the addresses
    only the last that no trusted proxy has. What is no address leaves the peer in its place.
    """

    def __init__(self, app: ASGIApp, *, trusted: Sequence[str], limits_loopback: bool) -> None:
        self._app = app
        self._limits_loopback = limits_loopback
        self._believing = ProxyHeadersMiddleware(cast("Any", self._settle), list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = _normal(scope.get("client"))
        scope["client"] = peer
        scope.setdefault("state", {})["peer"] = peer
        await self._believing(cast("Any", scope), cast("Any", receive), cast("Any", send))

    async def _settle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope["state"]
        peer = state.pop("peer")
        is_told = scope["client"] is not peer
        if is_told:
            scope["client"] = _normal(scope["client"]) or peer
        if scope["scheme"] not in _SCHEMES:
            scope["scheme"] = "http"
        #: Somebody on this very machine, with no proxy between.
        state["is_loopback"] = not is_told and peer is not None and _is_loopback(peer[0])
        state["is_limited_by_ip"] = self._limits_loopback or not state["is_loopback"]
        await self._app(scope, receive, send)


def _normal(client: Sequence[Any] | None) -> tuple[str, int] | None:
    """Return an address in its one spelling; None for none."""
    address = ip_addresses.normalized(client[0] if client else "")
    return None if address is None else (address, 0)


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
