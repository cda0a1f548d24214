"""Rate limits: which requests are refused, and the response headers."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.errors import DatabaseUnavailable
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.states import Role, Scope
from tests import installation, make, people, servers
from tests.fake_clock import START_SECONDS, FakeClock
from tests.installation import Installation, client_of

NAMES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
N = PLANS[PlanName.FREE].requests_a_minute
QUOTA = PLANS[PlanName.FREE].receipts_a_month or 0
SCALE = PLANS[PlanName.SCALE].requests_a_minute
ELSEWHERE = "203.0.113.9"
IN_A_MINUTE = int(START_SECONDS) + 60
# The first of February 2027, the month after BEGINNING.
NEXT_MONTH = int(dt.datetime(2027, 2, 1, tzinfo=dt.UTC).timestamp())


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """Return a fake clock; requested before the service, so that rows have its time."""
    return FakeClock(monkeypatch)


@pytest.fixture
async def i(fake_clock: FakeClock, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service with a clock that the test moves."""
    assert fake_clock.seconds == START_SECONDS
    async with installation.start(sqlite_url, tmp_path) as started:
        yield started


def limit_headers(answer: httpx.Response) -> tuple[int, ...]:
    """Return limit, remaining and reset."""
    return tuple(int(answer.headers[name]) for name in NAMES)


async def free_key(i: Installation) -> str:
    """Add an org on the free plan, and return a key of it."""
    return await make.key(i.database, await make.org(i.database, plan=PlanName.FREE))


async def statuses(client: httpx.AsyncClient, count: int, secret: str | None = None) -> list[int]:
    """Ask so many times for one thing."""
    headers = {} if secret is None else {"X-API-Key": secret}
    return [(await client.get("/v1/key", headers=headers)).status_code for _ in range(count)]


