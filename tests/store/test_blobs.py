"""Uploaded files, in a folder and in a bucket."""

import datetime as dt
import io
import os
from pathlib import Path

import pytest

from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.store import storage
from recibo.store.blobs import Blobs, Folder

ONE = ReceiptId("rcp_" + "0" * 30 + "ab")
DAY = dt.timedelta(days=1)
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


async def listed(blobs: Blobs) -> list[ReceiptId]:
    """Return the ids of all files, in the order of their listings."""
    found, cursor = list[ReceiptId](), ""
    while True:
        listing = await blobs.listing(cursor)
        found += [one.id for one in listing.files]
        if listing.cursor is None:
            return found
        cursor = listing.cursor


async def in_trash(blobs: Blobs) -> list[tuple[ReceiptId, int]]:
    """Return the id and size of all that is in the trash."""
    return [(one.id, one.size) async for one in blobs.trashed()]


async def test_files_are_listed_in_portions_by_name(
    blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.store.blobs._LISTED_AT_ONCE", 2)
    monkeypatch.setattr("recibo.store.s3._PAGE", 2)
    kept = [ReceiptId(f"rcp_{number:030x}{end}") for end in ("ab", "cd") for number in range(3)]
    for one in kept:
        await blobs.keep(one, io.BytesIO(b"bytes"))
    await blobs.mark("ours")

    assert kept == await listed(blobs)


async def test_listing_tells_when_a_file_was_kept(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))

    (found,) = (await blobs.listing("")).files
    assert abs(found.changed_at - clock.now().timestamp()) < 60


async def test_file_is_young_by_the_clock_of_the_service(folder: Folder) -> None:
    with clock.moved(30 * DAY):
        await folder.keep(ONE, io.BytesIO(b"bytes"))

        (found,) = (await folder.listing("")).files
        assert found.changed_at > (clock.now() - DAY).timestamp()


async def test_what_others_put_there_is_not_listed(folder: Folder, tmp_path: Path) -> None:
    for name in ("notes.txt", "ab/notes.txt", f"cd/{ONE}", f"deep/ab/{ONE}", str(ONE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"not ours")

    assert [] == await listed(folder)


async def test_trashed_file_is_away_until_it_is_restored(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"bytes"))
    await blobs.trash(ONE)
    await blobs.trash(ONE)
    away, trashed = await kept(blobs), [one async for one in blobs.trashed()]

    assert (None, [(ONE, 5)]) == (away, [(one.id, one.size) for one in trashed])
    assert [] == await listed(blobs)
    assert await blobs.restore(trashed[0])
    assert (b"bytes", []) == (await kept(blobs), await in_trash(blobs))


async def test_restored_file_replaces_none(blobs: Blobs) -> None:
    await blobs.keep(ONE, io.BytesIO(b"older"))
    await blobs.trash(ONE)
    await blobs.keep(ONE, io.BytesIO(b"newer"))
    trashed = [one async for one in blobs.trashed()]

    assert not await blobs.restore(trashed[0])
    assert b"newer" == await kept(blobs)


async def test_trash_is_purged_by_the_day_and_in_portions(blobs: Blobs) -> None:
    today = clock.now().date()
    kept_ids = [ReceiptId(f"rcp_{number:032x}") for number in range(4)]
    for number, one in enumerate(kept_ids):
        await blobs.keep(one, io.BytesIO(b"bytes"))
        with clock.moved(DAY if number == 3 else 0 * DAY):
            await blobs.trash(one)

    assert 0 == await blobs.purge_trash(today, limit=10)
    assert 2 == await blobs.purge_trash(today + DAY, limit=2)
    assert 1 == await blobs.purge_trash(today + DAY, limit=2)
    assert [(kept_ids[3], 5)] == await in_trash(blobs)


async def test_purged_receipts_leave_the_trash_at_once(blobs: Blobs) -> None:
    other = ReceiptId("rcp_" + "1" * 32)
    for one in (ONE, other):
        await blobs.keep(one, io.BytesIO(b"bytes"))
        await blobs.trash(one)

    await blobs.discard_trashed([ONE])

    assert [(other, 5)] == await in_trash(blobs)


async def test_mark_is_told_as_it_was_made(blobs: Blobs) -> None:
    before = await blobs.marker()
    await blobs.mark("one")
    await blobs.mark("another")

    assert (None, "another") == (before, await blobs.marker())


async def test_storage_tells_that_it_takes_files_and_none_of_it_is_a_file(blobs: Blobs) -> None:
    assert await blobs.is_writable()
    assert await blobs.is_writable()
    assert [] == await listed(blobs)


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

    assert [] == await listed(folder)
    assert not (tmp_path / "ab" / f"{ONE}.part").exists()


async def test_halves_of_killed_writes_are_deleted_once_they_are_old(
    folder: Folder, tmp_path: Path
) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))
    half = tmp_path / "ab" / f"rcp_{'1' * 30}ab.part"
    half.write_bytes(b"by")

    assert [ONE] == await listed(folder)
    assert half.exists()
    with clock.moved(DAY):
        assert [ONE] == await listed(folder)
    assert not half.exists()


async def test_file_that_goes_while_one_looks_is_passed_over(
    folder: Folder, tmp_path: Path
) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))
    # A name that leads nowhere: what a listed file has become once it is deleted.
    (tmp_path / "ab" / f"rcp_{'1' * 30}ab").symlink_to(tmp_path / "nowhere")

    assert [ONE] == await listed(folder)


async def test_folder_that_is_not_there_takes_no_files(tmp_path: Path) -> None:
    assert not await Folder(tmp_path / "nowhere").is_writable()
