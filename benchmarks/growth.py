"""Whether lists, single receipts and analytics stay fast while receipts grow a hundredfold.

    python -m benchmarks.growth [--database URL] [--sizes 10000 1000000]

What an org spent is summed up from its receipts, so these queries grow with the receipts of their
period; they are measured in this process and judged at 100,000 receipts:

    python -m benchmarks.growth --sizes 10000 100000

The database is a new SQLite one, or the empty PostgreSQL one that is named.
"""

import argparse
import asyncio
import datetime as dt
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
from sqlalchemy import select

from benchmarks import measuring, rows, server
from benchmarks.measuring import Times
from recibo.schemas.actor import ClientInfo, Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.states import Role
from recibo.services.pagination import PageRequest
from recibo.services.reading import sorted_lists, spend
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.sorted_lists import Order, Sort
from recibo.services.reading.spend import Period
from recibo.store.db import Database, migrate
from recibo.store.tables import Org

ROUNDS = 200
MAX_GROWTH = 1.5
MAX_ANALYTICS_MS = 100
MAX_SPEND_MS = 50
SPEND_SIZE = 100_000
_PATIENCE_S = 120.0
# How far the walk for a deep cursor goes.
_PAGES = 20
_RECEIPTS = "/v1/receipts"
_ANALYTICS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "usage of a year": ("/v1/analytics/usage", {"days": "365"}),
    "categories": ("/v1/analytics/categories", {}),
    "100 top vendors": ("/v1/analytics/top-vendors", {"limit": "100"}),
}
_PERIODS: Mapping[str, Period] = {
    "a month": Period(dt.date(2025, 1, 1), dt.date(2025, 1, 31)),
    "a year": Period(dt.date(2025, 1, 1), dt.date(2025, 12, 31)),
    "all receipts": Period(dt.date(2017, 1, 1), dt.date(2026, 12, 31)),
}