@asynccontextmanager
async def from_elsewhere(i: Installation) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client that limits per address may refuse."""
    async with client_of(i.asgi, address=ELSEWHERE) as client:
        yield client


async def test_key_has_a_burst_and_then_its_figure_a_minute(
    i: Installation, fake_clock: FakeClock
) -> None:
    secret = await free_key(i)

    assert [200] * 2 * N + [429] * 5 == await statuses(i.stranger, 2 * N + 5, secret)
    passed = 0
    for _ in range(120):
        await fake_clock.move(0.5)
        passed += (await statuses(i.stranger, 2, secret)).count(200)

    assert 99 <= passed <= 101


async def test_refusal_has_a_retry_after_header(i: Installation) -> None:
    secret = await free_key(i)
    await statuses(i.stranger, 2 * N, secret)

    answer = await i.get("/key", secret=secret)

    error = answer.json()["error"]
    assert (429, "rate_limit_exceeded") == (answer.status_code, error["code"])
    assert (N, 0, IN_A_MINUTE) == limit_headers(answer)
    assert "1" == answer.headers["Retry-After"] == str(error["retry_after"])


async def test_headers_report_the_last_sixty_seconds(
    i: Installation, fake_clock: FakeClock
) -> None:
    secret = await free_key(i)

    assert (N, N - 1, IN_A_MINUTE) == limit_headers(await i.get("/key", secret=secret))
    await fake_clock.move(59)
    assert (N, N - 2, IN_A_MINUTE) == limit_headers(await i.get("/receipts", secret=secret))
    await fake_clock.move(1)
    assert (N, N - 2, IN_A_MINUTE + 59) == limit_headers(await i.get("/key", secret=secret))


async def test_session_is_limited_by_its_user(i: Installation) -> None:
    ana = await people.signed_up(i)
    me = [await i.stranger.get("/v1/auth/me", headers=ana.headers) for _ in range(2 * N + 1)]

    assert [200] * 2 * N + [429] == [answer.status_code for answer in me]
    bea = await people.signed_up(i, email="bea@example.com")
    assert 200 == (await i.stranger.get("/v1/org", headers=bea.headers)).status_code


async def test_limit_comes_before_permission_and_body(i: Installation) -> None:
    owner = await people.signed_up(i)
    viewer = await people.joined(i, owner, Role.VIEWER)

    async def answer() -> httpx.Response:
        headers = {**viewer.headers, "Content-Type": "application/json"}
        return await i.stranger.post("/v1/api-keys", content=b"{", headers=headers)

    assert [403] * 2 * N + [429] == [(await answer()).status_code for _ in range(2 * N + 1)]


async def test_address_is_limited_over_all_keys_of_a_plan(i: Installation) -> None:
    one, two, three = [await free_key(i) for _ in range(3)]
    async with from_elsewhere(i) as client:
        assert [200] * N == await statuses(client, N, one)
        assert [200] * N == await statuses(client, N, two)
        answer = await client.get("/v1/key", headers={"X-API-Key": three})

        assert (429, (N, 0, IN_A_MINUTE)) == (answer.status_code, limit_headers(answer))
        # Those of another plan have a figure of their own.
        assert [200] == await statuses(client, 1, i.secret)
    # A refused address spent nothing of the key.
    assert [200] * 2 * N == await statuses(i.stranger, 2 * N, three)


async def test_lower_of_address_and_key_limit_is_reported(i: Installation) -> None:
    one, two = await free_key(i), await free_key(i)
    async with from_elsewhere(i) as client:
        await statuses(client, 3, one)

        assert N - 4 == limit_headers(await client.get("/v1/key", headers={"X-API-Key": two}))[1]
    assert N - 4 == limit_headers(await i.get("/key", secret=one))[1]


async def test_loopback_is_counted_and_not_refused_in_development(i: Installation) -> None:
    keys = [await free_key(i) for _ in range(3)]
    for secret in keys:
        assert [200] * N == await statuses(i.stranger, N, secret)

    answer = await i.get("/key", secret=keys[0])
    assert (200, 0) == (answer.status_code, limit_headers(answer)[1])
    assert [401] * 3 * N == await statuses(i.stranger, 3 * N)


async def test_loopback_is_refused_where_it_is_limited(
    fake_clock: FakeClock, sqlite_url: str, tmp_path: Path
) -> None:
    assert fake_clock.seconds == START_SECONDS
    async with installation.start(sqlite_url, tmp_path, limit_loopback=True) as i:
        assert [401] * 2 * N + [429] == await statuses(i.stranger, 2 * N + 1)


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "sk_live_x"}, {"X-API-Key": ""}])
async def test_bad_credential_is_401_while_the_address_lasts(
    i: Installation, headers: dict[str, str]
) -> None:
    async with from_elsewhere(i) as client:
        answers = [await client.get("/v1/receipts", headers=headers) for _ in range(2 * N + 1)]
        valid = await client.get("/v1/key", headers={"X-API-Key": i.secret})

    assert [401] * 2 * N + [429] == [answer.status_code for answer in answers]
    assert (N, N - 1, IN_A_MINUTE) == limit_headers(answers[0])
    assert (N, 0, IN_A_MINUTE) == limit_headers(answers[-1])
    assert "WWW-Authenticate" not in answers[-1].headers
    assert str(len(answers[-1].content)) == answers[-1].headers["Content-Length"]
    assert "rate_limit_exceeded" == answers[-1].json()["error"]["code"]
    assert (200, SCALE) == (valid.status_code, limit_headers(valid)[0])


async def test_refused_public_route_does_nothing(i: Installation) -> None:
    body = {"email": "late@example.com", "password": people.PASSWORD, "org_name": "Late"}
    async with from_elsewhere(i) as client:
        await statuses(client, 2 * N)
        refused = await client.post("/v1/auth/signup", json=body)
    signed_up = await i.stranger.post("/v1/auth/signup", json=body)

    assert 429 == refused.status_code
    assert 201 == signed_up.status_code


async def test_refused_upload_is_taken_to_its_end(i: Installation) -> None:
    async with from_elsewhere(i) as client:
        await statuses(client, 2 * N)
        files = {"file": ("document.jpg", make.jpeg("document"), "image/jpeg")}
        answer = await client.post("/v1/extract", files=files)

    assert (429, "rate_limit_exceeded") == (answer.status_code, answer.json()["error"]["code"])


REQUESTS: Sequence[tuple[str, str, dict[str, Any], int]] = [
    ("GET", "/v1", {}, 404),
    ("GET", "/v1/nowhere", {}, 404),
    ("PUT", "/v1/receipts", {}, 405),
    ("GET", "/v1/extract", {}, 405),
    ("GET", "/v1/receipts", {}, 401),
    ("GET", "/v1/receipts", {"headers": {"X-Large": "x" * 70_000}}, 431),
    ("GET", "/v1/auth/me", {}, 401),
    ("POST", "/v1/auth/login", {"json": {}}, 400),
    ("POST", "/v1/auth/logout", {"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
    ("OPTIONS", "/v1/receipts", {"headers": {"Access-Control-Request-Method": "GET"}}, 204),
    ("HEAD", "/v1/receipts", {}, 405),
]


@pytest.mark.parametrize(("method", "path", "options", "status"), REQUESTS)
async def test_every_answer_under_v1_carries_the_headers(
    i: Installation, method: str, path: str, options: dict[str, Any], status: int
) -> None:
    answer = await i.stranger.request(method, path, **options)

    assert status == answer.status_code
    assert (N, N - 1, IN_A_MINUTE) == limit_headers(answer)


UNROUTED = [("GET", "/v1/nowhere"), ("PUT", "/v1/receipts"), ("GET", "/v1/extract")]


@pytest.mark.parametrize(("method", "path"), UNROUTED)
async def test_what_no_route_takes_is_counted_for_who_asks(
    i: Installation, method: str, path: str
) -> None:
    secret = await make.key(i.database, await make.org(i.database, plan=PlanName.INDIE))
    ana = await people.signed_up(i)
    by_key = await i.stranger.request(method, path, headers={"X-API-Key": secret})
    by_user = await i.stranger.request(method, path, headers=ana.headers)
    org = await i.stranger.get("/v1/org", headers=ana.headers)
    with_bad_key = await i.stranger.request(method, path, headers={"X-API-Key": "sk_live_no"})
    indie = PLANS[PlanName.INDIE].requests_a_minute

    assert {404, 405} >= {one.status_code for one in (by_key, by_user, with_bad_key)}
    assert (indie, indie - 1, IN_A_MINUTE) == limit_headers(by_key)
    assert indie - 2 == limit_headers(await i.get("/key", secret=secret))[1]
    assert limit_headers(by_user)[1] - 1 == limit_headers(org)[1]
    assert N == limit_headers(with_bad_key)[0]


async def test_what_no_route_takes_is_refused_when_it_is_too_often(i: Installation) -> None:
    secret = await free_key(i)
    await statuses(i.stranger, 2 * N, secret)
    answer = await i.get("/nowhere", secret=secret)

    assert (429, "rate_limit_exceeded") == (answer.status_code, answer.json()["error"]["code"])
    assert (N, 0, IN_A_MINUTE) == limit_headers(answer)
    assert "1" == answer.headers["Retry-After"]


async def test_crash_carries_the_headers(i: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("recibo.services.reading.receipt_lists.page", crash)
    answer = await i.get("/receipts")

    assert 500 == answer.status_code
    assert (SCALE, SCALE - 1, IN_A_MINUTE) == limit_headers(answer)


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/portal/", "/v1x"]
)
async def test_nothing_else_carries_them_or_is_counted(i: Installation, path: str) -> None:
    answer = await i.stranger.get(path)

    assert not set(NAMES) & set(answer.headers)
    assert N - 1 == limit_headers(await i.stranger.get("/v1/key"))[1]


async def test_headers_of_an_upload_report_the_monthly_quota(i: Installation) -> None:
    secret = await free_key(i)
    first = await i.extract(make.jpeg("one"), secret=secret)
    replay = await i.extract(make.jpeg("one"), secret=secret)
    refused = await i.extract(make.jpeg("two"), secret=secret, media_type="text/plain")
    second = await i.extract(make.jpeg("two"), secret=secret)

    answers = [first, replay, refused, second]
    assert [200, 200, 400, 200] == [answer.status_code for answer in answers]
    left = (49, 49, 49, 48)
    assert [(50, one, NEXT_MONTH) for one in left] == [limit_headers(answer) for answer in answers]
    # They drew on the bucket of the minute all the same.
    assert N - 5 == limit_headers(await i.get("/key", secret=secret))[1]


async def test_headers_over_the_quota_report_zero_remaining(i: Installation) -> None:
    secret = await free_key(i)
    for number in range(50):
        await i.extracted(make.jpeg(str(number)), secret=secret)

    answer = await i.extract(make.jpeg("more"), secret=secret)
    assert (429, (50, 0, NEXT_MONTH)) == (answer.status_code, limit_headers(answer))


async def test_headers_of_a_rate_limited_upload_report_the_quota(
    i: Installation,
) -> None:
    secret = await free_key(i)
    await statuses(i.stranger, 2 * N, secret)

    answer = await i.extract(make.jpeg("document"), secret=secret)
    assert (429, (50, 0, NEXT_MONTH)) == (answer.status_code, limit_headers(answer))
    assert "1" == answer.headers["Retry-After"]


async def test_headers_of_an_upload_without_a_key_report_the_free_quota(i: Installation) -> None:
    for secret in ("sk_live_unknown", ""):
        answer = await i.stranger.post("/v1/extract", headers={"X-API-Key": secret})

        assert (401, (50, 50, NEXT_MONTH)) == (answer.status_code, limit_headers(answer))


async def test_headers_of_a_key_without_the_scope_report_its_quota(i: Installation) -> None:
    secret = await make.key(
        i.database, await make.org(i.database, plan=PlanName.FREE), scopes=[Scope.READ]
    )

    answer = await i.extract(make.jpeg("document"), secret=secret)
    assert (403, (50, 50, NEXT_MONTH)) == (answer.status_code, limit_headers(answer))


async def test_parallel_requests_do_not_pass_the_burst(i: Installation) -> None:
    secret = await free_key(i)
    answers = await asyncio.gather(*(i.get("/key", secret=secret) for _ in range(2 * N + 20)))

    assert 2 * N == [answer.status_code for answer in answers].count(200)


async def test_processes_share_the_limits_in_redis(
    sqlite_url: str, tmp_path: Path, redis_url: str
) -> None:
    async with installation.start(
        sqlite_url, tmp_path, redis_url=redis_url, with_worker=False
    ) as i:
        secret = await free_key(i)
        await i.get("/key", secret=secret)
        ready = await i.stranger.get("/readyz")
    async with installation.start(
        sqlite_url, tmp_path, redis_url=redis_url, with_worker=False
    ) as i:
        later = await i.get("/key", secret=secret)

    assert N - 2 == limit_headers(later)[1]
    assert "ok" == ready.json()["checks"]["limits"]


async def test_requests_pass_and_are_counted_as_unlimited_while_redis_is_down(
    sqlite_url: str, tmp_path: Path
) -> None:
    with servers.run_redis() as server:
        url = server.url
        context = installation.start(sqlite_url, tmp_path, redis_url=url, with_worker=False)
        i = await context.__aenter__()
    try:
        secret = await free_key(i)
        before = await unlimited(i)
        answers = [await i.get("/key", secret=secret) for _ in range(2 * N + 1)]
        ready = await i.stranger.get("/readyz")

        assert {200} == {answer.status_code for answer in answers}
        assert {(N, N)} == {limit_headers(answer)[:2] for answer in answers}
        assert before + 2 * N + 1 == await unlimited(i)
        assert "degraded" == ready.json()["checks"]["limits"]
        warned = [one for one in i.logs if one["event"].startswith("Redis is unreachable")]
        assert 1 == len(warned)
    finally:
        await context.__aexit__(None, None, None)


async def test_what_is_degraded_makes_nothing_unready(i: Installation) -> None:
    async def gone() -> bool:
        raise ConnectionError

    services = replace(i.services, dispensable={"limits": gone})
    i.asgi.state.services = services
    answer = await i.stranger.get("/readyz")

    assert (200, "ok") == (answer.status_code, answer.json()["status"])
    assert "degraded" == answer.json()["checks"]["limits"]


async def unlimited(i: Installation) -> float:
    """Return how many requests were not counted, as the metrics say."""
    lines = (await i.stranger.get("/metrics")).text.splitlines()
    (line,) = [one for one in lines if one.startswith("recibo_unlimited_requests_total ")]
    return float(line.split()[1])


async def test_upload_that_is_refused_reports_the_quota_of_its_key(i: Installation) -> None:
    secret = await free_key(i)
    await i.extracted(make.jpeg("first"), secret=secret)

    refused = await i.extract(b"text", secret=secret, media_type="text/plain")

    assert "unsupported_format" == refused.json()["error"]["code"]
    assert (QUOTA, QUOTA - 1, NEXT_MONTH) == limit_headers(refused)


async def test_upload_is_answered_when_its_quota_cannot_be_read(
    i: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise DatabaseUnavailable

    secret = await free_key(i)
    monkeypatch.setattr("recibo.services.reading.usage.quota", fail)

    answer = await i.extract(make.jpeg("first"), secret=secret)

    assert 200 == answer.status_code
    assert (QUOTA, QUOTA, NEXT_MONTH) == limit_headers(answer)
