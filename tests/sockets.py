"""Serves an app on a real socket of this process; tests control the time."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from recibo.web.connections import Bounds, Connections
from recibo.web.http_protocol import BoundedProtocol

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The error code."""
        return str(json.loads(self.body)["error"]["code"])


class Client:
    """One connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    def stop_reading(self) -> None:
        """Stop reading, so that the system's buffers fill up."""
        cast("asyncio.ReadTransport", self.writer.transport).pause_reading()

    def go_on_reading(self) -> None:
        """Read again."""
        cast("asyncio.ReadTransport", self.writer.transport).resume_reading()

    async def answer(self) -> Answer:
        """Return the next answer."""
        async with asyncio.timeout(PATIENCE_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            status, *lines = head.split("\r\n")[:-2]
            headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in lines)}
            return Answer(int(status.split(" ")[1]), headers, await self._body(headers))

    async def is_closed(self) -> bool:
        """Read to the end; return whether no more bytes came."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return body


@dataclass(frozen=True, slots=True)
class Listening:
    """A server that listens."""

    port: int
    connections: Connections
    state: ServerState
    #: The sizes of what has come.
    received: list[int]

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Connect."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Client(reader, writer)
        finally:
            writer.close()

    async def ask(self, request: bytes) -> Answer:
        """Send one request over a new connection."""
        async with self.client() as client:
            await client.send(request)
            return await client.answer()

    @property
    def unsent(self) -> int:
        """The number of bytes in the write buffers."""
        transports = [cast("BoundedProtocol", one).transport for one in self.state.connections]
        return sum(one.get_write_buffer_size() for one in transports)

    def pass_time(self, seconds: float) -> None:
        """Sweep all connections as if this much time had passed."""
        self.connections.sweep(asyncio.get_running_loop().time() + seconds)

    async def has_received(self, count: int) -> None:
        """Wait until this many bytes have been received over all connections."""
        await self.until(lambda: sum(self.received) >= count)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0)


@asynccontextmanager
async def listening(
    asgi: ASGIApp, bounds: Bounds | None = None, *, limits_peers: bool = False
) -> AsyncIterator[Listening]:
    """Serve an app on a free port; only with `limits_peers` an address has few connections."""
    connections = Connections(bounds or Bounds(), is_exempt=lambda _: not limits_peers)
    state = ServerState()
    config = uvicorn.Config(cast("Any", asgi), log_config=None, lifespan="off", ws="none")

    received = list[int]()

    class Counting(BoundedProtocol):
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            received.append(len(data))

    def protocol() -> BoundedProtocol:
        return Counting(config=config, server_state=state, app_state={}, connections=connections)

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    try:
        yield Listening(server.sockets[0].getsockname()[1], connections, state, received)
    finally:
        server.close()
        for connection in list(state.connections):
            cast("BoundedProtocol", connection).drop()
        await asyncio.gather(*state.tasks, return_exceptions=True)
        await server.wait_closed()
