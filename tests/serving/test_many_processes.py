"""Four servers and a worker over one PostgreSQL and one Redis count as one."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.services.identity import operators
from recibo.store import db, tables
from recibo.store.db import Database
from tests import make, servers
from tests.serving import running
from tests.serving.running import Server

# One set of processes, however many run the tests.
pytestmark = pytest.mark.xdist_group("many processes")

PROCESSES = 4
UPLOADS = 50
# Limits that are not under test are high.
AMPLE = {"receipts_a_month": 100_000, "requests_a_minute": 100_000, "uploads_at_once": 1000}
ELSEWHERE = "203.0.113.9"


@dataclass(frozen=True, slots=True)
class Fleet:
    """The servers, and the database below them."""

    servers: Sequence[Server]
    database_url: str
    data_dir: Path


@dataclass(frozen=True, slots=True)
class Customer:
    """An org with a key, whose requests go to each of the servers in turn."""

    org_id: OrgId
    secret: str
    clients: Sequence[httpx.AsyncClient]
    database: Database
    data_dir: Path

    async def upload(self, number: int, text: str) -> httpx.Response:
        """Send a document to one of the servers."""
        files = {"file": ("receipt.jpg", make.jpeg(f"{self.org_id} {text}"), "image/jpeg")}
        headers = {"X-API-Key": self.secret}
        client = self.clients[number % PROCESSES]
        return await client.post("/v1/extract", files=files, headers=headers)

    async def uploads(self, texts: Sequence[str]) -> list[httpx.Response]:
        """Send documents at once, over all servers."""
        return await asyncio.gather(*(self.upload(*pair) for pair in enumerate(texts)))

    async def asks(self, number: int, secret: str, **headers: str) -> int:
        """Ask one of the servers for something cheap, and return the status."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        client = self.clients[number % PROCESSES]
        return (await client.get("/v1/key", headers={"X-API-Key": secret, **named})).status_code

    async def used(self) -> int:
        """Return how many receipts count as used this month."""
        answer = await self.clients[0].get("/v1/key", headers={"X-API-Key": self.secret})
        used: int = answer.json()["usage_this_month"]
        return used

    async def kept(self) -> Counter[str]:
        """Return how many receipts there are, by status."""
        query = (
            select(tables.Receipt.status, func.count())
            .where(tables.Receipt.org_id == self.org_id)
            .group_by(tables.Receipt.status)
        )
        async with self.database.read() as session:
            return Counter(dict((await session.execute(query)).tuples().all()))

    async def bills(self) -> int:
        """Return how often a reading was billed."""
        query = select(func.count()).where(tables.UsageEvent.org_id == self.org_id)
        async with self.database.read() as session:
            return (await session.execute(query)).scalar_one()

    def files(self) -> int:
        """Return how many of its files are kept."""
        paths = (self.data_dir / "files").rglob("*")
        own = self.org_id.encode()
        return sum(own in path.read_bytes() for path in paths if path.is_file())


@pytest.fixture(scope="module")
def fleet(postgres: servers.Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The processes; each test has a separate org."""
    postgres.execute("CREATE DATABASE many")
    url = postgres.url("many")
    asyncio.run(db.migrate(url))
    data_dir = tmp_path_factory.mktemp("many")
    with ExitStack() as stack:
        redis = stack.enter_context(servers.run_redis())
        settings = {
            "DATABASE_URL": url,
            "REDIS_URL": redis.url,
            "SECRET_KEY": "s" * 32,
            "BASE_URL": "http://recibo.test",
            "TRUSTED_PROXIES": "127.0.0.1",
        }
        stack.enter_context(running.working(data_dir, program=running.QUICK, **settings))
        many = running.serving_many(
            PROCESSES, data_dir, "--no-worker", program=running.QUICK, **settings
        )
        yield Fleet(stack.enter_context(many), url, data_dir)


@pytest.fixture
async def database(fleet: Fleet) -> AsyncIterator[Database]:
    """The database of the processes."""
    database_ = Database(fleet.database_url)
    yield database_
    await database_.close()


@pytest.fixture
async def clients(fleet: Fleet) -> AsyncIterator[Sequence[httpx.AsyncClient]]:
    """A client for each server."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(httpx.AsyncClient(base_url=one.url, timeout=120))
            for one in fleet.servers
        ]


