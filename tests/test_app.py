"""The service started, stopped and restarted."""

import asyncio
import datetime as dt
import io
from pathlib import Path
from typing import Any

import pytest

from recibo import app
from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.services.identity.demo_org import Demo
from recibo.services.reading import readings
from recibo.startup import StartError
from recibo.store.folder_lock import FolderInUseError
from recibo.store.tables import Receipt, UsageEvent
from tests import installation, make
from tests.readers import HeldReader

RECEIPT = make.jpeg("receipt")


async def test_restart_processes_pending_receipts(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path, extract_wait_seconds=0) as before:
        before.reader.hold()
        pending = [(await before.extracted(make.jpeg(str(number))))["id"] for number in range(5)]
    async with installation.start(database_url, tmp_path) as after:
        ended = [
            await after.services.extraction.wait(
                await make.actor_of(after.database, before.secret), one, wait_seconds=20
            )
            for one in pending
        ]
        events = await after.rows(UsageEvent)

    assert {"completed"} == {receipt.status for receipt in ended}
    assert sorted(pending) == sorted(event.receipt_id for event in events)


async def test_upload_without_a_worker_is_read_by_the_next_worker(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, with_worker=False, extract_wait_seconds=0
    ) as idle:
        pending = await idle.extracted(RECEIPT)
    async with installation.start(database_url, tmp_path) as working:
        actor = await make.actor_of(working.database, idle.secret)
        read = await working.services.extraction.wait(actor, pending["id"], wait_seconds=20)

    assert ("pending", "completed") == (pending["status"], read.status)


async def test_stops_use_up_no_attempt(database_url: str, tmp_path: Path) -> None:
    secret = receipt_id = ""
    for _ in range(4):
        reader = HeldReader()
        async with installation.start(
            database_url, tmp_path, reader=reader, extract_wait_seconds=0
        ) as stopped:
            if not receipt_id:
                secret, receipt_id = stopped.secret, (await stopped.extracted(RECEIPT))["id"]
            await reader.has_begun.wait()
    async with installation.start(database_url, tmp_path) as last:
        actor = await make.actor_of(last.database, secret)
        ended = await last.services.extraction.wait(actor, receipt_id, wait_seconds=20)
        (row,) = await last.rows(Receipt)

    assert ("completed", 1) == (ended.status, row.attempt)


async def test_embedded_start_resumes_the_jobs_of_a_killed_server(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        sqlite_url, tmp_path, with_worker=False, extract_wait_seconds=0
    ) as idle:
        receipt_id = ReceiptId((await idle.extracted(RECEIPT))["id"])
        async with idle.database.write() as session:
            await readings.start(session, receipt_id)
    async with asyncio.timeout(readings.LEASE.total_seconds()):
        async with installation.start(sqlite_url, tmp_path) as next_:
            actor = await make.actor_of(next_.database, idle.secret)
            ended = await next_.services.extraction.wait(actor, receipt_id, wait_seconds=60)

    assert "completed" == ended.status


async def test_start_clears_the_spool_and_sweeps_no_files(sqlite_url: str, tmp_path: Path) -> None:
    orphan = ReceiptId(f"rcp_{'0' * 30}ab")
    async with installation.start(sqlite_url, tmp_path) as before:
        await before.extracted(RECEIPT)
        await before.services.blobs.put(orphan, io.BytesIO(b"orphan"))
    (tmp_path / "spool" / "upload").write_bytes(b"leftover")

    with clock.moved(dt.timedelta(days=1)):
        async with installation.start(sqlite_url, tmp_path) as after:
            await after.services.database.is_alive()
            kept = await after.file(orphan)

    assert kept is not None
    assert [] == list((tmp_path / "spool").iterdir())


