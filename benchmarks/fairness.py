"""How much longer an org's uploads take while another has ten thousand pending readings.

    python -m benchmarks.fairness [--pending 10000] [--database URL]

One server reads, with as many readers as there are cores. The waiting time of an upload is given in
readings of that time, too, as all readers are busy then. The database is a new SQLite one, or the
empty PostgreSQL one that is named.
"""

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx
from sqlalchemy import func, insert, select

from benchmarks import measuring, server
from benchmarks.server import Server
from recibo.extract.model import Accuracy
from recibo.lib import clock, ids
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import ReceiptStatus
from recibo.services.reading import pending_counts
from recibo.store import blobs, tables
from recibo.store.db import Database, migrate
from tests import make_documents

UPLOADS = 3
# Running readings, those queued before it, and those started before the client gets a response.
MAX_WAIT_READINGS = 3.0
_PATIENCE_S = 600.0
_BATCH = 1_000
_MAKER = "key_of_the_bench"
# The first ones of a process take longer.
_WARM_READINGS = 6
_LOOK_AGAIN_S = 0.2


def main() -> None:
    """Measure alone, then together with the other org, and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = arguments.database or f"sqlite:///{folder / 'recibo.db'}"
        asyncio.run(migrate(url))
        with server.running(folder, database_url=arguments.database) as service:
            key = service.key or ""
            _uploaded(service, key, "warm")
            alone = [_uploaded(service, key, f"alone {one}") for one in range(UPLOADS)]
        asyncio.run(_enqueue(url, folder / "files", arguments.pending))
        with server.running(folder, database_url=arguments.database) as service:
            asyncio.run(_warm(url))
            loaded = [_uploaded(service, key, f"loaded {one}") for one in range(UPLOADS)]
            reading = _reading(service)
    _show(arguments.pending, reading, alone, loaded)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--pending", type=int, default=10_000, help="the pending readings of the other org"
    )
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    return parser.parse_args()


def _uploaded(service: Server, key: str, number: str) -> float:
    """Upload a document, wait until it is read, and return the seconds that it took."""
    file = make_documents.till_receipt(number).file()
    with httpx.Client(
        base_url=service.url, headers={"X-API-Key": key}, timeout=_PATIENCE_S
    ) as client:
        return measuring.timed(lambda: _read(client, file)) / 1000


def _read(client: httpx.Client, file: bytes) -> None:
    answer = client.post("/v1/extract", files={"file": ("receipt", file)})
    while answer.is_success and answer.json()["status"] == "pending":
        answer = client.get(f"/v1/receipts/{answer.json()['id']}", params={"wait": 25})
    if answer.is_error:
        raise SystemExit(f"An upload was answered {answer.status_code}: {answer.text}")


async def _enqueue(url: str, files: Path, count: int) -> None:
    """Enqueue readings of one document for a separate org on the largest plan."""
    document = files / "document"
    document.write_bytes(make_documents.till_receipt("of the other").file())
    database = Database(url)
    async with database.write() as session:
        org_id = ids.new("org")
        session.add(
            tables.Org(
                id=org_id,
                name="The other",
                slug="other",
                billing_email="other@recibo.test",
                plan=PlanName.SCALE,
                created_at=clock.now(),
            )
        )
    for start in range(0, count, _BATCH):
        rows = [_receipt(org_id) for _ in range(min(_BATCH, count - start))]
        for row in rows:
            path = files / blobs.key_of(ReceiptId(str(row["id"])))
            path.parent.mkdir(exist_ok=True)
            os.link(document, path)
        async with database.write() as session:
            await session.execute(insert(tables.Receipt), rows)
            await pending_counts.add(session, OrgId(org_id), len(rows))
    await database.close()


def _receipt(org_id: str) -> dict[str, object]:
    now = clock.now()
    return {
        "id": ids.new("rcp"),
        "org_id": org_id,
        "status": ReceiptStatus.PENDING,
        "created_at": now,
        "updated_at": now,
        "created_by": _MAKER,
        "file_sha256": ids.new("sha"),
        "file_size": 1,
        "media_type": "image/jpeg",
        "tags": {},
        "accuracy": Accuracy.STANDARD,
        "pending_accuracy": Accuracy.STANDARD,
        "attempt": 0,
        "quota_month": f"{now:%Y-%m}",
    }


async def _warm(url: str) -> None:
    """Wait until the readers are busy with pending readings, not with their start."""
    database = Database(url)
    is_read = tables.Receipt.created_by == _MAKER, tables.Receipt.pending_accuracy.is_(None)
    read = 0
    while read < _WARM_READINGS:
        async with database.read() as session:
            read = (await session.execute(select(func.count()).where(*is_read))).scalar_one()
        await asyncio.sleep(_LOOK_AGAIN_S)
    await database.close()


def _reading(service: Server) -> float:
    """Return how long the readings of a server took, the mean in seconds."""
    text = httpx.get(f"{service.url}/metrics").raise_for_status().text
    figures = dict(re.findall(r"^recibo_reading_seconds_(sum|count)\S* (\S+)$", text, re.MULTILINE))
    return float(figures["sum"]) / float(figures["count"])


def _show(pending: int, reading: float, alone: Sequence[float], loaded: Sequence[float]) -> None:
    rows = [
        _row(f"upload {number}", one, other, reading)
        for number, (one, other) in enumerate(zip(alone, loaded, strict=True), start=1)
    ]
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    title = (
        f"Fairness: uploads while another org has {pending:,} pending readings of {reading:.1f} s; "
        f"load {load} on {os.cpu_count()} cores"
    )
    columns = ("", "alone s", "loaded s", "waited, readings", "at most", "kept")
    measuring.show(title, columns, rows)


def _row(name: str, alone: float, loaded: float, reading: float) -> tuple[str, ...]:
    waited = (loaded - reading) / reading
    figures = (f"{alone:.1f}", f"{loaded:.1f}", f"{waited:.1f}", f"{MAX_WAIT_READINGS:.0f}")
    return (name, *figures, measuring.verdict(waited, MAX_WAIT_READINGS))


if __name__ == "__main__":
    main()
