"""How soon webhooks arrive, how many a second, and what a backlog costs those who upload.

    python -m benchmarks.webhooks [--documents 15] [--backlog 100000] [--distributed]

The server is a separate process, on SQLite, and so is the receiver. With --distributed an
API process and a worker share a PostgreSQL and a Redis, and only what is soon is measured.
"""

import argparse
import asyncio
import contextlib
import datetime as dt
import json
import multiprocessing
import queue
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx
import uvloop
from sqlalchemy import insert, select

from benchmarks import measuring, server
from benchmarks.measuring import Times
from recibo.lib import clock, ids
from recibo.schemas.states import DeliveryState, EventType
from recibo.store import tables
from recibo.store.db import Database, migrate
from tests import make_documents, servers
from tests.serving import running

if TYPE_CHECKING:
    # Not to be subscripted at run time.
    from multiprocessing.queues import Queue
    from multiprocessing.sharedctypes import Synchronized

MAX_SOON_MS = 200.0
MAX_SOON_DISTRIBUTED_MS = 300.0
MIN_A_SECOND = 200.0
MAX_SLOWER = 1.1
MAX_GROWN_MB = 50.0
_A_RECEIPT = {"text": "x" * 1500}
_BATCH = 5000
_PATIENCE_S = 120.0
# How long the rate is measured.
_RATE_S = 10.0
# Of these it is asked how long they took; later ones had to wait for those before.
_TIMED = 100
_LENGTH = re.compile(rb"(?i)content-length: (\d+)")
_ANSWER = b"HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The requests received, as reported by the receiver's process."""

    counter: "Synchronized[int]"
    #: From the event's timestamp to its arrival, in milliseconds.
    delays: "Queue[float]"

    @property
    def count(self) -> int:
        """How many came."""
        return self.counter.value

    def ms(self) -> Times:
        """Return the delays of all that came since the last time."""
        found = list[float]()
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self.delays.get(timeout=1))
        return Times(tuple(found))


