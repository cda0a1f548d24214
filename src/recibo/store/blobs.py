"""Uploaded files, stored by receipt id and durable before their row is committed."""

import asyncio
import contextlib
import datetime as dt
import os
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.store import folders

#: Large enough that a file has few chunks, small enough for many concurrent downloads in memory.
CHUNK_BYTES = 256 * 1024
#: The file that says which installation the files belong to.
MARKER = ".installation"
#: The folder of deleted orphans, with one subfolder per day.
TRASH = "trash"
# Listing so many takes a few milliseconds.
_PAGE_SIZE = 1000
# No upload takes longer to write its file.
_PARTIAL_FILE_MAX_AGE = dt.timedelta(hours=1)
_SUBFOLDER = re.compile("[0-9a-f]{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file, streamed."""

    size: int
    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Listed:
    """A stored file and its modification time in Unix seconds."""

    id: ReceiptId
    changed_at: float


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of stored files, ordered by name."""

    files: list[Listed]
    #: Pass it to get the next page; None on the last page.
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Trashed:
    """A file in the trash."""

    id: ReceiptId
    size: int
    day: dt.date


class Trash(Protocol):
    """The trash: files without a database row, kept for a while before deletion."""

    async def move_to_trash(self, receipt_id: ReceiptId) -> None:
        """Move a file to the trash; do nothing if it does not exist."""

    def list_trash(self) -> AsyncIterator[Trashed]:
        """Yield the files in the trash, oldest day first."""

    async def restore(self, trashed: Trashed) -> bool:
        """Move a file back; return False if a new file with this id exists."""

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete up to `limit` files that were trashed before a day; return how many."""

    async def delete_from_trash(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete the files of these receipts from the trash."""


class Blobs(Trash, Protocol):
    """Storage of uploaded files.

    Remote storage raises Overloaded when it does not answer.
    """

    #: The time budget of one sweep batch: a folder uses this machine's CPU and disk, a bucket is
    #: mostly waiting.
    sweep_seconds: float

    async def put(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file durably: it survives a crash once this returns."""

    def local_file(self, receipt_id: ReceiptId) -> AbstractAsyncContextManager[Path | None]:
        """Open a local copy for the duration of the block; None if the file does not exist."""

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the content as a stream; None if the file does not exist."""

    async def delete(self, receipt_id: ReceiptId) -> None:
        """Delete the file if it exists; if that fails, the sweep deletes it later."""

    async def list_files(self, after: str) -> Listing:
        """Return the page of files after a cursor; an empty cursor returns the first page."""

    async def read_marker(self) -> str | None:
        """Return the content of the marker; None if there is none."""

    async def write_marker(self, marker: str) -> None:
        """Write the marker durably."""

    async def is_writable(self) -> bool:
        """Return whether files can be stored."""


class Folder:
    """Files in a local folder, in 256 subfolders by the last characters of their ids."""

    sweep_seconds = 0.4

    def __init__(self, root: Path) -> None:
        """Sync the subfolders that exist, so that no upload must."""
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._durable = set(_names(root))
        folders.sync(root)

    async def put(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Write the file, then sync it and its folder."""
        await asyncio.to_thread(self._put, receipt_id, file)

    @asynccontextmanager
    async def local_file(self, receipt_id: ReceiptId) -> AsyncIterator[Path | None]:
        """Return the path of the stored file itself."""
        path = self._path(receipt_id)
        yield path if await asyncio.to_thread(path.is_file) else None

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return a stream that reads the file in chunks."""
        path = self._path(receipt_id)
        try:
            size = (await asyncio.to_thread(path.stat)).st_size
        except FileNotFoundError:
            return None
        return Content(size, _chunks(path))

    async def delete(self, receipt_id: ReceiptId) -> None:
        """Delete the file."""
        await asyncio.to_thread(self._path(receipt_id).unlink, missing_ok=True)

    async def is_writable(self) -> bool:
        """Return whether the folder is writable."""
        return await asyncio.to_thread(os.access, self._root, os.W_OK | os.X_OK)

    async def list_files(self, after: str) -> Listing:
        """Return up to a thousand files, and delete old partial files among them."""
        return await asyncio.to_thread(self._list_files, after)

    async def read_marker(self) -> str | None:
        """Return the text of the marker file."""
        try:
            return await asyncio.to_thread((self._root / MARKER).read_text, "utf-8")
        except FileNotFoundError:
            return None

    async def write_marker(self, marker: str) -> None:
        """Write the marker file."""
        await asyncio.to_thread(folders.write, self._root / MARKER, marker.encode())

    async def move_to_trash(self, receipt_id: ReceiptId) -> None:
        """Rename the file into today's trash folder."""
        await asyncio.to_thread(self._move_to_trash, receipt_id)

    async def list_trash(self) -> AsyncIterator[Trashed]:
        """Yield the files of the trash folders, day by day."""
        for day in await asyncio.to_thread(self._days):
            for one in await asyncio.to_thread(self._of_day, day):
                yield one

    async def restore(self, trashed: Trashed) -> bool:
        """Move the file back to its subfolder."""
        return await asyncio.to_thread(self._restore, trashed)

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete files of old days, and day folders that are empty."""
        return await asyncio.to_thread(self._purge_trash, before, limit)

    async def delete_from_trash(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete the files from every day's folder."""
        for day in await asyncio.to_thread(self._days):
            for receipt_id in receipt_ids:
                path = self._trashed_path(day, receipt_id)
                await asyncio.to_thread(path.unlink, missing_ok=True)

    def _path(self, receipt_id: ReceiptId) -> Path:
        return self._root / key_of(receipt_id)

    def _put(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        path = self._path(receipt_id)
        self._make_durable(path.parent)
        partial = path.with_suffix(".part")
        try:
            with partial.open("wb") as target:
                shutil.copyfileobj(file, target)
                target.flush()
                # The sweep compares this time with the service's clock, which tests can change.
                now = clock.now().timestamp()
                os.utime(target.fileno(), (now, now))
                os.fsync(target.fileno())
            partial.replace(path)
            folders.sync(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def _make_durable(self, subfolder: Path) -> None:
        """Create a subfolder and sync its parent.

        A concurrent upload may have created it without having synced it yet.
        """
        try:
            subfolder.mkdir(mode=0o700)
        except FileExistsError:
            if subfolder.name in self._durable:
                return
        folders.sync(self._root)
        self._durable.add(subfolder.name)

    def _list_files(self, after: str) -> Listing:
        first, _, last_name = after.partition("/")
        for subfolder in sorted(_names(self._root)):
            if subfolder < first or not _SUBFOLDER.fullmatch(subfolder):
                continue
            names = sorted(_names(self._root / subfolder))
            if subfolder == first:
                names = [name for name in names if name > last_name]
            if names := names[:_PAGE_SIZE]:
                return Listing(list(self._listed(subfolder, names)), f"{subfolder}/{names[-1]}")
        return Listing([], None)

    def _listed(self, subfolder: str, names: list[str]) -> Iterator[Listed]:
        oldest_write = (clock.now() - _PARTIAL_FILE_MAX_AGE).timestamp()
        for name in names:
            path = self._root / subfolder / name
            receipt_id = ReceiptId(name.removesuffix(".part"))
            # Ignore files that this service did not write.
            if not is_key(f"{subfolder}/{receipt_id}"):
                continue
            # Concurrent uploads rename and delete files.
            with contextlib.suppress(FileNotFoundError):
                changed_at = path.stat().st_mtime
                if name == receipt_id:
                    yield Listed(receipt_id, changed_at)
                elif changed_at < oldest_write:
                    path.unlink()

    def _move_to_trash(self, receipt_id: ReceiptId) -> None:
        target = self._trashed_path(clock.now().date(), receipt_id)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self._path(receipt_id).rename(target)

    def _days(self) -> list[dt.date]:
        try:
            names = _names(self._root / TRASH)
        except FileNotFoundError:
            return []
        return sorted(day for name in names if (day := day_of(name)))

    def _of_day(self, day: dt.date) -> list[Trashed]:
        found = list[Trashed]()
        for path in sorted((self._root / TRASH / str(day)).iterdir()):
            with contextlib.suppress(FileNotFoundError):
                found.append(Trashed(ReceiptId(path.name), path.stat().st_size, day))
        return found

    def _trashed_path(self, day: dt.date, receipt_id: ReceiptId) -> Path:
        return self._root / TRASH / str(day) / receipt_id

    def _restore(self, trashed: Trashed) -> bool:
        path = self._path(trashed.id)
        self._make_durable(path.parent)
        source = self._trashed_path(trashed.day, trashed.id)
        try:
            # Unlike a rename, a hard link never replaces an existing file.
            os.link(source, path)
        except FileExistsError:
            return False
        folders.sync(path.parent)
        source.unlink()
        return True

    def _purge_trash(self, before: dt.date, limit: int) -> int:
        purged = 0
        for day in self._days():
            if day >= before or purged == limit:
                break
            folder = self._root / TRASH / str(day)
            for name in _names(folder)[: limit - purged]:
                (folder / name).unlink(missing_ok=True)
                purged += 1
            with contextlib.suppress(OSError):
                # The folder is not empty yet.
                folder.rmdir()
        return purged


def key_of(receipt_id: ReceiptId) -> str:
    """Return the name of a receipt's file, the same in a folder and in a bucket."""
    return f"{receipt_id[-2:]}/{receipt_id}"


def day_of(name: str) -> dt.date | None:
    """Return the day of a folder in the trash; None if it is not a day."""
    if not _DAY.fullmatch(name):
        return None
    try:
        return dt.date.fromisoformat(name)
    except ValueError:
        return None


def is_key(key: str) -> bool:
    """Return whether a key names the file of a receipt."""
    receipt_id = ReceiptId(key.rpartition("/")[2])
    return ids.is_well_formed(receipt_id) and key == key_of(receipt_id)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [one.name for one in entries]
