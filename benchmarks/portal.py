"""Whether the pages of the portal are fast and small where an org has many receipts.

    python -m benchmarks.portal [--database URL] [--receipts 100000]

The database is a new SQLite one, or the empty PostgreSQL one that is named. The times are those of
the whole response over loopback; the size is that of the compressed page, without what it loads.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import httpx

from benchmarks import measuring, rows, server
from benchmarks.measuring import Times
from recibo.store.db import migrate

MAX_MS = 50
_ROUNDS = 100
_PATIENCE_S = 60.0


def main() -> None:
    """Measure each page and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(Path(folder), arguments.database, arguments.receipts)
    columns = ["", "median, ms", "p95, ms", "kB", "kept"]
    lines = [
        [
            name,
            f"{times.median:.1f}",
            f"{times.p95:.1f}",
            f"{size / 1000:.1f}",
            measuring.verdict(times.median, MAX_MS),
        ]
        for name, (times, size) in measured.items()
    ]
    title = f"Portal, {arguments.receipts:,} receipts: at most {MAX_MS} ms"
    measuring.show(title, columns, lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--database", default="", metavar="URL", help="an empty PostgreSQL one")
    parser.add_argument("--receipts", type=int, default=100_000)
    return parser.parse_args()


def _measured(folder: Path, url: str, receipts: int) -> Mapping[str, tuple[Times, int]]:
    url = url or f"sqlite:///{folder / 'recibo.db'}"
    asyncio.run(migrate(url))
    with server.running(folder, "--no-worker", database_url=url) as service:
        password = service.password or ""
    asyncio.run(rows.fill(url, receipts))
    with (
        server.running(folder, "--no-worker", database_url=url) as service,
        httpx.Client(base_url=service.url, timeout=_PATIENCE_S) as client,
    ):
        form = {"email": server.OWNER, "password": password}
        if not client.post("/portal/sign-in", data=form).is_redirect:
            raise SystemExit("The portal refuses the owner's password.")
        sizes = {name: _bytes(client, path) for name, path in _pages(receipts).items()}
        calls = [partial(_bytes, client, path) for path in _pages(receipts).values()]
        times: Sequence[Times] = [measuring.times(call, rounds=_ROUNDS) for call in calls]
    return dict(zip(sizes, zip(times, sizes.values(), strict=True), strict=True))


def _pages(receipts: int) -> Mapping[str, str]:
    inbox = "/portal/receipts"
    return {
        "home": "/portal",
        "inbox": inbox,
        "inbox, to review": f"{inbox}?review=needs_review",
        "inbox, approved": f"{inbox}?review=approved",
        "inbox, by total": f"{inbox}?sort=-total&currency=EUR",
        "inbox, by merchant": f"{inbox}?sort=merchant",
        "inbox, search, a word of all": f"{inbox}?q={rows.COMMON_WORDS[0]}",
        "inbox, search, a rare word": f"{inbox}?q={rows.RARE_WORD}",
        "review": f"{inbox}/{rows.receipt_id(receipts // 2)}",
        "analytics": "/portal/analytics",
        "analytics, a year": "/portal/analytics?from=2025-01-01&to=2025-12-31",
        "keys": "/portal/keys",
        "webhooks": "/portal/webhooks",
        "members": "/portal/members",
        "billing": "/portal/billing",
        "audit log": "/portal/audit",
        "settings": "/portal/organization",
        "security": "/portal/security",
    }


def _bytes(client: httpx.Client, path: str) -> int:
    """Return how many bytes of a page are sent."""
    answer = client.get(path)
    if answer.status_code != httpx.codes.OK:
        raise SystemExit(f"GET {path} answered {answer.status_code}.")
    return answer.num_bytes_downloaded


if __name__ == "__main__":
    main()
