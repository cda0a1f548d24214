"""Uploaded files: kept under the id of their receipt, on disk before their row is committed."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from recibo.shapes.ids import ReceiptId


class Blobs(Protocol):
    """Where uploaded files live."""

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file durably; when this returns it survives a crash."""

    async def path(self, receipt_id: ReceiptId) -> Path | None:
        """Return a local file with the bytes, None when there is none."""

    async def discard(self, receipt_id: ReceiptId) -> None:
        """Delete the file; nothing happens when there is none."""

    async def older_than(self, timestamp: float) -> list[ReceiptId]:
        """Return the ids of all files last changed before a Unix timestamp."""

    async def is_writable(self) -> bool:
        """Tell whether files can be kept."""


class Folder:
    """Files in a local folder, spread over 256 subfolders by the end of their ids."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Store the file and make it and its name durable."""
        await asyncio.to_thread(self._keep, receipt_id, file)

    async def path(self, receipt_id: ReceiptId) -> Path | None:
        """Return the file itself."""
        path = self._path(receipt_id)
        return path if await asyncio.to_thread(path.is_file) else None

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
        return self._root / receipt_id[-2:] / receipt_id

    def _keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        path = self._path(receipt_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        try:
            with partial.open("wb") as target:
                shutil.copyfileobj(file, target)
                target.flush()
                os.fsync(target.fileno())
            partial.replace(path)
            _fsync_folder(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

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


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
