"""Uploaded files: kept under the id of their receipt, on disk before their row is committed."""

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

#: Large enough that a file is few chunks, small enough that many downloads at once fit in memory.
CHUNK_BYTES = 256 * 1024
#: Names which installation the files belong to.
MARKER = ".installation"
#: Holds a folder for each day, with the orphans that were moved there on it.
TRASH = "trash"
# A few milliseconds of work.
_LISTED_AT_ONCE = 1000
# Nobody takes longer to write a file.
_BROKEN_OFF_AGE = dt.timedelta(hours=1)
_SUBFOLDER = re.compile("[0-9a-f]{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Content:
    """A file on its way out."""

    size: int
    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that is there, and when it was last changed, in Unix seconds."""

    id: ReceiptId
    changed_at: float


@dataclass(frozen=True, slots=True)
class Listing:
    """Some of the files in the order of their names."""

    files: list[Listed]
    #: Where the next listing goes on; None when there are no more.
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Trashed:
    """A file in the trash."""

    id: ReceiptId
    size: int
    day: dt.date


class Trash(Protocol):
    """Files that no row knew: kept for a while, apart from the others."""

    async def trash(self, receipt_id: ReceiptId) -> None:
        """Move a file to the trash; nothing happens when there is none."""

    def trashed(self) -> AsyncIterator[Trashed]:
        """Give what is in the trash, the oldest day first."""

    async def restore(self, trashed: Trashed) -> bool:
        """Move a file back to its place; False when another is there by now."""

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete up to so many files that were trashed before a day; return how many."""

    async def discard_trashed(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete the files of these receipts from the trash, on whatever day they came there."""


class Blobs(Trash, Protocol):
    """Where uploaded files live.

    One that is on another machine raises Overloaded when that fails.
    """

    #: How long a portion of a sweep may take: a folder is this machine's own work, while a bucket
    #: is mostly waited for.
    sweep_seconds: float

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file durably; when this returns it survives a crash."""

    def fetched(self, receipt_id: ReceiptId) -> AbstractAsyncContextManager[Path | None]:
        """Give a local file with the bytes while the block lasts, None when there is none."""

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the bytes to be sent, None when there are none."""

    async def discard(self, receipt_id: ReceiptId) -> None:
        """Delete the file; nothing happens when there is none, or else the sweep has it left."""

    async def listing(self, after: str) -> Listing:
        """Return some files that come after a cursor; the first ones after an empty one."""

    async def marker(self) -> str | None:
        """Return what the files are marked with, None when they are not."""

    async def mark(self, marker: str) -> None:
        """Mark the files, durably."""

    async def is_writable(self) -> bool:
        """Tell whether files can be kept."""


class Folder:
    """Files in a local folder, spread over 256 subfolders by the end of their ids."""

    sweep_seconds = 0.4

    def __init__(self, root: Path) -> None:
        self._root = root
        # Subfolders whose own names this process made durable.
        self._durable = set[str]()

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file and make it and its name durable."""
        await asyncio.to_thread(self._keep, receipt_id, file)

    @asynccontextmanager
    async def fetched(self, receipt_id: ReceiptId) -> AsyncIterator[Path | None]:
        """Give the file itself."""
        path = self._path(receipt_id)
        yield path if await asyncio.to_thread(path.is_file) else None

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the file's bytes as they are read."""
        path = self._path(receipt_id)
        try:
            size = (await asyncio.to_thread(path.stat)).st_size
        except FileNotFoundError:
            return None
        return Content(size, _chunks(path))

    async def discard(self, receipt_id: ReceiptId) -> None:
        """Delete the file."""
        await asyncio.to_thread(self._path(receipt_id).unlink, missing_ok=True)

    async def is_writable(self) -> bool:
        """Tell whether the folder takes files."""
        return await asyncio.to_thread(os.access, self._root, os.W_OK | os.X_OK)

    async def listing(self, after: str) -> Listing:
        """Return up to a thousand files, and delete what broken-off writes left among them."""
        return await asyncio.to_thread(self._listing, after)

    async def marker(self) -> str | None:
        """Return the text of the file that marks the folder."""
        try:
            return await asyncio.to_thread((self._root / MARKER).read_text, "utf-8")
        except FileNotFoundError:
            return None

    async def mark(self, marker: str) -> None:
        """Write the file that marks the folder."""
        await asyncio.to_thread(folders.write, self._root / MARKER, marker.encode())

    async def trash(self, receipt_id: ReceiptId) -> None:
        """Rename the file into the trash's folder of today."""
        await asyncio.to_thread(self._trash, receipt_id)

    async def trashed(self) -> AsyncIterator[Trashed]:
        """Give what is in the folders of the trash, a day at a time."""
        for day in await asyncio.to_thread(self._days):
            for one in await asyncio.to_thread(self._of_day, day):
                yield one

    async def restore(self, trashed: Trashed) -> bool:
        """Rename the file to its place."""
        return await asyncio.to_thread(self._restore, trashed)

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete files of old days, and the folders of those that are empty."""
        return await asyncio.to_thread(self._purge_trash, before, limit)

    async def discard_trashed(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete files of any day."""
        for day in await asyncio.to_thread(self._days):
            for receipt_id in receipt_ids:
                path = self._trashed_path(day, receipt_id)
                await asyncio.to_thread(path.unlink, missing_ok=True)

    def _path(self, receipt_id: ReceiptId) -> Path:
        return self._root / key_of(receipt_id)

    def _keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        path = self._path(receipt_id)
        self._make_durable(path.parent)
        partial = path.with_suffix(".part")
        try:
            with partial.open("wb") as target:
                shutil.copyfileobj(file, target)
                target.flush()
                # Its age is judged by the service's clock, so it is told by that, too.
                now = clock.now().timestamp()
                os.utime(target.fileno(), (now, now))
                os.fsync(target.fileno())
            partial.replace(path)
            folders.sync(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def _make_durable(self, subfolder: Path) -> None:
        """Make a subfolder and sync its name, at its first use even where it is there.

        Another upload may have made it a moment ago and not yet synced it.
        """
        if subfolder.name in self._durable:
            return
        subfolder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folders.sync(self._root)
        self._durable.add(subfolder.name)

    def _listing(self, after: str) -> Listing:
        first, _, last_name = after.partition("/")
        for subfolder in sorted(_names(self._root)):
            if subfolder < first or not _SUBFOLDER.fullmatch(subfolder):
                continue
            names = sorted(_names(self._root / subfolder))
            if subfolder == first:
                names = [name for name in names if name > last_name]
            if names := names[:_LISTED_AT_ONCE]:
                return Listing(list(self._listed(subfolder, names)), f"{subfolder}/{names[-1]}")
        return Listing([], None)

    def _listed(self, subfolder: str, names: list[str]) -> Iterator[Listed]:
        oldest_write = (clock.now() - _BROKEN_OFF_AGE).timestamp()
        for name in names:
            path = self._root / subfolder / name
            receipt_id = ReceiptId(name.removesuffix(".part"))
            # Whatever else lies there is somebody else's.
            if not is_key(f"{subfolder}/{receipt_id}"):
                continue
            # Uploads that go on rename and discard files under our eyes.
            with contextlib.suppress(FileNotFoundError):
                changed_at = path.stat().st_mtime
                if name == receipt_id:
                    yield Listed(receipt_id, changed_at)
                elif changed_at < oldest_write:
                    path.unlink()

    def _trash(self, receipt_id: ReceiptId) -> None:
        target = self._trashed_path(clock.now().date(), receipt_id)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self._path(receipt_id).rename(target)

    def _days(self) -> list[dt.date]:
        try:
            names = _names(self._root / TRASH)
        except FileNotFoundError:
            return []
        return sorted(dt.date.fromisoformat(name) for name in names if _DAY.fullmatch(name))

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
            # Unlike a rename this never replaces a file.
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
                # Not empty yet.
                folder.rmdir()
        return purged


def key_of(receipt_id: ReceiptId) -> str:
    """Return the name of a receipt's file, the same in a folder and in a bucket."""
    return f"{receipt_id[-2:]}/{receipt_id}"


def is_key(key: str) -> bool:
    """Tell whether this names the file of a receipt."""
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
