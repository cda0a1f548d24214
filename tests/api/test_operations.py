"""GET /healthz, /readyz and /metrics."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recibo.settings import Environment
from recibo.web.services import Probe
from tests import installation, make
from tests.installation import Installation

PRODUCTION: dict[str, Any] = {
    "environment": Environment.PRODUCTION,
    "secret_key": "s" * 32,
    "base_url": "https://recibo.test",
    "email_url": "smtp://127.0.0.1:9",
}


async def test_service_is_alive_and_ready(service: Installation) -> None:
    alive = await service.stranger.get("/healthz")
    ready = await service.stranger.get("/readyz")

    assert (200, {"status": "ok"}) == (alive.status_code, alive.json())
    checks = dict.fromkeys(("database", "storage", "queue", "reader"), "ok")
    assert (200, {"status": "ok", "checks": checks}) == (ready.status_code, ready.json())


async def test_service_without_workers_asks_no_reader(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as door:
        checks = (await door.stranger.get("/readyz")).json()["checks"]

    assert {"database", "storage", "queue"} == set(checks)


async def no() -> bool:
    """Answer that a part does not work."""
    return False


async def broken() -> bool:
    """Fail instead of answering."""
    raise ConnectionError


@pytest.mark.parametrize("probe", [no, broken])
async def test_part_that_fails_is_named_and_makes_503(door: Installation, probe: Probe) -> None:
    probes = {**door.services.probes, "queue": probe}
    door.asgi.state.services = replace(door.services, probes=probes)

    answer = await door.stranger.get("/readyz")

    body = answer.json()
    assert (503, "unavailable", "failing") == (
        answer.status_code,
        body["status"],
        body["checks"]["queue"],
    )
    assert "ok" == body["checks"]["database"]
    assert ("server_error", "Not ready: queue.") == (
        body["error"]["code"],
        body["error"]["message"],
    )
    assert str(body["error"]["retry_after"]) == answer.headers["Retry-After"]
    assert 200 == (await door.stranger.get("/healthz")).status_code


async def test_read_only_storage_is_reported(door: Installation) -> None:
    (door.data_dir / "files").rename(door.data_dir / "elsewhere")

    assert "failing" == (await door.stranger.get("/readyz")).json()["checks"]["storage"]


async def test_metrics_count_requests_and_readings_and_name_no_org(
    reading_door: Installation,
) -> None:
    receipt = await reading_door.extracted(make.jpeg("document"))
    await reading_door.get(f"/receipts/{receipt['id']}")

    answer = await reading_door.stranger.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain")
    assert 'route="/v1/receipts/{receipt_id}",status="200"' in answer.text
    assert 'recibo_readings_total{accuracy="standard",outcome="completed"}' in answer.text
    assert "recibo_pending_readings" in answer.text
    assert receipt["org_id"] not in answer.text
    assert receipt["id"] not in answer.text


async def test_unknown_paths_do_not_grow_the_metrics(door: Installation) -> None:
    await door.stranger.get("/nowhere-that-anybody-knows")

    assert "nowhere-that" not in (await door.stranger.get("/metrics")).text


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}, 404),
        ("127.0.0.1", {"X-Real-IP": "203.0.113.9"}, 404),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 404),
        ("203.0.113.9", {}, 404),
        ("203.0.113.9", {"Authorization": "Bearer wrong"}, 404),
        ("203.0.113.9", {"Authorization": "token"}, 404),
        ("203.0.113.9", {"X-Forwarded-For": "127.0.0.1"}, 404),
        ("203.0.113.9", {"Authorization": "Bearer token"}, 200),
    ],
)
async def test_metrics_in_production_are_for_loopback_and_the_token(
    sqlite_url: str, tmp_path: Path, address: str, headers: dict[str, str], status: int
) -> None:
    async with (
        installation.start(sqlite_url, tmp_path, metrics_token="token", **PRODUCTION) as door,  # noqa: S106
        installation.client_of(door.asgi, address=address) as client,
    ):
        answer = await client.get("/metrics", headers=headers)

    assert status == answer.status_code


@pytest.mark.parametrize("token", [None, ""])
async def test_metrics_in_production_without_a_token_are_for_loopback_alone(
    sqlite_url: str, tmp_path: Path, token: str | None
) -> None:
    async with (
        installation.start(sqlite_url, tmp_path, metrics_token=token, **PRODUCTION) as door,
        installation.client_of(door.asgi, address="203.0.113.9") as client,
    ):
        answers = [
            await client.get("/metrics", headers={"Authorization": value})
            for value in ("Bearer None", "Bearer ", "")
        ]

    assert [404] * 3 == [answer.status_code for answer in answers]


async def test_production_makes_no_demo_org(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path, **PRODUCTION) as door:
        assert "" == door.secret


async def test_production_takes_only_https_webhooks_to_public_addresses(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(database_url, tmp_path, **PRODUCTION) as door:
        secret = await make.key(door.database, await make.org(door.database))
        statuses = [
            (await door.extract(make.jpeg("document"), secret=secret, webhook_url=url)).status_code
            for url in ("https://example.com/", "http://example.com/", "https://127.0.0.1/")
        ]

    assert [200, 400, 400] == statuses


async def test_methods_that_clients_invent_are_no_metrics_of_their_own(door: Installation) -> None:
    for number in range(3):
        await door.stranger.request(f"INVENTED{number}", "/healthz")
    result = (await door.stranger.get("/metrics")).text

    assert "INVENTED" not in result
    assert 'method="other"' in result
