"""What attacks cost another org: its uploads and the health check, alone and under each.

    python -m benchmarks.attacks [--attack NAME ...] [--uploads 7] [--seconds 20]

For each attack a fresh server reads on SQLite, with as many readers as there are cores. The victim
is an org that uploads one receipt after another; the attacker has another org on the plan
scale, and runs in a separate process with low priority. Each attack goes on while the
victim uploads, at least for the seconds given; afterwards the victim uploads again, and must get
the right totals.
"""

import argparse
import asyncio
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks import attackers, measuring, server
from benchmarks.attackers import Target
from benchmarks.server import Server
from tests import make_documents

MAX_SLOWDOWN = 2.0
MAX_SERVICE_MB = 300.0
# An upload that takes longer counts as this.
_TIMEOUT_S = 120.0
_SAMPLE_S = 0.1
_HEALTH_S = 0.25
_ATTACKER = "attacker@recibo.test"
_PASSWORD = "a password of the bench"  # noqa: S105 - of an account that lives for minutes


@dataclass(slots=True)
class Seen:
    """What one round of uploads met."""

    upload_s: list[float] = field(default_factory=list)
    health_ms: list[float] = field(default_factory=list)
    service_mb: float = 0.0
    reader_mb: float = 0.0
    wrong: int = 0


def main() -> None:
    """Measure each attack and print the table."""
    arguments = _arguments()
    names = arguments.attack or list(attackers.ATTACKS)
    rows = []
    for name in names:
        alone, during = _measured(name, arguments)
        rows.append(_row(name, during, alone))
        sys.stderr.write(f"{rows[-1]}\n")
    _show(arguments.uploads, rows)


def _measured(attack: str, arguments: argparse.Namespace) -> tuple[Seen, Seen]:
    """Return what the victim meets before an attack and under it, on a server of their own.

    What an attacker left behind would slow the next attack's victim.
    """
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as service:
        target = _target(service, Path(folder))
        victim = _Victim(service)
        victim.upload(2)
        alone = victim.upload(arguments.uploads)
        with _attacked(attack, target):
            during = victim.upload(arguments.uploads, at_least_s=arguments.seconds)
        during.wrong += victim.upload(2).wrong
    return alone, during


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--attack", action="append", choices=list(attackers.ATTACKS))
    parser.add_argument("--uploads", type=int, default=7, help="of the victim, under each attack")
    parser.add_argument("--seconds", type=float, default=20, help="that each attack lasts at least")
    return parser.parse_args()


class _Victim:
    """Another org that goes on with its work."""

    def __init__(self, service: Server) -> None:
        self._service = service
        self._number = 0

    def upload(self, count: int, *, at_least_s: float = 0) -> Seen:
        """Upload so many receipts in turn, and more while the time is not over."""
        seen = Seen()
        with self._watched(seen):
            end = time.monotonic() + at_least_s
            most = time.monotonic() + _TIMEOUT_S
            while (len(seen.upload_s) < count and time.monotonic() < most) or (
                time.monotonic() < end
            ):
                self._upload_one(seen)
        return seen

    def _upload_one(self, seen: Seen) -> None:
        self._number += 1
        document = make_documents.till_receipt(f"V-{self._number:06}")
        file = document.file()
        start = time.perf_counter()
        receipt = self._read(file)
        seen.upload_s.append(time.perf_counter() - start)
        seen.wrong += receipt.get("total") != document.truth.total

    def _read(self, file: bytes) -> dict[str, object]:
        headers = {"X-API-Key": self._service.key or ""}
        end = time.monotonic() + _TIMEOUT_S
        with httpx.Client(
            base_url=self._service.url, headers=headers, timeout=_TIMEOUT_S
        ) as client:
            answer = client.post("/v1/extract", files={"file": ("receipt.jpg", file)})
            while answer.is_success and answer.json()["status"] == "pending":
                if time.monotonic() > end:
                    break
                answer = client.get(f"/v1/receipts/{answer.json()['id']}", params={"wait": 25})
            return dict(answer.json())

    @contextmanager
    def _watched(self, seen: Seen) -> Iterator[None]:
        stop = threading.Event()
        watchers = [
            threading.Thread(target=self._watch_memory, args=(seen, stop)),
            threading.Thread(target=self._watch_health, args=(seen, stop)),
        ]
        for watcher in watchers:
            watcher.start()
        try:
            yield
        finally:
            stop.set()
            for watcher in watchers:
                watcher.join()

    def _watch_memory(self, seen: Seen, stop: threading.Event) -> None:
        while not stop.wait(_SAMPLE_S):
            seen.service_mb = max(seen.service_mb, self._service.megabytes)
            seen.reader_mb = max(seen.reader_mb, self._service.child_megabytes)

    def _watch_health(self, seen: Seen, stop: threading.Event) -> None:
        # A fresh connection each time, as a load balancer makes.
        while not stop.wait(_HEALTH_S):
            start = time.perf_counter()
            try:
                httpx.get(f"{self._service.url}/healthz", timeout=_TIMEOUT_S).raise_for_status()
            except httpx.HTTPError:
                seen.health_ms.append(_TIMEOUT_S * 1000)
            else:
                seen.health_ms.append((time.perf_counter() - start) * 1000)


