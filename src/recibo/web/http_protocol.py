"""HTTP/1.1 with limits on size and time, so that slow clients cannot use up connections or memory.

uvicorn's protocol limits neither the size of heads nor, except for idle connections, the time. The
app answers what is refused here like any other error: its scope holds the error under `REFUSAL`.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from recibo.errors import (
    HeadersTooLarge,
    Overloaded,
    RequestTimeout,
    ServiceError,
    ValidationFailed,
)
from recibo.lib import ip_addresses
from recibo.web.connections import Connections, TransferRate

#: The key of a request's state that holds the error to answer it with.
REFUSAL = "refusal"

# Bytes that the parser gets at a time; more would pass the limits before they are checked.
_PIECE = 16 * 1024
# Request line, separators of a header, the empty line.
_LINE_BYTES, _SEPARATOR_BYTES = 16, 4
# Longer paths are cut in the log of a refused request.
_MAX_PATH = 256
_OPERATIONS = frozenset({"/healthz", "/readyz", "/metrics"})


class _Wire(Protocol):
    """The part of asyncio's transport that is used here."""

    def write(self, data: bytes) -> None: ...
    def write_eof(self) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def is_closing(self) -> bool: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def is_reading(self) -> bool: ...
    def get_write_buffer_size(self) -> int: ...
    def get_extra_info(self, name: str, default: Any = None) -> Any: ...


