"""A TCP proxy to a local server that can be cut, hang and be restored."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TcpProxy:
    """Forwards connections to a port."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._is_cut = False
        self._hangs = False
        self._under_way = set[asyncio.Task[None]]()
        self.port = 0

    def cut(self) -> None:
        """Refuse connections and close the open ones."""
        self._is_cut = True
        for task in self._under_way:
            task.cancel()

    def hang(self) -> None:
        """Accept connections but forward nothing."""
        self._hangs = True

    def restore(self) -> None:
        """Forward connections again."""
        self._is_cut = self._hangs = False

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def ended(self) -> None:
        """Close all connections and wait for their end."""
        self.cut()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _closing(writer):
            if self._is_cut:
                return
            if self._hangs:
                await asyncio.Event().wait()
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
            async with _closing(back):
                await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def run_tcp_proxy(port: int) -> AsyncIterator[TcpProxy]:
    """Run a proxy to a port of loopback while the block lasts."""
    passing = TcpProxy(port)
    server = await asyncio.start_server(passing.pass_on, "127.0.0.1", 0)
    passing.port = server.sockets[0].getsockname()[1]
    try:
        yield passing
    finally:
        server.close()
        await passing.ended()
        await server.wait_closed()
