"""How many requests a second sessions cost, and whether sign-ins slow anybody else.

    python -m benchmarks.api [--database URL] [--seconds 0.25] [--rounds 60]

GET /v1/auth/me and GET /v1/org against a bare endpoint with one SELECT (`benchmarks.bare`) on the
same database, in turn: by requests a second, and by the time that a request costs the server's
processors, which scatters less where others work on the machine, too. Each is compared with the
bare endpoint in a separate round. Then GET /v1/auth/me alone and during ten concurrent sign-ins.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from sqlalchemy import update

from benchmarks import measuring, server
from benchmarks.server import ADDRESS, Server
from recibo.schemas.plans import PlanName
from recibo.store.db import Database, migrate
from recibo.store.tables import Org

CONNECTIONS = 8
LOGINS_AT_ONCE = 10
MIN_SHARE = 0.6
MAX_SLOWDOWN = 2.0
_OWN = ("/v1/auth/me", "/v1/org")
_EMAIL, _PASSWORD = "bench@recibo.test", "correct horse battery"
_PATIENCE_S = 60.0
_WARM_UP_SECONDS = 0.5
_LOGINS_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked, as the bytes that go over the wire."""

    host: str
    port: int
    request: bytes
    #: Of the process that answers.
    pid: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What one target cost in one round."""

    #: Requests a second.
    rate: float
    #: Of all processors, a request.
    cpu_ms: float


def main() -> None:
    """Measure and print both tables."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = arguments.database or f"sqlite:///{folder / 'recibo.db'}"
        asyncio.run(migrate(url))
        with server.running(folder, "--no-worker", database_url=arguments.database) as service:
            user_id, token = _signed_up(service.url)
            asyncio.run(_lift_limits(url))
            with _bare(url, user_id) as bare:
                targets = {"bare": bare} | {path: _own(service, path, token) for path in _OWN}
                _show_costs(_costs(targets, arguments))
            target = _own(service, _OWN[0], token)
            _show_logins(asyncio.run(_beside_logins(service.url, target)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument(
        "--seconds", type=float, default=0.25, help="how long each is asked a round"
    )
    parser.add_argument("--rounds", type=int, default=60, help="at least 2")
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
def _bare(url: str, user_id: str) -> Iterator[Target]:
    command = [sys.executable, "-m", "benchmarks.bare", url, user_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            found = ADDRESS.search((process.stdout or sys.stdin).readline())
            yield _target(found[1] if found else "", "/", {}, process.pid)
        finally:
            process.terminate()


def _own(service: Server, path: str, token: str) -> Target:
    return _target(service.url, path, {"Authorization": f"Bearer {token}"}, service.pid)


def _costs(
    targets: Mapping[str, Target], arguments: argparse.Namespace
) -> Mapping[str, Sequence[Cost]]:
    """Return what each cost by round; asked in turn, so that all meet one machine."""
    for target in targets.values():
        asyncio.run(_cost(target, _WARM_UP_SECONDS))
    measured: dict[str, list[Cost]] = {name: [] for name in targets}
    for _ in range(arguments.rounds):
        for name, target in targets.items():
            measured[name].append(asyncio.run(_cost(target, arguments.seconds)))
    return measured


def _target(url: str, path: str, headers: Mapping[str, str], pid: int) -> Target:
    parts = urlsplit(url)
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    request = "\r\n".join([*lines, "", ""]).encode()
    return Target(parts.hostname or "", parts.port or 80, request, pid)


async def _cost(target: Target, seconds: float) -> Cost:
    ends_at, cpu = time.perf_counter() + seconds, measuring.cpu_seconds(target.pid)
    counts = await asyncio.gather(*(_ask(target, ends_at) for _ in range(CONNECTIONS)))
    count = sum(len(one) for one in counts)
    return Cost(count / seconds, (measuring.cpu_seconds(target.pid) - cpu) / count * 1000)


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


async def _beside_logins(url: str, target: Target) -> tuple[float, float, int]:
    """Return the median of a GET alone and during sign-ins, in ms, and the number of sign-ins."""
    alone = await _ask(target, time.perf_counter() + _LOGINS_SECONDS)
    ends_at = time.perf_counter() + _LOGINS_SECONDS
    async with httpx.AsyncClient(base_url=url, timeout=_PATIENCE_S) as client:
        logins = [asyncio.create_task(_log_in(client, ends_at)) for _ in range(LOGINS_AT_ONCE)]
        loaded = await _ask(target, ends_at)
        ended = sum(await asyncio.gather(*logins))
    return statistics.median(alone), statistics.median(loaded), ended


async def _log_in(client: httpx.AsyncClient, ends_at: float) -> int:
    body = {"email": _EMAIL, "password": _PASSWORD}
    ended = 0
    while time.perf_counter() < ends_at:
        (await client.post("/v1/auth/login", json=body)).raise_for_status()
        ended += 1
    return ended


def _show_costs(costs: Mapping[str, Sequence[Cost]]) -> None:
    rows = []
    for name, measured in costs.items():
        pairs = list(zip(measured, costs["bare"], strict=True))
        shares = [own.rate / bare.rate for own, bare in pairs]
        rows.append(
            [
                name,
                f"{statistics.median(one.rate for one in measured):,.0f}",
                *_middle(shares),
                f"{statistics.median(one.cpu_ms for one in measured):.2f}",
                *_middle([bare.cpu_ms / own.cpu_ms for own, bare in pairs]),
                measuring.verdict(MIN_SHARE, statistics.median(shares)),
            ]
        )
    title = f"Requests a second, {CONNECTIONS} at once; at least {MIN_SHARE} of the bare endpoint"
    columns = ["", "a second", "share", "half of them", "CPU ms", "share", "half of them", "kept"]
    measuring.show(title, columns, rows)


def _middle(shares: Sequence[float]) -> tuple[str, str]:
    """Return the median of all rounds, and between what the half of them around it lie."""
    low, median, high = statistics.quantiles(shares, n=4, method="inclusive")
    return f"{median:.2f}", f"{low:.2f}-{high:.2f}"


def _show_logins(measured: tuple[float, float, int]) -> None:
    alone, loaded, ended = measured
    kept = measuring.verdict(loaded / alone, MAX_SLOWDOWN)
    row = [f"{alone:.1f}", f"{loaded:.1f}", f"{loaded / alone:.2f}", str(ended), kept]
    title = f"GET {_OWN[0]}, median ms, during {LOGINS_AT_ONCE} concurrent sign-ins"
    measuring.show(title, ["alone", "loaded", "times", "sign-ins", "kept"], [row])


if __name__ == "__main__":
    main()