@contextmanager
def _attacked(name: str, target: Target) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_attack, args=(name, target), daemon=True)
    process.start()
    try:
        # The attack is on when its first requests are.
        time.sleep(3)
        yield
    finally:
        process.kill()
        process.join()


def _attack(name: str, target: Target) -> None:
    os.nice(19)

    async def attack() -> None:
        await attackers.ATTACKS[name](target)

    asyncio.run(attack())


def _target(service: Server, folder: Path) -> Target:
    """Sign the attacker up, on the largest plan, and return what it knows."""
    body = {"email": _ATTACKER, "password": _PASSWORD, "org_name": "Attacker"}
    with httpx.Client(base_url=service.url, timeout=_TIMEOUT_S) as client:
        session = client.post("/v1/auth/signup", json=body).raise_for_status().json()
        bearer = {"Authorization": f"Bearer {session['access_token']}"}
        made = client.post("/v1/api-keys", headers=bearer, json={"name": "attack"})
        secret = made.raise_for_status().json()["secret"]
    subprocess.run(
        [sys.executable, "-m", "recibo", "admin", "set-plan", "attacker", "scale"],
        env={**os.environ, "RECIBO_DATA_DIR": str(folder)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return Target(service.url, secret, _ATTACKER)


def _row(name: str, seen: Seen, alone: Seen) -> tuple[str, ...]:
    median = statistics.median(seen.upload_s)
    normal = statistics.median(alone.upload_s)
    is_kept = median < MAX_SLOWDOWN * normal and seen.service_mb < MAX_SERVICE_MB and not seen.wrong
    return (
        name,
        f"{normal:.2f}",
        f"{median:.2f}",
        f"{median / normal:.1f}",
        f"{max(seen.health_ms, default=0):.0f}",
        f"{seen.service_mb:.0f}",
        f"{seen.reader_mb:.0f}",
        str(seen.wrong),
        "yes" if is_kept else "NO",
    )


def _show(uploads: int, rows: Sequence[tuple[str, ...]]) -> None:
    title = (
        f"Attacks: {uploads} uploads or more of another org under each, on {os.cpu_count()} cores; "
        f"kept: below {MAX_SLOWDOWN:.0f} times the median alone, the service below "
        f"{MAX_SERVICE_MB:.0f} MB, no wrong total"
    )
    columns = (
        "attack", "alone s", "median s", "times", "healthz ms", "service MB", "reader MB", "wrong",
        "kept",
    )  # fmt: skip
    measuring.show(title, columns, rows)


if __name__ == "__main__":
    main()