# The orders of the inbox, with filters that many, some or few receipts match.
_SORTED: Mapping[str, tuple[Filters, Order]] = {
    "by date": (Filters(), Order(Sort.ISSUED, is_descending=True)),
    "by merchant": (Filters(), Order(Sort.MERCHANT, is_descending=False)),
    "by confidence": (Filters(), Order(Sort.CONFIDENCE, is_descending=False)),
    "oldest upload": (Filters(), Order(Sort.UPLOADED, is_descending=False)),
    "by total in EUR": (Filters(currency="EUR"), Order(Sort.TOTAL, is_descending=True)),
    "many approved, by merchant": (
        Filters(review="approved"), Order(Sort.MERCHANT, is_descending=False)
    ),
    "few to review, by date": (
        Filters(review="needs_review"), Order(Sort.ISSUED, is_descending=True)
    ),
    "a rare category, by date": (
        Filters(category=rows.RARE_CATEGORY), Order(Sort.ISSUED, is_descending=True)
    ),
    "search, a word of all, by date": (
        Filters(q=rows.COMMON_WORDS[0]), Order(Sort.ISSUED, is_descending=True)
    ),
    "search, a rare word, by date": (
        Filters(q=rows.RARE_WORD), Order(Sort.ISSUED, is_descending=True)
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """What one size took."""

    receipts: Mapping[str, Times]
    inbox: Mapping[str, Times]
    analytics: Mapping[str, Times]
    spend: Mapping[str, Times]


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
        asyncio.run(rows.fill(database_url, size))
        with server.running(folder, "--no-worker", database_url=url) as service:
            analytics = _analytics_times(service.url, password)
            times = _times(service.url, key, size)
        inbox, spent = _inbox_times(database_url), _spend_times(database_url)
        measured.append(Measured(times, inbox, analytics, spent))
    return measured


def _inbox_times(url: str) -> dict[str, Times]:
    with asyncio.Runner() as runner:
        database = Database(url)
        member = runner.run(owner(database))
        found = {
            name: measuring.times(
                partial(_run, runner, partial(_sorted, database, member, *asked)), rounds=ROUNDS
            )
            for name, asked in _SORTED.items()
        }
        runner.run(database.close())
    return found


async def _sorted(database: Database, member: Member, filters: Filters, order: Order) -> None:
    async with database.read() as session:
        wanted = PageRequest(25, None, "key")
        await sorted_lists.page(session, member, filters, order, wanted=wanted)


def _spend_times(url: str) -> dict[str, Times]:
    queries = (("months and categories", _by_currency), ("merchants", _merchants))
    # All in one event loop, because connections belong to it.
    with asyncio.Runner() as runner:
        database = Database(url)
        member = runner.run(owner(database))
        found = {
            f"{asked}, {name}": measuring.times(
                partial(_run, runner, partial(query, database, member, period)), rounds=ROUNDS
            )
            for asked, query in queries
            for name, period in _PERIODS.items()
        }
        runner.run(database.close())
    return found


def _run(runner: asyncio.Runner, query: Callable[[], Coroutine[None, None, None]]) -> None:
    runner.run(query())


async def owner(database: Database) -> Member:
    """Return the owner of the one org."""
    async with database.read() as session:
        org_id = OrgId((await session.execute(select(Org.id))).scalar_one())
    plan = PLANS[PlanName.SCALE]
    return Member(org_id, plan, ClientInfo("growth"), UserId("usr_growth"), Role.OWNER)


async def _by_currency(database: Database, member: Member, period: Period) -> None:
    async with database.read() as session:
        await spend.by_currency(session, member, period)


async def _merchants(database: Database, member: Member, period: Period) -> None:
    async with database.read() as session:
        await spend.top_merchants(session, member, period, "EUR", limit=10)


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
        "few to review": {"review": "needs_review"},
        "many approved": {"review": "approved"},
        "a usual merchant": {"merchant": "Merchant 1"},
        "a rare category": {"category": rows.RARE_CATEGORY},
        "a rare currency": {"currency": rows.RARE_CURRENCY},
        "a usual total": {"min_total": "10", "max_total": "500"},
        "a rare total": {"min_total": "12.34", "max_total": "12.34"},
        "low confidence": {"max_confidence": "0.5"},
        "with duplicates": {"duplicates": "true"},
        "search, a word of all": {"q": rows.COMMON_WORDS[0]},
        "search, a rare word": {"q": rows.RARE_WORD},
        "search, two words and a beginning": {"q": f"{rows.COMMON_WORDS[0]} cash saxo"},
        "search, one receipt": {"q": "number4711"},
        "search, nothing": {"q": "nowhere"},
        "search among few to review": {"q": "total cash", "review": "needs_review"},
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
    inbox = [_line(name, [one.inbox[name] for one in measured]) for name in measured[0].inbox]
    measuring.show(f"Inbox in order: {ROUNDS} rounds each", columns, inbox)
    analytics = [
        _line_within(name, [one.analytics[name] for one in measured], MAX_ANALYTICS_MS)
        for name in _ANALYTICS
    ]
    title = f"Analytics: {ROUNDS} rounds each; at most {MAX_ANALYTICS_MS} ms"
    measuring.show(title, columns, analytics)
    if max(sizes) <= SPEND_SIZE:
        title = f"Spend: {ROUNDS} rounds each; at most {MAX_SPEND_MS} ms"
        spent = [
            _line_within(name, [one.spend[name] for one in measured], MAX_SPEND_MS)
            for name in measured[0].spend
        ]
        measuring.show(title, columns, spent)


def _line(name: str, times: Sequence[Times]) -> list[str]:
    growth = times[-1].median / times[0].median
    return [name, *_figures(times), f"{growth:.2f}", measuring.verdict(growth, MAX_GROWTH)]


def _line_within(name: str, times: Sequence[Times], most_ms: float) -> list[str]:
    growth = times[-1].median / times[0].median
    kept = measuring.verdict(max(one.median for one in times), most_ms)
    return [name, *_figures(times), f"{growth:.2f}", kept]


def _figures(times: Sequence[Times]) -> list[str]:
    return [f"{one.median:.1f} ({one.p95:.1f})" for one in times]


if __name__ == "__main__":
    main()
