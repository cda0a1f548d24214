"""Running processes: the server and the worker."""

import asyncio
import contextlib
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import cast

import uvicorn

from recibo import app, startup
from recibo.lib import logs
from recibo.services.identity.demo_org import Demo
from recibo.settings import Settings
from recibo.startup import StartError
from recibo.web.connections import Bounds, Connections, exemption
from recibo.web.http_protocol import BoundedProtocol

# Requests in flight get so long to end when the server is told to stop.
_GRACE_SECONDS = 10
_STOPPING = (signal.SIGINT, signal.SIGTERM)
# Each upload takes four, and readers and databases some.
_OPEN_FILES = 65_536
# uvicorn ticks ten times a second.
_TICKS_PER_SWEEP = 10


def serve(settings: Settings, *, host: str, port: int, with_worker: bool) -> int:
    """Serve until told to stop; returns the status to exit with."""
    logs.configure()
    return startup.run(_serve(settings, host=host, port=port, with_worker=with_worker))


def work(settings: Settings) -> int:
    """Read what is owed until told to stop."""
    logs.configure()
    return startup.run(_work(settings))


class _Server(uvicorn.Server):
    """Says where it listens, once it does, and stops without dying of the signal."""

    def __init__(
        self, config: uvicorn.Config, connections: Connections, outbox: Path | None
    ) -> None:
        super().__init__(config)
        self._connections = connections
        #: Where mail is written that is not sent; None where it is, or nobody may read it.
        self._outbox = outbox

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a signal; the original raises it again, and the house would never be closed."""
        loop = asyncio.get_running_loop()
        for one in _STOPPING:
            loop.add_signal_handler(one, self.handle_exit, one, None)
        try:
            yield
        finally:
            for one in _STOPPING:
                loop.remove_signal_handler(one)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                url = _url(listening)
                sys.stdout.write(f"Recibo listens on {url}, documents at {url}/docs\n")
                if self._outbox is not None:
                    inbox = f"{_reachable(url)}/portal/inbox"
                    sys.stdout.write(f"Mail is written to {self._outbox}; read it at {inbox}\n")
        sys.stdout.flush()

    async def on_tick(self, counter: int) -> bool:
        """End connections that keep the server waiting, each second."""
        if counter % _TICKS_PER_SWEEP == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


async def _serve(settings: Settings, *, host: str, port: int, with_worker: bool) -> None:
    bounds = Bounds.within(_raise_open_files())
    connections = Connections(
        bounds,
        is_exempt=exemption(settings.proxies, limits_loopback=settings.loopback_is_limited),
    )
    # First, so that no demo key is told by a server that cannot listen.
    listening = _listening(host, port)
    on_first_start = partial(_print_demo_key, _url(listening))
    address = _reachable(_url(listening))
    async with app.lifespan(
        settings, with_worker=with_worker, address=address, on_first_start=on_first_start
    ) as asgi:
        server = _Server(
            uvicorn.Config(
                asgi,
                http=cast(
                    "type[asyncio.Protocol]", partial(BoundedProtocol, connections=connections)
                ),
                # There are none, and their handshake would need limits of its own.
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                # It would believe every process of this machine; `recibo.web.proxies` does better.
                proxy_headers=False,
                lifespan="off",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            ),
            connections,
            app.inbox_of(settings),
        )
        await server.serve([listening])


def _raise_open_files() -> int:
    """Let this process open as many files as it may, within reason, and return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return most if soft == resource.RLIM_INFINITY else soft


async def _work(settings: Settings) -> None:
    stopped = asyncio.Event()
    for one in _STOPPING:
        asyncio.get_running_loop().add_signal_handler(one, stopped.set)
    async with app.worker(settings):
        await stopped.wait()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as e:
        message = f"cannot listen on {host}, port {port} ({e}); choose another --host or --port."
        raise StartError(message) from e
    # Those accepted inherit it; without it each answer waits 40 ms for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _reachable(url: str) -> str:
    """Name this machine where the address stands for all of its own."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _print_demo_key(url: str, made: Demo) -> None:
    curl = f'curl -H "X-API-Key: {made.key}" -F file=@docs/pictures/receipt.png {url}/v1/extract'
    sys.stdout.write(
        f"\nA demo org is ready. Its API key, shown only this once:\n\n  {made.key}\n\n"
        f"Try it:\n\n  {curl}\n\n"
        f"Its owner signs in at {url}/portal with this password, shown only this once, too:\n\n"
        f"  {made.email}\n  {made.password}\n\n"
    )
    sys.stdout.flush()