class _Transport:
    """A transport that counts the bytes written, and lets the client read an early answer.

    Closing a socket with unread input resets the connection, and the answer is lost. So only the
    sending side is closed, and further input is dropped for a while.
    """

    def __init__(self, wire: _Wire, has_unread: Callable[[], bool]) -> None:
        self._wire = wire
        self._has_unread = has_unread
        self.given = 0
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wire, name)

    def write(self, data: bytes) -> None:
        if not self.is_lingering:
            self.given += len(data)
            self._wire.write(data)

    def close(self) -> None:
        if self.is_lingering:
            return
        if not self._has_unread() or self._wire.is_closing():
            self._wire.close()
            return
        self.is_lingering = True
        if not self._wire.is_reading():
            self._wire.resume_reading()
        self._wire.write_eof()

    def is_closing(self) -> bool:
        return self.is_lingering or self._wire.is_closing()


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, connections: Connections, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connections = connections
        self._bounds = connections.bounds
        #: None when connections of the address are not limited.
        self.subject: str | None = None
        self._is_surplus = False
        # All further input is dropped.
        self._is_deaf = False
        self._is_in_head, self._has_begun = True, False
        # Of the arriving head: its bytes, those parsed, and when the wait for it began.
        self._head_bytes = 0
        self._parsed_bytes = 0
        self._head_since: float | None = None
        # Of the arriving body.
        self._body: TransferRate | None = None
        self._body_since = 0.0
        # Sizes and extensions of chunks, and trailers, since the last byte of the body.
        self._framing = 0
        self._answers: TransferRate | None = None
        self._judged = 0
        self._lingers_since: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no request is under way."""
        return not self._is_answering and self._is_in_head and not self._unsent

    @property
    def _is_answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    @property
    def _unsent(self) -> int:
        return int(self.transport.get_write_buffer_size())

    def connection_made(self, transport: Any) -> None:
        """Register the connection and wait for the first head."""
        self._line = _Transport(transport, self._has_unread)
        super().connection_made(cast("Any", self._line))
        self._head_since = self.loop.time()
        address = ip_addresses.normalized(self.client[0]) if self.client else None
        self.subject = self._connections.subject_of(address)
        self._is_surplus = not self._connections.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._connections.leave(self)
        super().connection_lost(exc)

    def _has_unread(self) -> bool:
        return self._is_deaf or self._body is not None

    def drop(self) -> None:
        """Close the connection at once."""
        self._is_deaf = True
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse the input, piece by piece."""
        for start in range(0, len(data), _PIECE):
            if self._is_deaf or self.transport.is_closing():
                return
            self._feed(data[start : start + _PIECE] if len(data) > _PIECE else data)

    def _feed(self, piece: bytes) -> None:
        if self._is_in_head:
            self._head_bytes += len(piece)
            if self._head_since is None:
                self._head_since = self.loop.time()
        self._framing += len(piece)
        super().data_received(piece)
        if self._is_deaf:
            return
        if self._is_in_head and self._head_bytes > self._bounds.head_bytes:
            self._refuse(HeadersTooLarge())
        elif self._body is not None and self._framing > self._bounds.head_bytes:
            self._end_body(
                ValidationFailed.of("body", "its chunks hold too little; send more at once")
            )

    def send_400_response(self, msg: str) -> None:
        """Answer input that is not HTTP with the usual error body."""
        error = ValidationFailed(msg)
        if self._body is None:
            self._refuse(error)
        else:
            self._end_body(error)

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._has_begun, self._parsed_bytes = True, _LINE_BYTES
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Store a part of the URL."""
        self._parsed_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; trailers after a body are ignored."""
        if self._is_in_head:
            self._parsed_bytes += len(name) + len(value) + _SEPARATOR_BYTES
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin a request, unless it must be refused."""
        if self._is_deaf:
            return
        if self._parsed_bytes > self._bounds.head_bytes:
            self._refuse(HeadersTooLarge())
        elif len(self.pipeline) >= self._bounds.pipelined:
            # The client sends again what was not answered (RFC 9112, section 9.3.2).
            self._close_after_answers()
        else:
            super().on_headers_complete()
            self._is_in_head, self._head_since, self._framing = False, None, 0
            self._body_since = self.loop.time()
            self._body = TransferRate(self._bounds, self._body_since)

    def on_body(self, body: bytes) -> None:
        """Store a part of a body."""
        if self._is_deaf:
            return
        self._framing = 0
        if self._body is not None:
            self._body.count(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body, and wait for the next head."""
        if self._is_deaf:
            return
        self._body = None
        self._is_in_head, self._has_begun, self._head_bytes = True, False, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the next request, or close the connection if a body is still arriving."""
        if self._body is not None and not self.pipeline:
            self._is_deaf = True
            self.transport.close()
        super().on_response_complete()

    def check(self, now: float) -> None:
        """Close the connection if the server has waited too long."""
        if self._is_answer_late(now):
            self.drop()
        elif self._line.is_lingering:
            self._check_lingering(now)
        elif not self._is_deaf:
            self._check_input(now)

    def _check_lingering(self, now: float) -> None:
        if self._unsent or self._lingers_since is None:
            self._lingers_since = now
        elif now - self._lingers_since >= self._bounds.linger_seconds:
            self.drop()

    def _is_answer_late(self, now: float) -> bool:
        unsent = self._unsent
        if not unsent:
            self._answers = None
            return False
        taken = self._line.given - unsent
        if self._answers is None:
            self._answers = TransferRate(self._bounds, now)
        else:
            self._answers.count(taken - self._judged)
        self._judged = taken
        return self._answers.is_late(now)

    def _check_input(self, now: float) -> None:
        if self.flow.read_paused or (
            self._body is not None and self.cycle.waiting_for_100_continue
        ):
            # The client waits for the server.
            self._excuse(now)
        if self._head_since is not None and now - self._head_since >= self._bounds.head_seconds:
            self._end_head()
        elif self._body is not None:
            is_over = now - self._body_since >= self._bounds.body_seconds
            if self._body.is_late(now) or is_over:
                self._end_body(RequestTimeout())

    def _excuse(self, now: float) -> None:
        if self._head_since is not None:
            self._head_since = now
        if self._body is not None:
            self._body.excuse()

    def _end_head(self) -> None:
        if self._head_bytes:
            self._refuse(RequestTimeout())
        elif self.is_waiting:
            # The client would read an answer as that to its next request.
            self.drop()

    def _end_body(self, error: ServiceError) -> None:
        """Answer a request with an error instead of waiting for the rest of its body."""
        self._is_deaf = True
        self.cycle.keep_alive = False
        if self.cycle.response_complete:
            self.transport.close()
        self.cycle.scope["state"][REFUSAL] = error
        self.cycle.message_event.set()

    def _close_after_answers(self) -> None:
        self._is_deaf = True
        self.cycle.keep_alive = False

    def _refuse(self, error: ServiceError) -> None:
        """Answer an incomplete head with an error, in its turn, and read no more."""
        if self._is_deaf:
            return
        self._is_deaf = True
        cycle = self._cycle_of(error)
        is_answering, self.cycle = self._is_answering, cycle
        if is_answering:
            self.pipeline.appendleft((cycle, self.app))
        else:
            self._start_asgi_task(cycle, self.app)

    def _cycle_of(self, error: ServiceError) -> RequestResponseCycle:
        if not self._has_begun:
            self.on_message_begin()
        path = self.url.partition(b"?")[0][:_MAX_PATH].decode("latin-1")
        is_path = path.startswith("/")
        method = self.parser.get_method().decode("ascii")
        self.scope["method"] = method if is_path else "GET"
        self.scope["path"] = path if is_path else "/"
        self.scope["raw_path"] = self.scope["query_string"] = b""
        self.scope["state"][REFUSAL] = error
        cycle = RequestResponseCycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=False,
            on_response=self.on_response_complete,
        )
        cycle.message_event.set()
        return cycle

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        state = cycle.scope["state"]
        if self._is_surplus and cycle.scope["path"] not in _OPERATIONS:
            state.setdefault(REFUSAL, Overloaded(retry_after=1))
        if self._is_surplus:
            cycle.keep_alive = False
        super()._start_asgi_task(cycle, cast("Any", _Attended(app)))


class _Attended:
    """The app; it receives a disconnect once its request is refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def received() -> Message:
            if REFUSAL in scope["state"]:
                return {"type": "http.disconnect"}
            message = await receive()
            return {"type": "http.disconnect"} if REFUSAL in scope["state"] else message

        await self._app(scope, received, send)
