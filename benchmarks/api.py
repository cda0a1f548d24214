"""How many requests a second sessions cost, and whether sign-ins slow anybody else.

    python -m benchmarks.api [--database URL] [--seconds 3] [--rounds 5]

GET /v1/auth/me and GET /v1/org against a bare endpoint with one SELECT (`benchmarks.bare`) on the
same database, in turn. Then GET /v1/auth/me alone and beside ten sign-ins at once.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from sqlalchemy import update

from benchmarks import measuring, server
from benchmarks.server import ADDRESS
from recibo.shapes.plans import PlanName
from recibo.store.db import Database
from recibo.store.tables import Org

CONNECTIONS = 8
LOGINS_AT_ONCE = 10
MIN_SHARE = 0.6
MAX_SLOWDOWN = 2.0
_OWN = ("/v1/auth/me", "/v1/org")
_EMAIL, _PASSWORD = "bench@recibo.test", "correct horse battery"
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked, as the bytes that go over the wire."""

    host: str
    port: int
    request: bytes


def main() -> None:
    """Measure and print both tables."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = arguments.database or f"sqlite:///{folder / 'recibo.db'}"
        with server.running(folder, "--no-worker", database_url=arguments.database) as service:
            user_id, token = _signed_up(service.url)
            asyncio.run(_lift_limits(url))
            with _bare(url, user_id) as bare:
                _show_rates(_rates(bare, service.url, token, arguments))
            _show_logins(asyncio.run(_beside_logins(service.url, token, arguments.seconds)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each is asked a round")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _signed_up(url: str) -> tuple[str, str]:
    body = {"email": _EMAIL, "password": _PASSWORD, "org_name": "Bench"}
    answer = httpx.post(f"{url}/v1/auth/signup", json=body, timeout=_PATIENCE_S)
    answer.raise_for_status()
    return answer.json()["user_id"], answer.json()["access_token"]


async def _lift_limits(url: str) -> None:
    """Agree on as many requests a minute as can be: it is not the limit that is measured."""
    database = Database(url)
    try:
        async with database.write() as session:
            plan = {"plan": PlanName.ENTERPRISE, "agreed": {"requests_a_minute": 2**31 - 1}}
            await session.execute(update(Org).values(plan))
    finally:
        await database.close()


@contextmanager
def _bare(url: str, user_id: str) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.bare", url, user_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            found = ADDRESS.search((process.stdout or sys.stdin).readline())
            yield found[1] if found else ""
        finally:
            process.terminate()


def _rates(bare: str, own: str, token: str, arguments: argparse.Namespace) -> Mapping[str, float]:
    """Return the median rate of each, a second; asked in turn, so that all meet one machine."""
    headers = {"Authorization": f"Bearer {token}"}
    targets = {"bare": _target(bare, "/", {})}
    targets |= {path: _target(own, path, headers) for path in _OWN}
    measured: dict[str, list[float]] = {name: [] for name in targets}
    for _ in range(arguments.rounds):
        for name, target in targets.items():
            measured[name].append(asyncio.run(_rate(target, arguments.seconds)))
    return {name: statistics.median(rates) for name, rates in measured.items()}


def _target(url: str, path: str, headers: Mapping[str, str]) -> Target:
    parts = urlsplit(url)
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    request = "\r\n".join([*lines, "", ""]).encode()
    return Target(parts.hostname or "", parts.port or 80, request)


async def _rate(target: Target, seconds: float) -> float:
    ends_at = time.perf_counter() + seconds
    counts = await asyncio.gather(*(_ask(target, ends_at) for _ in range(CONNECTIONS)))
    return sum(len(one) for one in counts) / seconds


async def _ask(target: Target, ends_at: float) -> list[float]:
    """Ask again and again over one connection; a client that does more would be what is measured.

    Returns milliseconds of each answer.
    """
    reader, writer = await asyncio.open_connection(target.host, target.port)
    ms = []
    while (start := time.perf_counter()) < ends_at:
        writer.write(target.request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise SystemExit(head.decode())
        await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        ms.append((time.perf_counter() - start) * 1000)
    writer.close()
    return ms


async def _beside_logins(url: str, token: str, seconds: float) -> tuple[float, float, int]:
    """Return the median of a GET alone and beside sign-ins, ms, and how many sign-ins ended."""
    target = _target(url, _OWN[0], {"Authorization": f"Bearer {token}"})
    alone = await _ask(target, time.perf_counter() + seconds)
    ends_at = time.perf_counter() + seconds
    async with httpx.AsyncClient(base_url=url, timeout=_PATIENCE_S) as client:
        logins = [asyncio.create_task(_log_in(client, ends_at)) for _ in range(LOGINS_AT_ONCE)]
        beside = await _ask(target, ends_at)
        ended = sum(await asyncio.gather(*logins))
    return statistics.median(alone), statistics.median(beside), ended


async def _log_in(client: httpx.AsyncClient, ends_at: float) -> int:
    body = {"email": _EMAIL, "password": _PASSWORD}
    ended = 0
    while time.perf_counter() < ends_at:
        (await client.post("/v1/auth/login", json=body)).raise_for_status()
        ended += 1
    return ended


def _show_rates(rates: Mapping[str, float]) -> None:
    rows = []
    for name, rate in rates.items():
        share = rate / rates["bare"]
        kept = measuring.verdict(MIN_SHARE, share) if name != "bare" else ""
        rows.append([name, f"{rate:,.0f}", f"{share:.2f}", kept])
    title = f"Requests a second, {CONNECTIONS} at once; at least {MIN_SHARE} of the bare endpoint"
    measuring.show(title, ["", "a second", "share", "kept"], rows)


def _show_logins(measured: tuple[float, float, int]) -> None:
    alone, beside, ended = measured
    kept = measuring.verdict(beside / alone, MAX_SLOWDOWN)
    row = [f"{alone:.1f}", f"{beside:.1f}", f"{beside / alone:.2f}", str(ended), kept]
    title = f"GET {_OWN[0]}, median ms, beside {LOGINS_AT_ONCE} sign-ins at once"
    measuring.show(title, ["alone", "beside", "times", "sign-ins", "kept"], [row])


if __name__ == "__main__":
    main()
