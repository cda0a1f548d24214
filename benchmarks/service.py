"""Measure what the service adds to a reading, and how fast it answers without one.

    python -m benchmarks.service [--documents 20] [--folder FOLDER]

Each document is read by a function call and then posted, so that both run under the same load; the
machine should be idle otherwise. The function runs in one thread with a reader's priority.
"""

import argparse
import contextlib
import os
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Numeric libraries read it at import; reader processes set it, too.
os.environ["OMP_NUM_THREADS"] = "1"

import httpx

from benchmarks import measuring, server
from benchmarks.measuring import Times
from recibo.adapters.reader_process.limits import Limits
from recibo.extract import pipeline
from recibo.extract.errors import ReadingError
from tests import make_documents

ROUNDS = 300
MAX_ADDED_MS = 60.0
MAX_ANSWER_MS = 15.0
MAX_SERVICE_MB = 250.0
MAX_READER_MB = 1000.0
_PATIENCE_S = 120.0


def _give_way() -> None:
    # Linux holds priorities by threads.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), Limits().niceness)


_READER = ThreadPoolExecutor(max_workers=1, initializer=_give_way)


@dataclass(frozen=True, slots=True)
class Extraction:
    """One document, read both ways, milliseconds."""

    function: float
    post: float


def main() -> None:
    """Measure and print the table."""
    arguments = _arguments()
    receipts = documents(arguments.folder, arguments.documents)
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as service:
        headers = {"X-API-Key": service.key or ""}
        with httpx.Client(base_url=service.url, headers=headers, timeout=_PATIENCE_S) as client:
            # Warm up both.
            extraction(client, make_documents.till_receipt("warm").file())
            extractions = [extraction(client, document) for document in receipts]
            answers = _answers(client, receipts[0])
        memory = (service.megabytes, service.child_megabytes)
    _show(extractions, answers, memory)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=20, help="how many")
    parser.add_argument("--folder", type=Path, help="read them from here instead of drawing them")
    return parser.parse_args()


def documents(folder: Path | None, count: int) -> list[bytes]:
    """Return documents of a folder, or drawn ones."""
    if folder is None:
        return [make_documents.till_receipt(f"B-{number}").file() for number in range(count)]
    return [path.read_bytes() for path in sorted(folder.iterdir())[:count]]


def extraction(client: httpx.Client, document: bytes) -> Extraction:
    """Read a document as a function call, then post it."""
    return Extraction(
        measuring.timed(lambda: _read(document)), measuring.timed(lambda: _post(client, document))
    )


def _read(document: bytes) -> None:
    # An unreadable document is answered with 422 after the same work.
    with contextlib.suppress(ReadingError):
        _READER.submit(pipeline.extract, document).result()


def _post(client: httpx.Client, document: bytes) -> httpx.Response:
    answer = client.post("/v1/extract", files={"file": ("receipt", document)})
    if answer.status_code not in {200, 422}:
        raise SystemExit(f"POST /v1/extract answered {answer.status_code}: {answer.text}")
    return answer


def _answers(client: httpx.Client, document: bytes) -> dict[str, Times]:
    """Return the times of requests that need no reading."""
    receipt_id = _post(client, document).json()["id"]
    calls = {
        "POST /v1/extract, a replay": lambda: _post(client, document),
        "GET /v1/receipts/{id}": lambda: _get(client, f"/v1/receipts/{receipt_id}"),
        "GET /v1/receipts": lambda: _get(client, "/v1/receipts"),
    }
    return {name: measuring.times(call, rounds=ROUNDS) for name, call in calls.items()}


def _get(client: httpx.Client, path: str) -> None:
    client.get(path).raise_for_status()


def _show(
    extractions: Sequence[Extraction], answers: dict[str, Times], memory: tuple[float, float]
) -> None:
    function = Times(tuple(one.function for one in extractions))
    post = Times(tuple(one.post for one in extractions))
    added = Times(tuple(one.post - one.function for one in extractions))
    service_mb, reader_mb = memory
    rows = [
        _row("reading as a function", function),
        _row("POST /v1/extract, new", post),
        _row("what the service adds", added, MAX_ADDED_MS),
        *(_row(name, times, MAX_ANSWER_MS) for name, times in answers.items()),
        _memory_row("memory of the service, MB", service_mb, MAX_SERVICE_MB),
        _memory_row("memory of a reader, MB", reader_mb, MAX_READER_MB),
    ]
    title = f"Service: {len(extractions)} documents, {ROUNDS} rounds of each answer"
    measuring.show(title, ("", "median ms", "p95 ms", "at most", "kept"), rows)


def _row(name: str, times: Times, limit: float | None = None) -> tuple[str, ...]:
    figures = (name, f"{times.median:.1f}", f"{times.p95:.1f}")
    if limit is None:
        return (*figures, "", "")
    return (*figures, f"{limit:.0f}", measuring.verdict(times.median, limit))


def _memory_row(name: str, megabytes: float, limit: float) -> tuple[str, ...]:
    return (name, f"{megabytes:.0f}", "", f"{limit:.0f}", measuring.verdict(megabytes, limit))


if __name__ == "__main__":
    main()