class _Receiver(asyncio.Protocol):
    """Takes one webhook a connection."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, _, body = self._got.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length is None or len(body) < int(length[1]):
            return
        self._transport.write(_ANSWER)
        self._transport.close()
        self._arrivals.counter.value += 1
        if self._arrivals.count <= _TIMED:
            created_at = dt.datetime.fromisoformat(json.loads(body)["created_at"])
            since = dt.datetime.now(dt.UTC) - created_at
            self._arrivals.delays.put(since.total_seconds() * 1000)


def _receive(port: int, arrivals: Arrivals) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(
            lambda: _Receiver(arrivals), "127.0.0.1", port, backlog=512
        )
        await listener.serve_forever()

    uvloop.run(serve())


@contextlib.contextmanager
def _receiving() -> Iterator[tuple[str, Arrivals]]:
    """Receive in a separate process, so that it does not slow down the measuring process."""
    spawn = multiprocessing.get_context("spawn")
    port, arrivals = servers.free_port(), Arrivals(spawn.Value("i", 0), spawn.Queue())
    process = spawn.Process(target=_receive, args=(port, arrivals), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port}/hook", arrivals
    finally:
        process.kill()


def main() -> None:
    """Measure and print the table."""
    arguments = _arguments()
    rows = _distributed(arguments) if arguments.distributed else _embedded(arguments)
    title = f"Webhooks: {arguments.documents} uploads each, {arguments.backlog} pending"
    measuring.show(title, ("", "median", "p95", "bound", "kept"), rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=15, help="how many are uploaded each time")
    parser.add_argument("--backlog", type=int, default=100_000, help="number of pending webhooks")
    parser.add_argument("--distributed", action="store_true", help="over PostgreSQL and Redis")
    return parser.parse_args()


def _embedded(arguments: argparse.Namespace) -> list[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as place, _receiving() as (url, arrivals):
        folder = Path(place)
        with server.running(folder) as service:
            key = service.key or ""
            _upload(service.url, key, "warm")
            _uploads(service.url, key, arguments.documents, "soon", url)
            soon = arrivals.ms()
            alone = _uploads(service.url, key, arguments.documents, "alone")
            alone_mb = service.megabytes
        database_url = f"sqlite:///{folder / 'recibo.db'}"
        asyncio.run(
            _enqueue(database_url, arguments.backlog, f"http://127.0.0.1:{servers.free_port()}")
        )
        with server.running(folder) as service:
            _upload(service.url, key, "warm again")
            dead_cpu = _cpu(service.pid)
            dead = _uploads(service.url, key, arguments.documents, "dead")
            dead_mb = service.megabytes
        asyncio.run(_lead_to(database_url, url))
        with server.running(folder) as service:
            _upload(service.url, key, "warm once more")
            before = arrivals.count
            living_cpu = _cpu(service.pid)
            rate = (arrivals.count - before) / _RATE_S
            living = _uploads(service.url, key, arguments.documents, "living")
            living_mb = service.megabytes
    return [
        _row("from completed to arrival, ms", soon, MAX_SOON_MS),
        ("webhooks a second", f"{rate:.0f}", "", f"{MIN_A_SECOND:.0f}",
         measuring.verdict(-rate, -MIN_A_SECOND)),
        _row("an upload, nothing pending, ms", alone),
        _row("an upload, a dead receiver, ms", dead, MAX_SLOWER * alone.median),
        _row("an upload, a living receiver, ms", living, MAX_SLOWER * alone.median),
        ("of a processor, a dead receiver, %", f"{100 * dead_cpu:.0f}", "", "", ""),
        ("of a processor, a living receiver, %", f"{100 * living_cpu:.0f}", "", "", ""),
        ("memory, nothing pending, MB", f"{alone_mb:.0f}", "", "", ""),
        _memory_row("memory, a dead receiver, MB", dead_mb, alone_mb + MAX_GROWN_MB),
        _memory_row("memory, a living receiver, MB", living_mb, alone_mb + MAX_GROWN_MB),
    ]  # fmt: skip


def _distributed(arguments: argparse.Namespace) -> list[tuple[str, ...]]:
    with (
        tempfile.TemporaryDirectory() as place,
        servers.run_postgres() as postgres,
        servers.run_redis() as redis,
        _receiving() as (url, arrivals),
    ):
        postgres.execute("CREATE DATABASE recibo")
        asyncio.run(migrate(postgres.url("recibo")))
        settings = {"DATABASE_URL": postgres.url("recibo"), "REDIS_URL": redis.url}
        folder = Path(place)
        with (
            running.serving(folder, "--no-worker", **settings) as service,
            running.working(folder, **settings),
        ):
            _upload(service.url, service.secret, "warm")
            _uploads(service.url, service.secret, arguments.documents, "soon", url)
            soon = arrivals.ms()
    return [_row("from completed to arrival, ms", soon, MAX_SOON_DISTRIBUTED_MS)]


def _uploads(url: str, key: str, count: int, mark: str, webhook_url: str = "") -> Times:
    """Upload documents one after the other, and return how long each took."""
    return Times(tuple(_upload(url, key, f"{mark}-{n}", webhook_url) for n in range(count)))


def _upload(url: str, key: str, mark: str, webhook_url: str = "") -> float:
    document = make_documents.till_receipt(mark).file()
    fields = {"webhook_url": webhook_url} if webhook_url else {}
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=_PATIENCE_S) as client:
        started = time.perf_counter()
        answer = client.post("/v1/extract", files={"file": ("receipt", document)}, data=fields)
        took = (time.perf_counter() - started) * 1000
    if answer.status_code != httpx.codes.OK:
        raise SystemExit(f"POST /v1/extract answered {answer.status_code}: {answer.text}")
    return took


def _cpu(pid: int) -> float:
    """Return how much of a processor a process takes, without uploads."""
    before = measuring.cpu_seconds(pid)
    time.sleep(_RATE_S)
    return (measuring.cpu_seconds(pid) - before) / _RATE_S


async def _enqueue(database_url: str, count: int, url: str) -> None:
    """Enqueue webhooks to the endpoint of one org."""
    database = Database(database_url)
    now = clock.now()
    async with database.write() as session:
        org_id = (await session.execute(select(tables.Org.id))).scalars().one()
        endpoint_id = ids.new("whe")
        session.add(
            tables.WebhookEndpoint(
                id=endpoint_id,
                org_id=org_id,
                url=url,
                description="",
                created_at=now,
                updated_at=now,
            )
        )
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        events, pending = _rows(org_id, endpoint_id, size)
        async with database.write() as session:
            await session.execute(insert(tables.WebhookEvent), events)
            await session.execute(insert(tables.Delivery), pending)
    await database.close()


def _rows(
    org_id: str, endpoint_id: str, count: int
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    now = clock.now()
    events, pending = list[dict[str, object]](), list[dict[str, object]]()
    for _ in range(count):
        event_id = ids.new("evt")
        body = {"id": event_id, "type": EventType.RECEIPT_COMPLETED, "org_id": org_id,
                "created_at": now.isoformat(), "data": {"receipt": _A_RECEIPT}}  # fmt: skip
        events.append({"id": event_id, "org_id": org_id, "type": EventType.RECEIPT_COMPLETED,
                       "created_at": now, "body": json.dumps(body)})  # fmt: skip
        pending.append({"id": ids.new("dlv"), "event_id": event_id, "org_id": org_id,
                        "endpoint_id": endpoint_id, "state": DeliveryState.PENDING,
                        "due_at": now, "tries": 0})  # fmt: skip
    return events, pending


async def _lead_to(database_url: str, url: str) -> None:
    """Give the endpoint an address that answers."""
    database = Database(database_url)
    async with database.write() as session:
        endpoint = (await session.execute(select(tables.WebhookEndpoint))).scalars().one()
        endpoint.url, endpoint.failing_since = url, None
    await database.close()


def _row(name: str, times: Times, limit: float | None = None) -> tuple[str, ...]:
    figures = (name, f"{times.median:.0f}", f"{times.p95:.0f}")
    if limit is None:
        return (*figures, "", "")
    return (*figures, f"{limit:.0f}", measuring.verdict(times.median, limit))


def _memory_row(name: str, megabytes: float, limit: float) -> tuple[str, ...]:
    return (name, f"{megabytes:.0f}", "", f"{limit:.0f}", measuring.verdict(megabytes, limit))


if __name__ == "__main__":
    main()
