"""Whether lists, single receipts and analytics stay fast while receipts grow a hundredfold.

    python -m benchmarks.growth [--database URL] [--sizes 10000 1000000]

The database is a new SQLite one, or the empty PostgreSQL one that is named.
"""

import argparse
import asyncio
import datetime as dt
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from benchmarks import measuring, rows, server
from benchmarks.measuring import Times
from recibo.store.db import Database, migrate

ROUNDS = 200
MAX_GROWTH = 1.5
MAX_ANALYTICS_MS = 100
_PATIENCE_S = 120.0
# How far the walk for a deep cursor goes.
_PAGES = 20
_RECEIPTS = "/v1/receipts"
_ANALYTICS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "usage of a year": ("/v1/analytics/usage", {"days": "365"}),
    "categories": ("/v1/analytics/categories", {}),
    "100 top vendors": ("/v1/analytics/top-vendors", {"limit": "100"}),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one size took."""

    receipts: Mapping[str, Times]
    analytics: Mapping[str, Times]


def main() -> None:
    """Measure at each size and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(Path(folder), arguments.database, arguments.sizes)
    _show(arguments.sizes, measured)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    return parser.parse_args()


def _measured(folder: Path, url: str, sizes: Sequence[int]) -> list[Measured]:
    database_url = url or f"sqlite:///{folder / 'recibo.db'}"
    asyncio.run(migrate(database_url))
    with server.running(folder, "--no-worker", database_url=url) as service:
        # The first start made the demo org; its secrets are printed only now.
        key, password = service.key or "", service.password or ""
    measured = []
    for size in sizes:
        asyncio.run(_fill(database_url, size))
        with server.running(folder, "--no-worker", database_url=url) as service:
            analytics = _analytics_times(service.url, password)
            measured.append(Measured(_times(service.url, key, size), analytics))
    return measured


async def _fill(url: str, size: int) -> None:
    database = Database(url)
    try:
        await rows.fill(database, size)
    finally:
        await database.close()


def _times(url: str, key: str, size: int) -> dict[str, Times]:
    headers = {"X-API-Key": key}
    with httpx.Client(base_url=url, headers=headers, timeout=_PATIENCE_S) as client:
        return {
            name: measuring.times(partial(_get, client, path, query), rounds=ROUNDS)
            for name, (path, query) in _requests(client, size).items()
        }


def _analytics_times(url: str, password: str) -> dict[str, Times]:
    with httpx.Client(base_url=url, timeout=_PATIENCE_S) as client:
        credentials = {"email": server.OWNER, "password": password}
        tokens = client.post("/v1/auth/login", json=credentials).raise_for_status().json()
        client.cookies.clear()
        client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
        return {
            name: measuring.times(partial(_get, client, path, query), rounds=ROUNDS)
            for name, (path, query) in _ANALYTICS.items()
        }


def _requests(client: httpx.Client, size: int) -> dict[str, tuple[str, dict[str, str]]]:
    key, value = rows.RARE_TAG
    day = rows.RARE_DAY
    lists: dict[str, dict[str, str]] = {
        "newest 50": {},
        "50 far down": {"cursor": _deep_cursor(client)},
        "a usual type": {"type": "invoice"},
        "a rare type": {"type": rows.RARE_TYPE},
        "few failed ones": {"status": "failed"},
        "a rare tag": {f"metadata.{key}": value},
        "receipts of a usual year": {"after": "2025-01-01", "before": "2026-01-01"},
        "receipts of a rare day": {"after": f"{day}", "before": f"{day + dt.timedelta(days=1)}"},
    }
    one: dict[str, tuple[str, dict[str, str]]] = {
        "one receipt": (f"{_RECEIPTS}/{rows.receipt_id(size // 2)}", {})
    }
    return one | {f"list, {name}": (_RECEIPTS, query) for name, query in lists.items()}


def _deep_cursor(client: httpx.Client) -> str:
    cursor = ""
    for _ in range(_PAGES):
        query = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        cursor = _get(client, _RECEIPTS, query).json()["next_cursor"]
    return cursor


def _get(client: httpx.Client, path: str, query: Mapping[str, str]) -> httpx.Response:
    answer = client.get(path, params=query)
    if answer.is_error:
        raise SystemExit(f"GET {path} answered {answer.status_code}: {answer.text}")
    return answer


def _show(sizes: Sequence[int], measured: Sequence[Measured]) -> None:
    columns = ["median (p95), ms", *(f"{size:,}" for size in sizes), "growth", "kept"]
    receipts = [
        _line(name, [one.receipts[name] for one in measured]) for name in measured[0].receipts
    ]
    title = f"Growth: {ROUNDS} rounds each; at most {MAX_GROWTH} times as long"
    measuring.show(title, columns, receipts)
    analytics = [
        _line_of_analytics(name, [one.analytics[name] for one in measured]) for name in _ANALYTICS
    ]
    title = f"Analytics: {ROUNDS} rounds each; at most {MAX_ANALYTICS_MS} ms"
    measuring.show(title, columns, analytics)


def _line(name: str, times: Sequence[Times]) -> list[str]:
    growth = times[-1].median / times[0].median
    return [name, *_figures(times), f"{growth:.2f}", measuring.verdict(growth, MAX_GROWTH)]


def _line_of_analytics(name: str, times: Sequence[Times]) -> list[str]:
    growth = times[-1].median / times[0].median
    kept = measuring.verdict(max(one.median for one in times), MAX_ANALYTICS_MS)
    return [name, *_figures(times), f"{growth:.2f}", kept]


def _figures(times: Sequence[Times]) -> list[str]:
    return [f"{one.median:.1f} ({one.p95:.1f})" for one in times]


if __name__ == "__main__":
    main()