async def test_database_of_another_installation_is_refused_in_a_line(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Its sweep would treat every file as an orphan."""
    async with installation.start(f"sqlite:///{tmp_path / 'other.db'}", tmp_path / "data"):
        pass

    with pytest.raises(StartError, match="recibo admin files adopt") as raised:
        async with installation.start(sqlite_url, tmp_path / "data"):
            pass
    assert "\n" not in str(raised.value)


async def test_data_is_for_its_owner_alone(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path / "data"):
        folders = [tmp_path / "data", *(tmp_path / "data" / name for name in ("files", "spool"))]

    assert {0o700} == {folder.stat().st_mode & 0o777 for folder in folders}


async def test_embedded_folder_is_used_by_one_process(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path):
        with pytest.raises(FolderInUseError):
            async with installation.start(sqlite_url, tmp_path):
                pass


async def test_several_processes_may_share_postgres(postgres_url: str, tmp_path: Path) -> None:
    async with (
        installation.start(postgres_url, tmp_path / "a") as one,
        installation.start(postgres_url, tmp_path / "b", with_worker=False) as other,
    ):
        receipt = await one.extracted(RECEIPT)
        seen = await other.get(f"/receipts/{receipt['id']}", secret=one.secret)

    assert receipt == seen.json()


@pytest.mark.parametrize("is_shared", [False, True])
async def test_second_server_without_redis_is_warned(
    postgres_url: str, redis_url: str, tmp_path: Path, *, is_shared: bool
) -> None:
    settings: dict[str, Any] = {"redis_url": redis_url if is_shared else ""}
    async with (
        installation.start(postgres_url, tmp_path / "a", with_worker=False, **settings) as first,
        installation.start(postgres_url, tmp_path / "b", with_worker=False, **settings) as second,
    ):
        warned = ["RECIBO_REDIS_URL" in str(one.logs) for one in (first, second)]

    assert [False, not is_shared] == warned


async def test_wait_at_one_process_ends_when_another_has_read(
    postgres_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Polling would take too long.
    monkeypatch.setattr("recibo.services.reading.extraction._POLL_SECONDS", 300)
    shared: dict[str, Any] = {"redis_url": redis_url, "extract_wait_seconds": 300}
    async with (
        asyncio.timeout(60),
        installation.start(postgres_url, tmp_path, with_worker=False, **shared) as server,
        installation.start(postgres_url, tmp_path, **shared),
    ):
        receipt = await server.extracted(RECEIPT)

    assert "completed" == receipt["status"]


async def test_demo_key_is_given_at_the_first_start_only(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path) as first:
        key = (await first.get("/key")).json()
    async with installation.start(sqlite_url, tmp_path) as second:
        assert "" == second.secret

    assert first.secret.startswith("sk_live_")
    assert ("scale", ["read", "write"]) == (key["plan"], key["scopes"])


async def test_owner_of_the_demo_can_sign_in(sqlite_url: str, tmp_path: Path) -> None:
    demos = list[Demo]()
    settings = installation.make_settings(tmp_path, database_url=sqlite_url)
    async with (
        app.lifespan(settings, with_worker=False, on_first_start=demos.append) as asgi,
        installation.client_of(asgi) as client,
    ):
        body = {"email": demos[0].email, "password": demos[0].password}
        answer = await client.post("/v1/auth/login", json=body)
        me = (await client.get("/v1/auth/me")).json()

    assert 200 == answer.status_code
    assert ("demo", "scale", "owner") == (me["org"]["slug"], me["org"]["plan"], me["role"])


async def test_cursor_outlives_a_restart(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path) as before:
        for number in range(2):
            await before.extracted(make.jpeg(str(number)))
        cursor = (await before.get("/receipts", limit="1")).json()["next_cursor"]
    async with installation.start(sqlite_url, tmp_path) as after:
        page = await after.get("/receipts", secret=before.secret, limit="1", cursor=cursor)

    assert 1 == len(page.json()["data"])


async def test_worker_alone_needs_servers_to_share(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="RECIBO_REDIS_URL"):
        async with app.worker(installation.make_settings(tmp_path)):
            pass


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"email_url": "smtp//u:secret@mail.example"}, "RECIBO_EMAIL_URL"),
        ({"email_from": "no-address"}, "RECIBO_EMAIL_FROM"),
    ],
)
@pytest.mark.parametrize("with_worker", [True, False])
async def test_invalid_mail_setting_fails_the_start(
    sqlite_url: str, tmp_path: Path, wrong: dict[str, Any], named: str, *, with_worker: bool
) -> None:
    with pytest.raises(StartError, match=named) as refused:
        async with installation.start(sqlite_url, tmp_path, with_worker=with_worker, **wrong):
            pass

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", "http://127.0.0.1:8765"),
        ("https://recibo.example/", "https://recibo.example"),
        ("https://recibo.example/base", "https://recibo.example/base"),
    ],
)
def test_links_lead_to_the_public_address_or_the_one_that_is_served(
    tmp_path: Path, setting: str, expected: str
) -> None:
    settings = installation.make_settings(tmp_path, base_url=setting)

    assert expected == app.base_url_of(settings, "http://127.0.0.1:8765")
