"""What two servers and two workers that share PostgreSQL and Redis add to a reading.

    python -m benchmarks.distributed [--documents 20] [--folder FOLDER]

Both databases are private ones, started and stopped here. Each document is read as a function call
and then posted, at the servers in turn. The machine should be idle else; its load is printed.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path

import httpx

from benchmarks import measuring, service
from benchmarks.measuring import Times
from benchmarks.service import Extraction
from recibo.store.db import migrate
from tests import make_documents, servers
from tests.serving import running

EACH = 2
MAX_ADDED_MS = 100.0
_PATIENCE_S = 120.0


def main() -> None:
    """Measure and print the table."""
    arguments = _arguments()
    documents = service.documents(arguments.folder, arguments.documents)
    with tempfile.TemporaryDirectory() as folder, _clients(Path(folder)) as clients:
        for number, client in enumerate(clients * EACH):
            # What all do once, they do now.
            service.extraction(client, make_documents.till_receipt(f"warm {number}").file())
        extractions = [
            service.extraction(client, document)
            for client, document in zip(cycle(clients), documents, strict=False)
        ]
    _show(extractions)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=20, help="how many")
    parser.add_argument("--folder", type=Path, help="take them from here; else they are drawn")
    return parser.parse_args()


@contextmanager
def _clients(folder: Path) -> Iterator[list[httpx.Client]]:
    """Start all processes, and give a client of each server."""
    with ExitStack() as stack:
        postgres = stack.enter_context(servers.run_postgres())
        redis = stack.enter_context(servers.run_redis())
        postgres.execute("CREATE DATABASE recibo")
        url = postgres.url("recibo")
        asyncio.run(migrate(url))
        settings = {
            "DATABASE_URL": url,
            "REDIS_URL": redis.url,
            "SECRET_KEY": "s" * 32,
            "READERS": "1",
        }
        for _ in range(EACH):
            stack.enter_context(running.working(folder, **settings))
        many = running.serving_many(EACH, folder, "--no-worker", **settings)
        processes = stack.enter_context(many)
        # One of them made the demo org.
        secret = next(one.secret for one in processes if "sk_live_" in one.greeting)
        yield [
            stack.enter_context(
                httpx.Client(base_url=one.url, headers={"X-API-Key": secret}, timeout=_PATIENCE_S)
            )
            for one in processes
        ]


def _show(extractions: Sequence[Extraction]) -> None:
    function = Times(tuple(one.function for one in extractions))
    post = Times(tuple(one.post for one in extractions))
    added = Times(tuple(one.post - one.function for one in extractions))
    kept = measuring.verdict(added.median, MAX_ADDED_MS)
    rows = [
        ("reading as a function", f"{function.median:.1f}", f"{function.p95:.1f}", "", ""),
        ("POST /v1/extract, new", f"{post.median:.1f}", f"{post.p95:.1f}", "", ""),
        ("what the service adds", f"{added.median:.1f}", f"{added.p95:.1f}",
         f"{MAX_ADDED_MS:.0f}", kept),
    ]  # fmt: skip
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    title = (
        f"Distributed: {len(extractions)} documents, {EACH} servers and {EACH} workers on "
        f"PostgreSQL and Redis; load {load} on {os.cpu_count()} cores"
    )
    measuring.show(title, ("", "median ms", "p95 ms", "at most", "kept"), rows)


if __name__ == "__main__":
    main()
