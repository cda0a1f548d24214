"""Around every request: its id, its log line, its metrics, and the answer to a crash."""

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recibo.api import errors, metrics, rate_limits
from recibo.errors import HeadersTooLarge, ServiceError, ValidationFailed
from recibo.lib import ids
from recibo.web.http_protocol import REFUSAL

log = structlog.get_logger("recibo.requests")

#: The key of a request's state that holds headers for its answer, even for an error.
EXTRA_HEADERS = "extra_headers"

# The only secret in a path; a mistyped one is hidden, too.
_SECRET_IN_PATH = re.compile(r"(/verify-email/).+", re.DOTALL)
_WELL_FORMED_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# A client that is refused during its upload may send the rest before it reads the answer, and would
# lose the answer if the connection closed. So the answer is sent at once, and the rest is read and
# dropped within these limits.
_DRAIN_BYTES = 64 * 1024 * 1024
_DRAIN_SECONDS = 30
# `web.http_protocol` checks this while the head arrives; other servers do not.
_MAX_HEAD_BYTES = 64 * 1024
_CUT_BODY = ValidationFailed.of("body", "it ended early; send it again")
_NOT_ONE_HOST = ValidationFailed.of("Host", "send exactly one Host header")
# Clients can invent others, and each would be a new time series.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
#: Returns the page that answers a refused request; None if its path is none of a page.
PageOf = Callable[[Scope, ServiceError], Awaitable[Response | None]]


class RequestMiddleware:
    """ASGI middleware, the outermost one."""

    def __init__(self, app: ASGIApp, page_of: PageOf | None = None) -> None:
        self._app = app
        self._page_of = page_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get("x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await _Exchange(scope, receive, send, request_id, self._page_of).run(self._app)


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        request_id: str,
        page_of: PageOf | None,
    ) -> None:
        self._page_of = page_of
        self._scope = scope
        self._receive = receive
        self._send = send
        self._request_id = request_id
        self._status = 500
        self._is_answered = False
        self._body_instead: bytes | None = None
        headers = Headers(scope=scope)
        # A request with neither header has no body (RFC 9112, section 6).
        self._has_body_left = "content-length" in headers or "transfer-encoding" in headers
        if _head_bytes(scope) > _MAX_HEAD_BYTES:
            scope["state"].setdefault(REFUSAL, HeadersTooLarge())
        if not _has_valid_host(scope, headers):
            scope["state"].setdefault(REFUSAL, _NOT_ONE_HOST)
        self._started = time.perf_counter()

    async def run(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        """Run the app, and answer for it when it fails."""
        if self._refusal is not None:
            app = await self._render(self._refusal)
        try:
            with contextlib.suppress(ClientDisconnect):
                await app(self._scope, self._receive_body, self._answer)
            if not self._is_answered:
                # The client reads it only if the server closed a body that was too slow.
                answer = await self._render(_CUT_BODY)
                await answer(self._scope, self._receive_body, self._answer)
        except Exception:
            # The last handler: the client always gets JSON.
            log.exception("request failed")
            if not self._is_answered:
                answer = errors.unexpected(self._request_id)
                await answer(self._scope, self._receive_body, self._answer)
        finally:
            self._report()

    @property
    def _refusal(self) -> ServiceError | None:
        """The error of the server's protocol, which refuses the request."""
        refusal: ServiceError | None = self._scope["state"].get(REFUSAL)
        return refusal

    async def _receive_body(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._has_body_left = False
        return message

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_answered = True
            message = await self._checked(message)
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._request_id
            for name, value in self._scope["state"].get(EXTRA_HEADERS, ()):
                headers.append(name, value)
            headers.update(await rate_limits.headers(self._scope, self._status))
        elif self._body_instead is not None:
            message = {**message, "body": self._body_instead}
            self._body_instead = b""
        if message["type"] == "http.response.body" and self._has_body_left:
            await self._answer_and_drain(message)
            return
        await self._send(message)

    async def _checked(self, message: Message) -> Message:
        """Return the start of the answer, or of a refusal: too slow, or too many requests."""
        refusal = await rate_limits.refusal(self._scope) or self._refusal
        if refusal is None:
            return message
        instead = await self._render(refusal)
        self._body_instead = bytes(instead.body)
        return {**message, "status": instead.status_code, "headers": instead.raw_headers}

    async def _render(self, refusal: ServiceError) -> Response:
        page = await self._page_of(self._scope, refusal) if self._page_of else None
        return page or errors.render(refusal, self._request_id)

    async def _answer_and_drain(self, message: Message) -> None:
        """Send a part of the answer; after the last one, read the rest of the body first."""
        await self._send({**message, "more_body": True})
        if not message.get("more_body", False):
            await self._drain()
            await self._send({"type": "http.response.body", "body": b""})

    async def _drain(self) -> None:
        drained = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while self._has_body_left and drained < _DRAIN_BYTES:
                    drained += len((await self._receive_body()).get("body", b""))

    def _report(self) -> None:
        seconds = time.perf_counter() - self._started
        route = getattr(self._scope.get("route"), "path", "unknown")
        method = self._scope["method"]
        label = method if method in _METHODS else "other"
        metrics.REQUESTS.labels(label, route, str(self._status)).observe(seconds)
        log.info(
            "request",
            method=method,
            path=_SECRET_IN_PATH.sub(r"\1…", self._scope["path"]),
            status=self._status,
            ms=round(seconds * 1000, 1),
        )


def _head_bytes(scope: Scope) -> int:
    sizes = (len(name) + len(value) for name, value in scope["headers"])
    return len(scope["path"]) + len(scope["query_string"]) + sum(sizes)


def _has_valid_host(scope: Scope, headers: Headers) -> bool:
    """Return whether there is one Host header, as RFC 9112 requires; HTTP/1.0 may omit it."""
    count = len(headers.getlist("host"))
    return count == 1 or (count == 0 and scope.get("http_version") == "1.0")


def _request_id(given: str | None) -> str:
    if given is not None and _WELL_FORMED_ID.fullmatch(given):
        return given
    return ids.new("req")
