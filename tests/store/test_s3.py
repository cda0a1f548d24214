"""Cases specific to buckets: failures, timeouts, large files and files of others."""

import datetime as dt
import io
from pathlib import Path

import obstore
import pytest
from structlog.testing import capture_logs

from recibo.errors import Overloaded
from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.store import s3
from recibo.store.blobs import Content
from recibo.store.s3 import S3
from tests.tcp_proxy import TcpProxy

ONE = ReceiptId("rcp_" + "0" * 30 + "ab")
MINUTE = dt.timedelta(minutes=1)


def bucket_of(url: str) -> obstore.store.S3Store:
    """Return the bucket of a URL."""
    name, _, prefix = url.removeprefix("s3://").partition("/")
    return s3.bucket(name, prefix)


@pytest.fixture
def blobs(s3_proxy: TcpProxy, bucket_url: str, tmp_path: Path) -> S3:
    """Return empty storage behind a TCP relay."""
    assert s3_proxy.port
    return S3(bucket_of(bucket_url), spool=tmp_path)


async def refused(blobs: S3) -> list[str]:
    """Return the error message of each request to failing storage."""
    result = []
    for asked in (blobs.put(ONE, io.BytesIO(b"bytes")), blobs.content(ONE), blobs.list_files("")):
        with pytest.raises(Overloaded) as raised:
            await asked
        result.append(raised.value.message)
    with pytest.raises(Overloaded):
        async with blobs.local_file(ONE):
            pass
    await blobs.delete(ONE)
    assert not await blobs.is_writable()
    return result


def left_in(folder: Path) -> list[Path]:
    """Return the files in a folder."""
    return list(folder.iterdir())


async def test_unreachable_storage_is_overload_until_it_is_back(
    blobs: S3, s3_proxy: TcpProxy
) -> None:
    s3_proxy.cut()
    with capture_logs() as logs:
        result = await refused(blobs)
    s3_proxy.restore()
    await blobs.put(ONE, io.BytesIO(b"bytes"))

    assert {"The storage of files does not answer; nothing was done. Try again later."} == set(
        result
    )
    assert {("the storage failed", "GenericError")} == {(one["event"], one["kind"]) for one in logs}
    assert await blobs.is_writable()
    assert [ONE] == [one.id for one in (await blobs.list_files("")).files]


async def test_hanging_storage_times_out(
    blobs: S3, s3_proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "_TIMEOUT_S", 0.1)
    s3_proxy.hang()

    assert 3 == len(await refused(blobs))


@pytest.mark.usefixtures("bucket_url")
async def test_missing_bucket_is_a_failure_and_not_a_missing_file(tmp_path: Path) -> None:
    with capture_logs() as logs:
        await refused(S3(bucket_of("s3://nowhere"), spool=tmp_path))

    assert all("NoSuchBucket" in one["detail"] or "nowhere" in one["detail"] for one in logs)


async def test_interrupted_download_leaves_no_copy(
    blobs: S3, s3_proxy: TcpProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than the buffers between client and server hold, so the rest is lost.
    await blobs.put(ONE, io.BytesIO(bytes(40_000_000)))
    content = await blobs.content(ONE)
    assert content is not None

    async def broken_off(_: ReceiptId) -> Content:
        s3_proxy.cut()
        return content

    monkeypatch.setattr(blobs, "content", broken_off)
    with pytest.raises(Overloaded):
        async with blobs.local_file(ONE):
            pass

    assert [] == left_in(tmp_path)


async def test_objects_of_others_are_not_listed(blobs: S3, bucket_url: str) -> None:
    store = bucket_of(bucket_url)
    for key in ("notes.txt", "ab/notes.txt", f"cd/{ONE}", f"deep/ab/{ONE}", str(ONE)):
        await obstore.put_async(store, key, b"not ours")

    assert [] == (await blobs.list_files("")).files


async def test_write_check_of_a_bucket_is_cached(blobs: S3, s3_proxy: TcpProxy) -> None:
    before = await blobs.is_writable()
    s3_proxy.cut()
    soon = await blobs.is_writable()
    with clock.moved(MINUTE):
        later = await blobs.is_writable()

    assert (True, True, False) == (before, soon, later)
