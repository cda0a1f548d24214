"""The client of a request: the peer of its socket, or the client that a trusted proxy names."""

import ipaddress
from collections.abc import Sequence
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from recibo.lib import ip_addresses

_SCHEMES = {"http", "https"}


class Proxies:
    """ASGI middleware, the outermost one: sets the client and scheme of each request.

    `X-Forwarded-For` and `X-Forwarded-Proto` count only from a trusted peer. The client is the last
    address that is not a trusted proxy's; without a valid one it is the peer.
    """

    def __init__(self, app: ASGIApp, *, trusted: Sequence[str], limits_loopback: bool) -> None:
        self._app = app
        self._limits_loopback = limits_loopback
        self._forwarded = ProxyHeadersMiddleware(cast("Any", self._settle), list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = _normal(scope.get("client"))
        scope["client"] = peer
        scope.setdefault("state", {})["peer"] = peer
        await self._forwarded(cast("Any", scope), cast("Any", receive), cast("Any", send))

    async def _settle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope["state"]
        peer = state.pop("peer")
        is_forwarded = scope["client"] is not peer
        if is_forwarded:
            scope["client"] = _normal(scope["client"]) or peer
        if scope["scheme"] not in _SCHEMES:
            scope["scheme"] = "http"
        # A client on this machine, without a proxy in between.
        state["is_loopback"] = not is_forwarded and peer is not None and _is_loopback(peer[0])
        state["is_limited_by_ip"] = self._limits_loopback or not state["is_loopback"]
        await self._app(scope, receive, send)


def _normal(client: Sequence[Any] | None) -> tuple[str, int] | None:
    """Return an address in canonical form; None if it is not one."""
    address = ip_addresses.normalized(client[0] if client else "")
    return None if address is None else (address, 0)


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
