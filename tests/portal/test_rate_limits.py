"""Pages share the limits per address with the API."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from recibo.schemas.plans import PLANS, PlanName
from recibo.services.identity import operators
from recibo.store import tables
from tests import installation
from tests.fake_clock import START_SECONDS, FakeClock
from tests.installation import Installation, client_of
from tests.portal import accounts, pages

N = PLANS[PlanName.FREE].requests_a_minute
ELSEWHERE = "203.0.113.9"


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """A clock that does not move."""
    return FakeClock(monkeypatch)


@pytest.fixture
async def i(fake_clock: FakeClock, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service with a clock that the test moves."""
    assert fake_clock.seconds == START_SECONDS
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def elsewhere(i: Installation) -> AsyncIterator[httpx.AsyncClient]:
    """A client that limits per address may refuse."""
    async with client_of(i.asgi, address=ELSEWHERE) as client:
        yield client


async def test_anonymous_requests_share_one_limit_over_pages_and_api(
    elsewhere: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    for _ in range(N // 2):
        await elsewhere.get("/portal/sign-in")
        await elsewhere.get("/portal/nowhere")
        await elsewhere.get("/sandbox/checkout")
        await elsewhere.get("/v1/key")
    refused = [
        await elsewhere.get(path)
        for path in ("/portal/sign-in", "/portal/nowhere", "/sandbox/checkout", "/portal/receipts")
    ]
    refused.append(await elsewhere.post("/portal/sign-in", data={"email": "a@b.test"}))
    by_api = await elsewhere.get("/v1/key")
    exempt = await elsewhere.get("/portal/static/watch.js")
    await fake_clock.move(1)

    assert {429} == {answer.status_code for answer in [*refused, by_api]}
    said = "More requests came from your network within a minute than are allowed. "
    for answer in refused:
        assert f"{said}Try again in 1 second." in pages.parse(answer).text
    assert {"1"} == {answer.headers["Retry-After"] for answer in refused}
    assert all(answer.headers["Content-Type"].startswith("text/html") for answer in refused)
    assert all("X-RateLimit-Limit" not in answer.headers for answer in refused)
    assert 200 == exempt.status_code
    assert 200 == (await elsewhere.get("/portal/sign-in")).status_code


async def test_members_have_the_limit_of_their_plan(
    i: Installation, elsewhere: httpx.AsyncClient
) -> None:
    await accounts.sign_up(elsewhere)
    (org,) = [row for row in await i.rows(tables.Org) if row.name == "Aurora"]
    async with i.database.write() as session:
        await operators.set_plan(session, org.slug, PlanName.INDIE)
    async with client_of(i.asgi, address=ELSEWHERE) as stranger:
        answers = [await stranger.get("/portal/sign-in") for _ in range(2 * N)]

    assert 429 == answers[-1].status_code
    assert 200 == (await elsewhere.get("/portal")).status_code
