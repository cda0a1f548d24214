"""What only a bucket does: it fails, hangs, is large, and holds what others put there."""

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
    """An empty storage at the end of the line."""
    assert s3_proxy.port
    return S3(bucket_of(bucket_url), spool=tmp_path)


async def refused(blobs: S3) -> list[str]:
    """Return what a storage that fails says to each request."""
    told = []
    for asked in (blobs.keep(ONE, io.BytesIO(b"bytes")), blobs.content(ONE), blobs.listing("")):
        with pytest.raises(Overloaded) as raised:
            await asked
        told.append(raised.value.message)
    with pytest.raises(Overloaded):
        async with blobs.fetched(ONE):
            pass
    await blobs.discard(ONE)
    assert not await blobs.is_writable()
    return told


def left_in(folder: Path) -> list[Path]:
    """Return what lies in a folder."""
    return list(folder.iterdir())


async def test_storage_out_of_reach_is_overload_and_works_again_when_it_is_back(
    blobs: S3, s3_proxy: TcpProxy
) -> None:
    s3_proxy.cut()
    with capture_logs() as logs:
        told = await refused(blobs)
    s3_proxy.restore()
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    assert {"The storage of files does not answer; nothing was done. Try again later."} == set(told)
    assert {("the storage failed", "GenericError")} == {(one["event"], one["kind"]) for one in logs}
    assert await blobs.is_writable()
    assert [ONE] == [one.id for one in (await blobs.listing("")).files]


async def test_storage_that_hangs_is_waited_for_no_longer_than_the_limit(
    blobs: S3, s3_proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "_LIMIT_S", 0.1)
    s3_proxy.hang()

    assert 3 == len(await refused(blobs))


@pytest.mark.usefixtures("bucket_url")
async def test_bucket_that_is_not_there_is_a_failure_and_no_lost_file(tmp_path: Path) -> None:
    with capture_logs() as logs:
        await refused(S3(bucket_of("s3://nowhere"), spool=tmp_path))

    assert all("NoSuchBucket" in one["detail"] or "nowhere" in one["detail"] for one in logs)


async def test_fetch_that_breaks_off_leaves_no_copy(
    blobs: S3, s3_proxy: TcpProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than what lies between the two ends may hold: the rest is lost with the line.
    await blobs.keep(ONE, io.BytesIO(bytes(40_000_000)))
    content = await blobs.content(ONE)
    assert content is not None

    async def broken_off(_: ReceiptId) -> Content:
        s3_proxy.cut()
        return content

    monkeypatch.setattr(blobs, "content", broken_off)
    with pytest.raises(Overloaded):
        async with blobs.fetched(ONE):
            pass

    assert [] == left_in(tmp_path)


async def test_what_others_put_there_is_not_told(blobs: S3, bucket_url: str) -> None:
    store = bucket_of(bucket_url)
    for key in ("notes.txt", "ab/notes.txt", f"cd/{ONE}", f"deep/ab/{ONE}", str(ONE)):
        await obstore.put_async(store, key, b"not ours")

    assert [] == (await blobs.listing("")).files


async def test_bucket_that_took_a_file_a_moment_ago_is_not_asked_again(
    blobs: S3, s3_proxy: TcpProxy
) -> None:
    before = await blobs.is_writable()
    s3_proxy.cut()
    soon = await blobs.is_writable()
    with clock.moved(MINUTE):
        later = await blobs.is_writable()

    assert (True, True, False) == (before, soon, later)
