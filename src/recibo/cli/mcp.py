"""`recibo mcp`: serves receipts to agents by the Model Context Protocol."""

import asyncio
import gc
import socket
import sys
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recibo.extract.document.limits import MAX_BYTES
from recibo.mcp.folders import Folders
from recibo.mcp.local_later import LocalReceiptsLater

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from recibo.mcp.remote import RemoteReceipts

# As in a shell: 128 plus the signal's number.
_EXIT_INTERRUPTED = 130
# A document in Base64, and what stands around it.
_MOST_BODY = MAX_BYTES * 4 // 3 + 65_536


# How long requests in flight may take to end.
_GRACE_S = 5


class StartError(Exception):
    """The server's options cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is served, and where."""

    folders: tuple[Path, ...]
    store: Path
    allows_writes: bool
    #: None serves on stdin and stdout.
    http: tuple[str, int] | None
    #: None reads on this machine.
    server: str | None = None


def run(settings: Settings) -> int:
    """Serve until stdin ends or a signal comes, and return the exit status."""
    try:
        folders = Folders.of(settings.folders)
    except OSError as e:
        sys.stderr.write(f"recibo: {e.filename}: {e.strerror}\n")
        return 1
    # The SDK makes a hundred thousand objects that stay: collecting them is a tenth of the start.
    gc.disable()
    try:
        # Before the client is imported. Outside the event loop, whose handler of Ctrl-C would not
        # end the wait for a line. A person in a terminal gets the errors of the start at once.
        if settings.http is None and not sys.stdin.isatty():
            from recibo.mcp import handshake

            handshake.answer_first()
        receipts = _receipts(settings, folders)
        asyncio.run(_serve(settings, receipts, folders))
    except StartError as e:
        sys.stderr.write(f"recibo: {e}\n")
        return 1
    except OSError as e:
        sys.stderr.write(f"recibo: cannot serve: {e.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    return 0


async def _serve(
    settings: Settings, receipts: "LocalReceiptsLater | RemoteReceipts", folders: Folders
) -> None:
    from recibo.mcp import server

    gc.freeze()
    gc.enable()
    async with aclosing(receipts):
        made = server.build(receipts, folders, allows_writes=settings.allows_writes)
        if settings.http is None:
            await made.run_stdio_async()
            return
        await _serve_http(made, *settings.http)


def _receipts(settings: Settings, folders: Folders) -> "LocalReceiptsLater | RemoteReceipts":
    if settings.server is None:
        return LocalReceiptsLater(settings.store, folders)
    from recibo.mcp.remote import RemoteReceipts
    from recibo_client import AsyncRecibo, ReciboError

    try:
        return RemoteReceipts(AsyncRecibo(base_url=settings.server))
    except ReciboError as e:
        raise StartError(str(e)) from None


async def _serve_http(made: "MCPServer", host: str, port: int) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        port = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]", shown)]
        # A page of another site must reach it neither directly nor by rebinding a name.
        security = TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        )
        app = made.streamable_http_app(
            transport_security=security, max_request_body_size=_MOST_BODY
        )
        sys.stderr.write(f"Recibo serves MCP on http://{shown}:{port}/mcp\n")
        sys.stderr.flush()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE_S)
        await uvicorn.Server(config).serve([listening])
