"""Uploaded files, in a folder and in a bucket."""

import datetime as dt
import io
import os
import shutil
from pathlib import Path

import pytest

from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.store import storage
from recibo.store.blobs import TRASH, Blobs, Folder

ONE = ReceiptId("rcp_" + "0" * 30 + "ab")
DAY = dt.timedelta(days=1)
# More than one upload part, and not a multiple of the chunk size.
LARGE = os.urandom(6 * 1024 * 1024 + 7)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return an empty folder."""
    return Folder(tmp_path)


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """Return empty storage of each kind."""
    url = "" if request.param == "folder" else request.getfixturevalue("bucket_url")
    spool = tmp_path / "spool"
    spool.mkdir()
    return storage.open_storage(url, folder=tmp_path / "files", spool=spool)


async def stored(blobs: Blobs, receipt_id: ReceiptId = ONE) -> bytes | None:
    """Return the content of the local file."""
    async with blobs.local_file(receipt_id) as path:
        return None if path is None else path.read_bytes()


async def streamed(blobs: Blobs, receipt_id: ReceiptId = ONE) -> bytes | None:
    """Return the streamed content, and check its announced size."""
    content = await blobs.content(receipt_id)
    if content is None:
        return None
    data = b"".join([bytes(chunk) async for chunk in content.chunks])
    assert content.size == len(data)
    return data


@pytest.mark.parametrize("data", [b"bytes", b"", LARGE], ids=["small", "empty", "large"])
async def test_stored_file_can_be_read(blobs: Blobs, data: bytes) -> None:
    await blobs.put(ONE, io.BytesIO(data))

    assert data == await stored(blobs)
    assert data == await streamed(blobs)


async def test_file_on_disk_can_be_stored(blobs: Blobs, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(LARGE)
    with path.open("rb") as file:
        await blobs.put(ONE, file)

    assert LARGE == await streamed(blobs)


async def test_missing_file_is_none(blobs: Blobs) -> None:
    assert await stored(blobs) is None
    assert await streamed(blobs) is None


async def test_deleted_file_is_gone_and_can_be_deleted_again(blobs: Blobs) -> None:
    await blobs.put(ONE, io.BytesIO(b"bytes"))

    await blobs.delete(ONE)
    await blobs.delete(ONE)

    assert await stored(blobs) is None


async def test_local_copy_is_deleted_after_the_block(blobs: Blobs, tmp_path: Path) -> None:
    await blobs.put(ONE, io.BytesIO(b"bytes"))

    with pytest.raises(RuntimeError):
        async with blobs.local_file(ONE):
            raise RuntimeError

    assert [] == list((tmp_path / "spool").iterdir())
    assert b"bytes" == await stored(blobs)


async def listed(blobs: Blobs) -> list[ReceiptId]:
    """Return the ids of all files, in the order of the pages."""
    found, cursor = list[ReceiptId](), ""
    while True:
        listing = await blobs.list_files(cursor)
        found += [one.id for one in listing.files]
        if listing.cursor is None:
            return found
        cursor = listing.cursor


async def in_trash(blobs: Blobs) -> list[tuple[ReceiptId, int]]:
    """Return the id and size of each file in the trash."""
    return [(one.id, one.size) async for one in blobs.list_trash()]


async def test_files_are_listed_in_pages_by_name(
    blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.store.blobs._PAGE_SIZE", 2)
    monkeypatch.setattr("recibo.store.s3._PAGE_SIZE", 2)
    kept = [ReceiptId(f"rcp_{number:030x}{end}") for end in ("ab", "cd") for number in range(3)]
    for one in kept:
        await blobs.put(one, io.BytesIO(b"bytes"))
    await blobs.write_marker("ours")

    assert kept == await listed(blobs)


async def test_listing_has_the_modification_time(blobs: Blobs) -> None:
    await blobs.put(ONE, io.BytesIO(b"bytes"))

    (found,) = (await blobs.list_files("")).files
    assert abs(found.changed_at - clock.now().timestamp()) < 60


async def test_modification_time_uses_the_service_clock(folder: Folder) -> None:
    with clock.moved(30 * DAY):
        await folder.put(ONE, io.BytesIO(b"bytes"))

        (found,) = (await folder.list_files("")).files
        assert found.changed_at > (clock.now() - DAY).timestamp()


async def test_files_of_others_are_not_listed(folder: Folder, tmp_path: Path) -> None:
    for name in ("notes.txt", "ab/notes.txt", f"cd/{ONE}", f"deep/ab/{ONE}", str(ONE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"not ours")

    assert [] == await listed(folder)


async def test_folders_of_others_in_the_trash_are_ignored(folder: Folder, tmp_path: Path) -> None:
    for name in ("2026-02-30", "2026-13-01", "notes"):
        (tmp_path / TRASH / name).mkdir(parents=True)
    await folder.put(ONE, io.BytesIO(b"bytes"))
    await folder.move_to_trash(ONE)
    seen = await in_trash(folder)

    assert [(ONE, 5)] == seen
    assert 1 == await folder.purge_trash(clock.now().date() + DAY, limit=10)


async def test_trashed_file_is_missing_until_it_is_restored(blobs: Blobs) -> None:
    await blobs.put(ONE, io.BytesIO(b"bytes"))
    await blobs.move_to_trash(ONE)
    await blobs.move_to_trash(ONE)
    away, trashed = await stored(blobs), [one async for one in blobs.list_trash()]

    assert (None, [(ONE, 5)]) == (away, [(one.id, one.size) for one in trashed])
    assert [] == await listed(blobs)
    assert await blobs.restore(trashed[0])
    assert (b"bytes", []) == (await stored(blobs), await in_trash(blobs))


async def test_restore_does_not_replace_a_newer_file(blobs: Blobs) -> None:
    await blobs.put(ONE, io.BytesIO(b"older"))
    await blobs.move_to_trash(ONE)
    await blobs.put(ONE, io.BytesIO(b"newer"))
    trashed = [one async for one in blobs.list_trash()]

    assert not await blobs.restore(trashed[0])
    assert b"newer" == await stored(blobs)


async def test_trash_is_purged_by_day_and_in_batches(blobs: Blobs) -> None:
    today = clock.now().date()
    kept_ids = [ReceiptId(f"rcp_{number:032x}") for number in range(4)]
    for number, one in enumerate(kept_ids):
        await blobs.put(one, io.BytesIO(b"bytes"))
        with clock.moved(DAY if number == 3 else 0 * DAY):
            await blobs.move_to_trash(one)

    assert 0 == await blobs.purge_trash(today, limit=10)
    assert 2 == await blobs.purge_trash(today + DAY, limit=2)
    assert 1 == await blobs.purge_trash(today + DAY, limit=2)
    assert [(kept_ids[3], 5)] == await in_trash(blobs)


async def test_files_of_purged_receipts_are_deleted_from_the_trash(blobs: Blobs) -> None:
    other = ReceiptId("rcp_" + "1" * 32)
    for one in (ONE, other):
        await blobs.put(one, io.BytesIO(b"bytes"))
        await blobs.move_to_trash(one)

    await blobs.delete_from_trash([ONE])

    assert [(other, 5)] == await in_trash(blobs)


async def test_marker_can_be_written_and_read(blobs: Blobs) -> None:
    before = await blobs.read_marker()
    await blobs.write_marker("one")
    await blobs.write_marker("another")

    assert (None, "another") == (before, await blobs.read_marker())


async def test_write_check_succeeds_and_leaves_no_listed_file(blobs: Blobs) -> None:
    assert await blobs.is_writable()
    assert await blobs.is_writable()
    assert [] == await listed(blobs)


async def test_file_and_its_folder_are_synced_before_put_returns(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append((name, (tmp_path / "ab" / ONE).exists()))

    monkeypatch.setattr(os, "fsync", fsync)

    await folder.put(ONE, io.BytesIO(b"bytes"))

    # The first file also creates the subfolder, whose parent is synced.
    assert [(tmp_path.name, False), (f"{ONE}.part", False), ("ab", True)] == synced


async def test_subfolders_that_exist_are_synced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(os, "fsync", fsync)
    (tmp_path / "ab").mkdir()
    folder = Folder(tmp_path)
    await folder.put(ONE, io.BytesIO(b"bytes"))

    assert [tmp_path.name, f"{ONE}.part", "ab"] == synced


async def test_subfolder_deleted_by_others_is_made_again(folder: Folder, tmp_path: Path) -> None:
    await folder.put(ONE, io.BytesIO(b"bytes"))
    shutil.rmtree(tmp_path / "ab")
    await folder.put(ONE, io.BytesIO(b"again"))

    assert b"again" == (tmp_path / "ab" / ONE).read_bytes()


async def test_failed_write_leaves_no_file(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)

    with pytest.raises(OSError, match="No space"):
        await folder.put(ONE, io.BytesIO(b"bytes"))

    assert [] == await listed(folder)
    assert not (tmp_path / "ab" / f"{ONE}.part").exists()


async def test_old_partial_files_are_deleted(folder: Folder, tmp_path: Path) -> None:
    await folder.put(ONE, io.BytesIO(b"bytes"))
    half = tmp_path / "ab" / f"rcp_{'1' * 30}ab.part"
    half.write_bytes(b"by")

    assert [ONE] == await listed(folder)
    assert half.exists()
    with clock.moved(DAY):
        assert [ONE] == await listed(folder)
    assert not half.exists()


async def test_file_deleted_during_the_listing_is_skipped(folder: Folder, tmp_path: Path) -> None:
    await folder.put(ONE, io.BytesIO(b"bytes"))
    # A dangling symlink behaves like a file deleted after it was listed.
    (tmp_path / "ab" / f"rcp_{'1' * 30}ab").symlink_to(tmp_path / "nowhere")

    assert [ONE] == await listed(folder)


async def test_missing_folder_is_not_writable(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "files")
    shutil.rmtree(tmp_path / "files")

    assert not await folder.is_writable()
