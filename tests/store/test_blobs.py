"""Uploaded files, in a folder and in a bucket."""

import datetime as dt
import io
import os
from pathlib import Path

import pytest

from recibo.kit import clock
from recibo.shapes.ids import ReceiptId
from recibo.store import storage
from recibo.store.blobs import Blobs, Folder

ONE = ReceiptId("rcp_" + "0" * 30 + "ab")
FUTURE = 4e9
# More than one part of an upload, and no whole number of chunks.
LARGE = os.urandom(6 * 1024 * 1024 + 7)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty folder."""
    return Folder(tmp_path)


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty storage, of each kind in turn."""
    url = "" if request.param == "folder" else request.getfixturevalue("bucket_url")
    spool = tmp_path / "spool"
    spool.mkdir()
    return storage.of(url, folder=tmp_path / "files", spool=spool)


async def kept(blobs: Blobs, receipt_id: ReceiptId = ONE) -> bytes | None:
    """Return the bytes of a local file."""
    async with blobs.fetched(receipt_id) as path:
        return None if path is None else path.read_bytes()


async def sent(blobs: Blobs, receipt_id: ReceiptId = ONE) -> bytes | None:
    """Return the bytes that are sent, as many as were announced."""
    content = await blobs.content(receipt_id)
    if content is None:
        return None
    data = b"".join([bytes(chunk) async for chunk in content.chunks])
    assert content.size == len(data)
    return data


@pytest.mark.parametrize("data", [b"bytes", b"", LARGE], ids=["small", "empty", "large"])
async def test_kept_file_can_be_had(blobs: Blobs, data: bytes) -> None:
    await blobs.keep(ONE, io.BytesIO(data))

    assert data == await kept(blobs)
    assert data == await sent(blobs)


async def test_file_on_the_disk_is_kept(blobs: Blobs, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(LARGE)
    with path.open("rb") as file:
        await blobs.keep(ONE, file)

    assert LARGE == await sent(blobs)


async def test_file_that_is_not_there_is_none(blobs: Blobs) -> None:
    assert await kept(blobs) is None
    assert await sent(blobs) is None


async def test_discarded_file_is_gone_and_may_be_discarded_again(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    await blobs.discard(ONE)
    await blobs.discard(ONE)

    assert await kept(blobs) is None


async def test_local_copy_is_gone_when_it_was_read(blobs: Blobs, tmp_path: Path) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    with pytest.raises(RuntimeError):
        async with blobs.fetched(ONE):
            raise RuntimeError

    assert [] == list((tmp_path / "spool").iterdir())
    assert b"bytes" == await kept(blobs)


async def test_old_files_are_told(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    assert [ONE] == await blobs.older_than(FUTURE)


async def test_young_files_are_not_told(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    assert [] == await blobs.older_than(0)


async def test_file_is_young_by_the_clock_of_the_service(folder: Folder) -> None:
    with clock.moved(dt.timedelta(days=30)):
        await folder.keep(ONE, io.BytesIO(b"bytes"))

        assert [] == await folder.older_than((clock.now() - dt.timedelta(hours=1)).timestamp())


async def test_storage_tells_that_it_takes_files_and_none_of_it_is_a_file(blobs: Blobs) -> None:
    assert await blobs.is_writable()
    assert await blobs.is_writable()
    assert [] == await blobs.older_than(FUTURE)


async def test_file_and_its_name_are_synced_before_it_counts_as_kept(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append((name, (tmp_path / "ab" / ONE).exists()))

    monkeypatch.setattr(os, "fsync", fsync)

    await folder.keep(ONE, io.BytesIO(b"bytes"))

    # The first of all makes the subfolder, whose name is synced in the folder above.
    assert [(tmp_path.name, False), (f"{ONE}.part", False), ("ab", True)] == synced


async def test_write_that_breaks_off_leaves_nothing_under_the_name(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)

    with pytest.raises(OSError, match="No space"):
        await folder.keep(ONE, io.BytesIO(b"bytes"))

    assert [] == await folder.older_than(FUTURE)
    assert not (tmp_path / "ab" / f"{ONE}.part").exists()


async def test_halves_of_killed_writes_are_deleted_once_they_are_old(
    folder: Folder, tmp_path: Path
) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))
    half = tmp_path / "ab" / "rcp_half.part"
    half.write_bytes(b"by")

    assert [] == await folder.older_than(0)
    assert half.exists()
    assert [ONE] == await folder.older_than(FUTURE)
    assert not half.exists()


async def test_file_that_goes_while_one_looks_is_passed_over(
    folder: Folder, tmp_path: Path
) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))
    # A name that leads nowhere: what a listed file has become once it is deleted.
    (tmp_path / "ab" / "rcp_gone").symlink_to(tmp_path / "nowhere")

    assert [ONE] == await folder.older_than(FUTURE)


async def test_folder_that_is_not_there_takes_no_files(tmp_path: Path) -> None:
    assert not await Folder(tmp_path / "nowhere").is_writable()
