"""Webhook receivers on this machine: real servers, well-behaved and misbehaving."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@dataclass(frozen=True, slots=True)
class Request:
    """A received request."""

    line: str
    #: By names in lower case.
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Receiver:
    """The requests that a server got, and its answers."""

    #: Sent as it is, once a request is in.
    answer: bytes = OK
    #: Does something else instead of answering.
    manner: "Manner | None" = None
    #: The number of connections.
    connections: int = 0
    requests: list[Request] = field(default_factory=list)
    #: The names that clients asked for with TLS.
    asked_for: list[str | None] = field(default_factory=list)
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def received(self, count: int) -> list[Request]:
        """Wait for this many requests and return all."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request of a connection, and answer it."""
        self.connections += 1
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                request = await _read(reader)
                async with self._came:
                    self.requests.append(request)
                    self._came.notify_all()
                if self.manner is not None:
                    await self.manner(writer)
                else:
                    writer.write(self.answer)
                    await writer.drain()
        finally:
            writer.close()


Manner = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def receiving(
    receiver: Receiver, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serve on a port of loopback."""
    if tls is not None:
        tls.sni_callback = lambda _, name, __: receiver.asked_for.append(name)
    async with serving(receiver.serve, host=host, port=port, tls=tls) as chosen:
        yield chosen


@asynccontextmanager
async def serving(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Do something with each connection; what it does ends with the block."""
    tasks = set[asyncio.Task[None]]()
    writers = list[asyncio.StreamWriter]()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, host, port, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in (ending := list(tasks)):
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        for writer in writers:
            assert isinstance(writer.transport, asyncio.WriteTransport)
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()


async def hang(_: asyncio.StreamWriter) -> None:
    """Never say a word."""
    await asyncio.Event().wait()


def dripping(beginning: bytes, drop: bytes) -> Manner:
    """Send a beginning, then drip more data endlessly."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.005)

    return drip


def pouring(beginning: bytes, gush: bytes) -> Manner:
    """Send a beginning, then endless data as fast as possible."""

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        while True:
            writer.write(gush)
            await writer.drain()

    return pour


def answer(status: int, *headers: str, body: bytes = b"") -> bytes:
    """Return an answer as bytes."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
    return Request(line, headers, await reader.readexactly(int(headers.get("content-length", 0))))
