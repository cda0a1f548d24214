"""Running processes: the server, the worker, and the operator's short commands."""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

import uvicorn

from recibo import app
from recibo.errors import ServiceError
from recibo.kit import logs
from recibo.services import keys, orgs
from recibo.settings import Settings
from recibo.shapes.states import Scope
from recibo.store.db import migrate as migrate_database
from recibo.store.lock import FolderInUseError

# Requests in flight get so long to end when the server is told to stop.
_GRACE_SECONDS = 10


def serve(settings: Settings, *, host: str, port: int, works: bool) -> int:
    """Serve until told to stop; returns the status to exit with."""
    logs.configure()
    return _run(_serve(settings, host=host, port=port, works=works))


def work(settings: Settings) -> int:
    """Read what is owed until told to stop."""
    logs.configure()
    return _run(_work(settings))


def migrate(settings: Settings) -> int:
    """Bring the database to this version."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return _run(migrate_database(settings.database))


def create_key(settings: Settings, *, org: str, name: str, scopes: Sequence[str] | None) -> int:
    """Make an API key and print its secret."""
    return _run(_create_key(settings, org=org, name=name, scopes=scopes))


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                sys.stdout.write(f"Recibo listens on http://{host}:{port}, documents at /docs\n")
        sys.stdout.flush()


async def _serve(settings: Settings, *, host: str, port: int, works: bool) -> None:
    async with app.opened(settings, works=works, greet=_greet) as asgi:
        server = _Server(
            uvicorn.Config(
                asgi,
                host=host,
                port=port,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        await server.serve()
        if not server.started:
            message = f"cannot listen on {host}:{port}; choose another --port."
            raise app.StartError(message)


async def _work(settings: Settings) -> None:
    stopped = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, stopped.set)
    async with app.worker(settings):
        await stopped.wait()


async def _create_key(
    settings: Settings, *, org: str, name: str, scopes: Sequence[str] | None
) -> None:
    wanted = [Scope(one) for one in scopes or (Scope.READ, Scope.WRITE)]
    async with app.database_of(settings) as database, database.write() as session:
        org_id = await orgs.named(session, org)
        secret = keys.create(session, org_id, name=name, scopes=wanted)
    sys.stdout.write(f"{secret}\n")


def _greet(secret: str) -> None:
    sys.stdout.write(f"\nA demo org is ready. Its API key, shown only this once:\n\n  {secret}\n\n")
    sys.stdout.flush()


def _run(main: Coroutine[Any, Any, None]) -> int:
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(main)
    except (app.StartError, FolderInUseError, ServiceError, ValueError) as e:
        sys.stderr.write(f"recibo: {e}\n")
        return 1
    return 0
