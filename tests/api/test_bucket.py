"""The whole service on a bucket: uploads, readings, downloads, purges, and outages."""

import datetime as dt
from pathlib import Path

import pytest

from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.startup import StartError
from recibo.store.tables import Receipt, UsageEvent, UsageMonth
from recibo.worker.periodic_tasks import PeriodicTasks
from tests import core, installation, make
from tests.tcp_proxy import TcpProxy

DOCUMENT = make.jpeg("document" * 100_000)


async def test_service_runs_on_a_bucket(database_url: str, bucket_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path, storage_url=bucket_url) as i:
        receipt = await i.extracted(DOCUMENT)
        file = await i.get(f"/receipts/{receipt['id']}/file")
        deleted = await i.delete(f"/receipts/{receipt['id']}")
        gone = await i.get(f"/receipts/{receipt['id']}/file")
        ready = await i.stranger.get("/readyz")
        with clock.moved(dt.timedelta(days=31)):
            blobs = i.services.blobs
            await PeriodicTasks(i.database, blobs, core.RecordingEnqueuer()).purge()
            purged = await blobs.content(ReceiptId(receipt["id"]))

    assert "completed" == receipt["status"]
    assert (200, DOCUMENT, str(len(DOCUMENT))) == (
        file.status_code,
        file.content,
        file.headers["content-length"],
    )
    assert (204, 404, 200) == (deleted.status_code, gone.status_code, ready.status_code)
    assert purged is None
    assert not (tmp_path / "files").exists()
    assert not any((tmp_path / "spool").iterdir())


async def test_unreachable_bucket_refuses_uploads_and_is_reported(
    database_url: str, bucket_url: str, s3_proxy: TcpProxy, tmp_path: Path
) -> None:
    async with installation.start(database_url, tmp_path, storage_url=bucket_url) as i:
        kept = await i.extracted(DOCUMENT)
        s3_proxy.cut()
        with clock.moved(dt.timedelta(minutes=1)):
            ready = await i.stranger.get("/readyz")
        refused = await i.extract(make.jpeg("other"))
        file = await i.get(f"/receipts/{kept['id']}/file")
        used = await i.used()
        rows = len(await i.rows(Receipt)), len(await i.rows(UsageEvent))
        [month] = await i.rows(UsageMonth)
        s3_proxy.restore()
        again = await i.extract(make.jpeg("other"))

    error = refused.json()["error"]
    assert (503, "server_error", 10) == (refused.status_code, error["code"], error["retry_after"])
    assert (503, "server_error") == (file.status_code, file.json()["error"]["code"])
    assert (503, "failing") == (ready.status_code, ready.json()["checks"]["storage"])
    assert ((1, 1), (1, 1), 1) == (used, rows, month.held)
    assert (200, "completed") == (again.status_code, again.json()["status"])


@pytest.mark.parametrize("url", ["ftp://files", "s3://", "file:///proc/none/files"])
async def test_invalid_storage_prevents_the_start(
    url: str, sqlite_url: str, tmp_path: Path
) -> None:
    with pytest.raises(StartError, match=r"RECIBO_STORAGE_URL|cannot be made"):
        async with installation.start(sqlite_url, tmp_path, storage_url=url):
            pass


async def test_files_are_stored_in_the_configured_folder(sqlite_url: str, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/far/away"
    async with installation.start(sqlite_url, tmp_path / "data", storage_url=url) as i:
        receipt = await i.extracted(DOCUMENT)
        path = await i.file(receipt["id"])

    assert path is not None
    assert path.is_relative_to(tmp_path / "far" / "away")