@pytest.fixture
async def customer(
    fleet: Fleet, database: Database, clients: Sequence[httpx.AsyncClient]
) -> Customer:
    """A new org to which no limit matters."""
    org_id = await make.org(database, plan=PlanName.ENTERPRISE)
    made = Customer(org_id, await make.key(database, org_id), clients, database, fleet.data_dir)
    await agree(made, {})
    return made


async def agree(customer: Customer, figures: Mapping[str, int]) -> None:
    """Agree on the figures that a test is about."""
    async with customer.database.write() as session:
        agreed = {**AMPLE, **figures}
        await operators.set_plan(session, customer.org_id, PlanName.ENTERPRISE, agreed=agreed)


def statuses(answers: Sequence[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


async def test_quota_is_exact_at_its_edge(customer: Customer) -> None:
    quota, before = 30, 10
    await agree(customer, {"receipts_a_month": quota})
    await customer.uploads([f"before {number}" for number in range(before)])

    answers = await customer.uploads([f"document {number}" for number in range(UPLOADS)])

    left = quota - before
    assert Counter({200: left, 429: UPLOADS - left}) == statuses(answers)
    refused = [answer for answer in answers if answer.status_code == 429]
    assert {"rate_limit_exceeded"} == {answer.json()["error"]["code"] for answer in refused}
    for answer in refused:
        assert str(answer.json()["error"]["retry_after"]) == answer.headers["Retry-After"]
        assert "0" == answer.headers["X-RateLimit-Remaining"]
    assert Counter(completed=quota) == await customer.kept()
    assert quota == await customer.used() == await customer.bills() == customer.files()


async def test_failed_readings_give_their_part_of_the_quota_back(customer: Customer) -> None:
    quota = 30
    await agree(customer, {"receipts_a_month": quota})
    texts = [
        f"unreadable {number}" if number % 3 == 0 else f"document {number}"
        for number in range(UPLOADS)
    ]
    result = statuses(await customer.uploads(texts))
    # Released quota is available to later uploads, up to the last one.
    while (await customer.upload(sum(result.values()), f"later {sum(result.values())}")).is_success:
        result[200] += 1

    assert {200, 422, 429} >= result.keys()
    assert quota == result[200] == await customer.used() == await customer.bills()
    assert Counter(completed=quota, failed=result[422]) == await customer.kept()


async def test_equal_files_at_once_are_one_receipt_and_one_bill(customer: Customer) -> None:
    answers = await customer.uploads(["one document"] * UPLOADS)

    assert Counter({200: UPLOADS}) == statuses(answers)
    assert 1 == len({answer.json()["id"] for answer in answers})
    assert {"completed"} == {answer.json()["status"] for answer in answers}
    new = [answer for answer in answers if "Idempotent-Replayed" not in answer.headers]
    assert 1 == len(new)
    assert Counter(completed=1) == await customer.kept()
    assert 1 == await customer.used() == await customer.bills() == customer.files()


@pytest.mark.parametrize(("keys", "headers"), [(1, {}), (5, {"X_Forwarded_For": ELSEWHERE})])
async def test_burst_is_twice_the_figure_over_all_processes(
    customer: Customer, keys: int, headers: Mapping[str, str]
) -> None:
    figure, requests = 10, 100
    await agree(customer, {"requests_a_minute": figure})
    secrets = [await make.key(customer.database, customer.org_id) for _ in range(keys)]
    begun = time.monotonic()
    asked = [
        customer.asks(number, secrets[number // PROCESSES % keys], **headers)
        for number in range(requests)
    ]
    passed = (await asyncio.gather(*asked)).count(200)
    refilled = int((time.monotonic() - begun) * figure / 60)

    # Nothing is refilled within six seconds, unless the machine takes longer.
    assert 2 * figure <= passed <= 2 * figure + refilled
