"""The commands `serve` and `worker`."""

import asyncio
import contextlib
import gc
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import cast

import uvicorn
from fastapi import FastAPI

from recibo import app, startup
from recibo.lib import logs
from recibo.services.identity.demo_org import Demo
from recibo.settings import Settings
from recibo.startup import StartError
from recibo.web.connections import Bounds, Connections, exemption
from recibo.web.http_protocol import BoundedProtocol

# How long requests in flight may take to end when the server stops.
_GRACE_SECONDS = 10
_STOPPING = (signal.SIGINT, signal.SIGTERM)
# Each upload needs four; readers and databases need some, too.
_OPEN_FILES = 65_536
# uvicorn ticks ten times a second.
_TICKS_PER_SWEEP = 10


def serve(settings: Settings, *, host: str, port: int, with_worker: bool) -> int:
    """Serve until a signal and return the exit status."""
    logs.configure()
    return startup.run(_serve(settings, host=host, port=port, with_worker=with_worker))


def work(settings: Settings) -> int:
    """Process pending documents until a signal and return the exit status."""
    logs.configure()
    return startup.run(_work(settings))


class _Server(uvicorn.Server):
    """Prints its address when it listens, and stops cleanly on a signal."""

    def __init__(
        self, config: uvicorn.Config, connections: Connections, outbox: Path | None
    ) -> None:
        super().__init__(config)
        self._connections = connections
        #: The folder of unsent mails, if the portal shows them.
        self._outbox = outbox

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on a signal; the original raises it again, so resources would not be closed."""
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
        _freeze()
        for server in self.servers:
            for listening in server.sockets:
                url = _url(listening)
                sys.stdout.write(f"Recibo listens on {url}, documents at {url}/docs\n")
                if self._outbox is not None:
                    inbox = f"{_reachable(url)}/portal/inbox"
                    sys.stdout.write(f"Mail is written to {self._outbox}; read it at {inbox}\n")
        sys.stdout.flush()

    async def on_tick(self, counter: int) -> bool:
        """Close slow connections, once a second."""
        if counter % _TICKS_PER_SWEEP == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


async def _serve(settings: Settings, *, host: str, port: int, with_worker: bool) -> None:
    bounds = Bounds.within(_raise_open_files())
    connections = Connections(
        bounds,
        is_exempt=exemption(settings.proxies, limits_loopback=settings.loopback_is_limited),
    )
    # First, so that a server that cannot listen prints no demo key.
    with _listening(host, port) as listening:
        on_first_start = partial(_print_demo_key, _url(listening))
        address = _reachable(_url(listening))
        async with app.lifespan(
            settings, with_worker=with_worker, address=address, on_first_start=on_first_start
        ) as asgi:
            config = _config(asgi, connections)
            await _Server(config, connections, app.inbox_of(settings)).serve([listening])


def _config(asgi: FastAPI, connections: Connections) -> uvicorn.Config:
    return uvicorn.Config(
        asgi,
        http=cast("type[asyncio.Protocol]", partial(BoundedProtocol, connections=connections)),
        # Unused, and the handshake would need separate limits.
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # uvicorn would trust every local process; `recibo.web.proxies` does not.
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


def _raise_open_files() -> int:
    """Raise the limit on open files, at most to `_OPEN_FILES`, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return most if soft == resource.RLIM_INFINITY else soft


def _freeze() -> None:
    """Keep what the start made out of later garbage collections.

    They would visit a quarter of a million objects that stay anyway, which is a third of the time
    of an export.
    """
    gc.freeze()


async def _work(settings: Settings) -> None:
    stopped = asyncio.Event()
    for one in _STOPPING:
        asyncio.get_running_loop().add_signal_handler(one, stopped.set)
    async with app.worker(settings):
        _freeze()
        await stopped.wait()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as e:
        message = f"cannot listen on {host}, port {port} ({e}); choose another --host or --port."
        raise StartError(message) from e
    # Inherited by accepted sockets; without it each answer waits 40 ms for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _reachable(url: str) -> str:
    """Replace a wildcard address by loopback."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _print_demo_key(url: str, demo: Demo) -> None:
    curl = f'curl -H "X-API-Key: {demo.key}" -F file=@docs/pictures/receipt.png {url}/v1/extract'
    sys.stdout.write(
        f"\nA demo org is ready. Its API key, shown only this once:\n\n  {demo.key}\n\n"
        f"Try it:\n\n  {curl}\n\n"
        f"Its owner signs in at {url}/portal with this password, shown only this once, too:\n\n"
        f"  {demo.email}\n  {demo.password}\n\n"
    )
    sys.stdout.flush()
