"""Whether lists, single receipts and analytics stay fast while receipts grow a hundredfold.

    python -m benchmarks.growth [--sizes 10000 1000000] [--databases URL URL] [--keep FOLDER]

Each size has a database, and requests to all of them take turns: load of the machine meets each.
What an org spent is summed up from its receipts, so these queries grow with the receipts of their
period; they are measured in this process and judged at 100,000 receipts:

    python -m benchmarks.growth --sizes 10000 100000

The databases are new SQLite ones, or empty PostgreSQL ones that are named, one for each size.
With `--keep` they stay, and the next run only measures.
"""

import argparse
import asyncio
import datetime as dt
import json
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
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
from recibo.schemas.states import ReviewStatus, Role
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


#: For each row of a table, how long it took at each size.
Rows = Mapping[str, Sequence[Times]]


@dataclass(frozen=True, slots=True)
class Place:
    """A database with receipts, the folder of its server, and how to sign in there."""

    size: int
    folder: Path
    url: str
    key: str
    password: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured, by table."""

    receipts: Rows
    inbox: Rows
    analytics: Rows
    spend: Rows


def main() -> None:
    """Measure at each size and print the tables."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        urls = arguments.databases or [""] * len(arguments.sizes)
        pairs = zip(arguments.sizes, urls, strict=True)
        places = [_place(folder / str(size), size, url) for size, url in pairs]
        _show(arguments.sizes, _measured(places))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument(
        "--databases", nargs="+", metavar="URL", help="empty PostgreSQL ones, one for each size"
    )
    parser.add_argument(
        "--keep", metavar="FOLDER", help="where the databases stay, to be measured again"
    )
    return parser.parse_args()


def _place(folder: Path, size: int, url: str) -> Place:
    """Fill a database, unless an earlier run did."""
    folder.mkdir(parents=True, exist_ok=True)
    secrets = folder / "secrets.json"
    database_url = url or f"sqlite:///{folder / 'recibo.db'}"
    if not secrets.exists():
        asyncio.run(migrate(database_url))
        with server.running(folder, "--no-worker", database_url=database_url) as service:
            # The first start made the demo org; its secrets are printed only now.
            secrets.write_text(json.dumps([service.key, service.password]))
    asyncio.run(migrate(database_url))
    asyncio.run(rows.fill(database_url, size))
    return Place(size, folder, database_url, *json.loads(secrets.read_text()))


def _measured(places: Sequence[Place]) -> Measured:
    with ExitStack() as stack:
        urls = [
            stack.enter_context(server.running(one.folder, "--no-worker", database_url=one.url)).url
            for one in places
        ]
        analytics, receipts = _analytics_times(places, urls), _times(places, urls)
    return Measured(receipts, _inbox_times(places), analytics, _spend_times(places))


def _alternated(calls: Sequence[Mapping[str, Callable[[], object]]]) -> Rows:
    """Return how long each call took in each place."""
    return {
        name: measuring.alternated([one[name] for one in calls], rounds=ROUNDS) for name in calls[0]
    }


def _inbox_times(places: Sequence[Place]) -> Rows:
    return _in_process(
        places,
        lambda database, member: {
            name: partial(_sorted, database, member, *asked) for name, asked in _SORTED.items()
        },
    )


def _spend_times(places: Sequence[Place]) -> Rows:
    queries = (
        ("months and categories", _by_currency),
        ("merchants", _merchants),
        ("receipts of each month", _month_counts),
    )
    return _in_process(
        places,
        lambda database, member: {
            f"{asked}, {name}": partial(query, database, member, period)
            for asked, query in queries
            for name, period in _PERIODS.items()
        },
    )


Query = Callable[[], Coroutine[None, None, None]]


def _in_process(
    places: Sequence[Place], queries: Callable[[Database, Member], Mapping[str, Query]]
) -> Rows:
    # All in one event loop, because connections belong to it.
    with asyncio.Runner() as runner:
        databases = [Database(one.url) for one in places]
        asked = [queries(one, runner.run(owner(one))) for one in databases]
        found = _alternated(
            [{name: partial(_run, runner, query) for name, query in one.items()} for one in asked]
        )
        for one in databases:
            runner.run(one.close())
    return found


async def _sorted(database: Database, member: Member, filters: Filters, order: Order) -> None:
    async with database.read() as session:
        wanted = PageRequest(25, None, "key")
        await sorted_lists.page(session, member, filters, order, wanted=wanted)


def _run(runner: asyncio.Runner, query: Query) -> None:
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


async def _month_counts(database: Database, member: Member, period: Period) -> None:
    async with database.read() as session:
        approved = ReviewStatus.APPROVED
        await spend.counts_of(session, member, period.months, review=approved)


async def _merchants(database: Database, member: Member, period: Period) -> None:
    async with database.read() as session:
        await spend.top_merchants(session, member, period, "EUR", limit=10)


def _times(places: Sequence[Place], urls: Sequence[str]) -> Rows:
    with ExitStack() as stack:
        calls = []
        for place, url in zip(places, urls, strict=True):
            headers = {"X-API-Key": place.key}
            client = stack.enter_context(
                httpx.Client(base_url=url, headers=headers, timeout=_PATIENCE_S)
            )
            asked = _requests(client, place.size)
            calls.append({name: partial(_get, client, *one) for name, one in asked.items()})
        return _alternated(calls)


def _analytics_times(places: Sequence[Place], urls: Sequence[str]) -> Rows:
    with ExitStack() as stack:
        calls = []
        for place, url in zip(places, urls, strict=True):
            client = stack.enter_context(httpx.Client(base_url=url, timeout=_PATIENCE_S))
            credentials = {"email": server.OWNER, "password": place.password}
            tokens = client.post("/v1/auth/login", json=credentials).raise_for_status().json()
            client.cookies.clear()
            client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
            calls.append({name: partial(_get, client, *one) for name, one in _ANALYTICS.items()})
        return _alternated(calls)


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
        "a rare total": {"min_total": f"{rows.RARE_TOTAL}", "max_total": f"{rows.RARE_TOTAL}"},
        "low confidence": {"max_confidence": "0.5"},
        "with duplicates": {"duplicates": "true"},
        "search, a word of all": {"q": rows.COMMON_WORDS[0]},
        "search, a rare word": {"q": rows.RARE_WORD},
        "search, two words and a beginning": {"q": f"{rows.COMMON_WORDS[0]} cash saxo"},
        # No longer number begins with it.
        "search, one receipt": {"q": f"number{size // 2}"},
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


def _show(sizes: Sequence[int], measured: Measured) -> None:
    columns = ["median (p95), ms", *(f"{size:,}" for size in sizes), "growth", "kept"]
    title = f"Growth: {ROUNDS} rounds each; at most {MAX_GROWTH} times as long"
    measuring.show(title, columns, [_line(*one) for one in measured.receipts.items()])
    title = f"Inbox in order: {ROUNDS} rounds each"
    measuring.show(title, columns, [_line(*one) for one in measured.inbox.items()])
    title = f"Analytics: {ROUNDS} rounds each; at most {MAX_ANALYTICS_MS} ms"
    lines = [_line_within(*one, MAX_ANALYTICS_MS) for one in measured.analytics.items()]
    measuring.show(title, columns, lines)
    if max(sizes) <= SPEND_SIZE:
        title = f"Spend: {ROUNDS} rounds each; at most {MAX_SPEND_MS} ms"
        lines = [_line_within(*one, MAX_SPEND_MS) for one in measured.spend.items()]
        measuring.show(title, columns, lines)


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
