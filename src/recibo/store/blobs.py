"""Uploaded files: kept under the id of their receipt, on disk before their row is committed."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from recibo.kit import clock
from recibo.shapes.ids import ReceiptId
from recibo.store import folders

#: Large enough that a file is few chunks, small enough that many downloads at once fit in memory.
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Content:
    """A file on its way out."""

    size: int
    chunks: AsyncIterator[bytes]


class Blobs(Protocol):
    """Where uploaded files live.

    One that is on another machine raises Overloaded when that fails.
    """

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file durably; when this returns it survives a crash."""

    def fetched(self, receipt_id: ReceiptId) -> AbstractAsyncContextManager[Path | None]:
        """Give a local file with the bytes while the block lasts, None when there is none."""

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the bytes to be sent, None when there are none."""

    async def discard(self, receipt_id: ReceiptId) -> None:
        """Delete the file; nothing happens when there is none, or else the sweep has it left."""

    async def older_than(self, timestamp: float) -> list[ReceiptId]:
        """Return the ids of files last changed before a Unix timestamp; of very many, some."""

    async def is_writable(self) -> bool:
        """Tell whether files can be kept."""


class Folder:
    """Files in a local folder, spread over 256 subfolders by the end of their ids."""

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

    async def older_than(self, timestamp: float) -> list[ReceiptId]:
        """Return the ids of old files, and delete what broken-off writes left."""
        return await asyncio.to_thread(lambda: list(self._older_than(timestamp)))

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

    def _older_than(self, timestamp: float) -> Iterator[ReceiptId]:
        for path in self._root.glob("??/*"):
            # Uploads that go on rename and discard files under our eyes.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime >= timestamp:
                    continue
                if path.suffix == ".part":
                    path.unlink()
                else:
                    yield ReceiptId(path.name)


def key_of(receipt_id: ReceiptId) -> str:
    """Return the name of a receipt's file, the same in a folder and in a bucket."""
    return f"{receipt_id[-2:]}/{receipt_id}"


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
