"""How long an export of many receipts takes, and whether the server's memory stays flat.

    python -m benchmarks.exports [--database URL] [--receipts 100000]

The database is a new SQLite one, or the empty PostgreSQL one that is named. The rows have no files,
so a ZIP is not measured: it takes as long as its files take to copy.
"""

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks import measuring, rows, server
from recibo.store.db import migrate

MAX_SECONDS = 60
MAX_MEGABYTES = 100
_PATIENCE_S = 600.0
_QUERIES = (
    {"format": "csv"},
    {"format": "csv", "rows": "items"},
    {"format": "xlsx"},
    {"format": "xlsx", "rows": "items"},
    {"format": "jsonl"},
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One export."""

    name: str
    seconds: float
    megabytes: float
    #: What the server held more than before, at most.
    growth: float


def main() -> None:
    """Export in each format and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(Path(folder), arguments.database, arguments.receipts)
    columns = ["", "s", "MB", "memory, MB more", "kept"]
    lines = [
        [
            one.name,
            f"{one.seconds:.1f}",
            f"{one.megabytes:.1f}",
            f"{one.growth:.0f}",
            measuring.verdict(max(one.seconds / MAX_SECONDS, one.growth / MAX_MEGABYTES), 1.0),
        ]
        for one in measured
    ]
    title = (
        f"Exports of {arguments.receipts:,} receipts: at most {MAX_SECONDS} s, "
        f"{MAX_MEGABYTES} MB more"
    )
    measuring.show(title, columns, lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument("--receipts", type=int, default=100_000)
    return parser.parse_args()


def _measured(folder: Path, url: str, count: int) -> list[Measured]:
    database_url = url or f"sqlite:///{folder / 'recibo.db'}"
    asyncio.run(migrate(database_url))
    with server.running(folder, "--no-worker", database_url=url) as service:
        key = service.key or ""
    asyncio.run(rows.fill(database_url, count))
    with server.running(folder, "--no-worker", database_url=url) as service:
        return [_export(service, key, query) for query in _QUERIES]


def _export(service: server.Server, key: str, query: dict[str, str]) -> Measured:
    before = most = service.megabytes
    size = 0
    start = time.perf_counter()
    with httpx.stream(
        "GET",
        f"{service.url}/v1/receipts/export",
        params=query,
        headers={"X-API-Key": key},
        timeout=_PATIENCE_S,
    ) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_bytes(1 << 20):
            size += len(chunk)
            most = max(most, service.megabytes)
    seconds = time.perf_counter() - start
    return Measured(" ".join(query.values()), seconds, size / 1e6, most - before)


if __name__ == "__main__":
    main()
