"""Whether an upload, and the refill of the queue, cost the same whatever waits to be read.

    python -m benchmarks.pending [--database URL] [--pending 10 1000000]

The database is a new SQLite one, or the empty PostgreSQL one that is named. What waits is first one
organization's, then that of a thousand. It compares processor time, because a disk that
still writes earlier rows delays the commits; it also prints the wall time.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
from fastapi import FastAPI
from sqlalchemy import delete, insert, text

from recibo import app
from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Accuracy
from recibo.lib import clock, ids
from recibo.schemas.states import ReceiptStatus
from recibo.services.identity.demo_org import Demo
from recibo.services.reading import fair_queue
from recibo.settings import Settings
from recibo.store import tables
from recibo.store.db import Database, migrate

MAX_GROWTH = 1.2
_UPLOADS = 200
_PORTION = 5000
# What is waiting shall refuse nothing here.
_FOR_EVER = 1e12


def main() -> None:
    """Measure at each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument("--pending", type=int, nargs="+", default=[10, 1_000_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(Path(folder), arguments.database, arguments.pending))


async def _measure(folder: Path, url: str, sizes: Sequence[int]) -> None:
    url = url or f"sqlite:///{folder / 'recibo.db'}"
    await migrate(url)
    settings = Settings(
        _env_file=None,
        data_dir=folder,
        database_url=url,
        extract_wait_seconds=0,
        max_queue_seconds=_FOR_EVER,
    )
    demos = list[Demo]()
    print("pending | of orgs | upload CPU ms, median | growth | upload ms, median | refill ms")
    async with app.lifespan(
        settings, with_worker=False, reader=FakeReader(), on_first_start=demos.append
    ) as asgi:
        first = 0.0
        for size, orgs in [(size, orgs) for orgs in (1, 1000) for size in sizes]:
            database: Database = asgi.state.services.database
            await _fill(database, size, orgs)
            cpu, wall = await _upload(asgi, demos[0].key, f"{size} {orgs}")
            first = first or cpu
            refill = await _refill(database)
            cells = (size, orgs, f"{cpu:.1f}", f"{cpu / first:.2f}", f"{wall:.1f}", f"{refill:.0f}")
            print(*cells, sep=" | ", flush=True)


async def _fill(database: Database, size: int, orgs: int) -> None:
    async with database.write() as session:
        await session.execute(delete(tables.PendingReadings))
        await session.execute(delete(tables.Receipt).where(tables.Receipt.created_by == "bench"))
    names = [ids.new("org") for _ in range(orgs)]
    counts = [size // orgs + (number < size % orgs) for number in range(orgs)]
    async with database.write() as session:
        await session.execute(insert(tables.Org), [_org(name) for name in names])
        rows = [{"org_id": name, "count": count} for name, count in zip(names, counts, strict=True)]
        await session.execute(insert(tables.PendingReadings), rows)
    owners = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    for start in range(0, size, _PORTION):
        async with database.write() as session:
            portion = owners[start : start + _PORTION]
            await session.execute(insert(tables.Receipt), [_receipt(org) for org in portion])
    async with database.write() as session:
        await session.execute(text("ANALYZE"))


async def _upload(asgi: FastAPI, key: str, name: str) -> tuple[float, float]:
    """Return the median processor time and the median wall time, in milliseconds."""
    cpu, wall = list[float](), list[float]()
    transport = httpx.ASGITransport(app=asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://recibo.test") as client:
        for number in range(_UPLOADS):
            data = b"\xff\xd8\xff\xe0" + f"{name} {number}".encode()
            started, started_cpu = time.perf_counter(), time.process_time()
            answer = await client.post(
                "/v1/extract",
                headers={"X-API-Key": key},
                files={"file": ("receipt.jpg", data, "image/jpeg")},
            )
            answer.raise_for_status()
            cpu.append((time.process_time() - started_cpu) * 1000)
            wall.append((time.perf_counter() - started) * 1000)
    return statistics.median(cpu), statistics.median(wall)


async def _refill(database: Database) -> float:
    started = time.perf_counter()
    async with database.read() as session:
        await fair_queue.next_batch(session, limit=1000)
    return (time.perf_counter() - started) * 1000


def _org(name: str) -> dict[str, object]:
    return {
        "id": name,
        "name": name,
        "slug": name,
        "billing_email": "bench@recibo.test",
        "plan": "free",
        "created_at": clock.now(),
    }


def _receipt(org_id: str) -> dict[str, object]:
    now = clock.now()
    return {
        "id": ids.new("rcp"),
        "org_id": org_id,
        "status": ReceiptStatus.PENDING,
        "created_at": now,
        "updated_at": now,
        "created_by": "bench",
        "file_sha256": ids.new("sha"),
        "file_size": 1,
        "media_type": "image/jpeg",
        "tags": {},
        "accuracy": Accuracy.STANDARD,
        "pending_accuracy": Accuracy.STANDARD,
        "attempt": 0,
        "quota_month": f"{now:%Y-%m}",
    }


if __name__ == "__main__":
    main()
