"""Uploaded files in a folder."""

import io
import os
from pathlib import Path

import pytest

from recibo.shapes.ids import ReceiptId
from recibo.store.blobs import Folder

ONE = ReceiptId("rcp_" + "0" * 30 + "ab")
FUTURE = 4e9


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty folder."""
    return Folder(tmp_path)


async def test_kept_file_can_be_had(folder: Folder) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))

    path = await folder.path(ONE)
    assert path is not None
    assert b"bytes" == path.read_bytes()


async def test_file_that_is_not_there_is_none(folder: Folder) -> None:
    assert await folder.path(ONE) is None


async def test_discarded_file_is_gone_and_may_be_discarded_again(folder: Folder) -> None:
    await folder.keep(ONE, io.BytesIO(b"bytes"))

    await folder.discard(ONE)
    await folder.discard(ONE)

    assert await folder.path(ONE) is None


async def test_file_and_its_name_are_synced_before_it_counts_as_kept(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append((name, (tmp_path / "ab" / ONE).exists()))

    monkeypatch.setattr(os, "fsync", fsync)

    await folder.keep(ONE, io.BytesIO(b"bytes"))

    assert [(f"{ONE}.part", False), ("ab", True)] == synced


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


async def test_old_files_are_told_and_halves_of_killed_writes_deleted(
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


async def test_folder_tells_whether_it_takes_files(folder: Folder, tmp_path: Path) -> None:
    assert await folder.is_writable()
    assert not await Folder(tmp_path / "nowhere").is_writable()
