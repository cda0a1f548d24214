"""Two servers and workers on PostgreSQL and Redis: whatever dies, each upload is read once."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from recibo.store import redis_client, worker_registry
from recibo.store.db import Database
from recibo.store.tables import Receipt, UsageEvent
from tests import make, servers, waiting
from tests.serving import forking
from tests.serving.running import Process, Server, serving_many, working

# One set of processes at a time, however many run the tests.
pytestmark = pytest.mark.xdist_group("many processes")

# Long enough for a loaded machine; a test that hangs is ended by the runner.
PATIENCE = 25
SLOW = (forking.PYTHON, str(Path(__file__).with_name("slow_recibo.py")))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Two servers that read nothing, and the workers that a test starts."""

    data_dir: Path
    settings: dict[str, str]
    servers: Sequence[Server]
    clients: Sequence[httpx.AsyncClient]
    database: Database

    @contextmanager
    def working(self) -> Iterator[Process]:
        """Start a worker that reads one document at a time."""
        with working(self.data_dir, program=SLOW, **self.settings, READERS="1") as process:
            yield process

    async def uploaded(self, numbers: Sequence[int]) -> list[str]:
        """Upload documents at the servers in turn, and return the ids of those accepted."""
        uploads = [self._upload(self.clients[number % 2], number) for number in numbers]
        return [one for one in await asyncio.gather(*uploads) if one is not None]

    async def ended(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """Wait at the second server until all are read."""
        found = []
        for receipt_id in ids:
            receipt = {"status": "pending"}
            while receipt["status"] == "pending":
                path = f"/v1/receipts/{receipt_id}"
                receipt = (await self.clients[1].get(path, params={"wait": PATIENCE})).json()
            found.append(receipt)
        return found

    async def rows(self) -> list[Receipt]:
        """Return all receipts."""
        async with self.database.read() as session:
            return list((await session.execute(select(Receipt))).scalars())

    async def both_work(self) -> None:
        """Wait until two workers say that they read."""
        async with redis_client.open_redis(self.settings["REDIS_URL"]) as client:
            registry = worker_registry.create(client)

            async def are_both_there() -> bool:
                return (await registry.combined_stats()).readers == 2

            await waiting.until(are_both_there)

    async def begun(self) -> None:
        """Wait until a document is being read."""

        async def is_one_read() -> bool:
            return any(row.lease_expires_at for row in await self.rows())

        await waiting.until(is_one_read)

    async def accepted(self, count: int) -> None:
        """Wait until so many uploads were accepted."""

        async def are_enough() -> bool:
            return len(await self.rows()) >= count

        await waiting.until(are_enough)

    async def charged(self) -> list[str]:
        """Return what was charged for, once a charge."""
        async with self.database.read() as session:
            charges = (await session.execute(select(UsageEvent.receipt_id))).scalars()
            return sorted(charges)

    async def _upload(self, client: httpx.AsyncClient, number: int) -> str | None:
        files = {"file": ("receipt.jpg", make.jpeg(f"{number}"), "image/jpeg")}
        try:
            answer = await client.post("/v1/extract", files=files)
        except httpx.TransportError:
            return None
        assert answer.status_code == 200, answer.text
        receipt_id: str = answer.json()["id"]
        return receipt_id


@asynccontextmanager
async def start(data_dir: Path, postgres_url: str, redis_url: str) -> AsyncIterator[Fleet]:
    """Start the servers; they wait for no reading."""
    settings = {
        "DATABASE_URL": postgres_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "of all processes, and long enough",
        "EXTRACT_WAIT_SECONDS": "0",
    }
    async with AsyncExitStack() as stack:
        many = serving_many(2, data_dir, "--no-worker", program=SLOW, **settings)
        processes = stack.enter_context(many)
        # One of them made the demo org.
        secret = next(one.secret for one in processes if "sk_live_" in one.greeting)
        clients = [await stack.enter_async_context(one.client(secret)) for one in processes]
        database = Database(postgres_url)
        stack.push_async_callback(database.close)
        yield Fleet(data_dir, settings, processes, clients, database)


@pytest.fixture
async def fleet(tmp_path: Path, postgres_url: str, redis_url: str) -> AsyncIterator[Fleet]:
    """Two servers that wait for no reading."""
    async with start(tmp_path, postgres_url, redis_url) as started:
        yield started


async def test_uploads_at_either_are_read_by_any_and_seen_at_both(fleet: Fleet) -> None:
    ids = await fleet.uploaded(range(4))
    with fleet.working(), fleet.working():
        await fleet.ended(ids)
    at_either = [(await one.get("/v1/receipts")).json()["data"] for one in fleet.clients]

    assert at_either[0] == at_either[1]
    assert sorted(ids) == sorted(one["id"] for one in at_either[0])
    assert {"completed"} == {one["status"] for one in at_either[0]}


async def test_stopped_worker_releases_its_readings_without_an_attempt(fleet: Fleet) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(fleet.working()) for _ in range(2)]
        await fleet.both_work()
        ids = await fleet.uploaded(range(6))
        await fleet.begun()
        for worker in workers:
            worker.terminate()
        statuses = [worker.wait() for worker in workers]
    left = [row for row in await fleet.rows() if row.status == "pending"]
    with fleet.working():
        ended = await fleet.ended(ids)

    assert [0, 0] == statuses
    assert left
    assert {(0, None, None)} == {
        (row.attempt, row.claimed_at, row.lease_expires_at) for row in left
    }
    assert {"completed"} == {one["status"] for one in ended}
    assert {1} == {row.attempt for row in await fleet.rows()}
    assert sorted(ids) == await fleet.charged()


async def test_killed_in_turn_every_accepted_upload_ends_and_is_charged_once(
    fleet: Fleet,
) -> None:
    with ExitStack() as stack:
        first, second = [stack.enter_context(fleet.working()) for _ in range(2)]
        ids = await fleet.uploaded(range(4))
        await fleet.begun()
        first.kill()
        uploads = asyncio.create_task(fleet.uploaded(range(4, 12)))
        await fleet.accepted(6)
        fleet.servers[0].kill()
        ids += await uploads
        second.kill()
        stack.enter_context(fleet.working())
        # Also those whose answer got lost with their server.
        accepted = [row.id for row in await fleet.rows()]
        ended = await fleet.ended(accepted)

    assert set(ids) <= set(accepted)
    assert {"completed"} == {one["status"] for one in ended}
    assert sorted(accepted) == await fleet.charged()


async def test_redis_emptied_and_away_loses_nothing(tmp_path: Path, postgres_url: str) -> None:
    with servers.run_redis() as server:
        pass
    async with start(tmp_path, postgres_url, server.url) as fleet:
        ids = await fleet.uploaded(range(2))
        with fleet.working(), fleet.working():
            with servers.run_redis(server.port):
                ids += await fleet.uploaded(range(2, 5))
                await fleet.begun()
                server.empty()
                ids += await fleet.uploaded(range(5, 7))
            ids += await fleet.uploaded(range(7, 9))
            with servers.run_redis(server.port):
                ended = await fleet.ended(ids)
        rows, charged = await fleet.rows(), await fleet.charged()

    assert 9 == len(ids)
    assert {"completed"} == {one["status"] for one in ended}
    assert {1} == {row.attempt for row in rows}
    assert sorted(ids) == charged
