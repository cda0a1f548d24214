"""Drawn pages in a local folder, which may be deleted at any time.

Pages of deleted receipts are gone after a week, long before their files are.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recibo.lib import clock

_MAX_AGE_SECONDS = 7 * 24 * 3600
_MAX_BYTES = 512 << 20
# After so many new bytes, old ones are looked for.
_PRUNE_EVERY_BYTES = 32 << 20


@dataclass(slots=True)
class PageCache:
    """Keeps drawn pages for a week, and no more than 512 MB."""

    root: Path
    _new_bytes: int = field(default=0, init=False)

    async def get(self, *key: object) -> bytes | None:
        """Return the page of a key, or None."""
        try:
            return await asyncio.to_thread(self._path(key).read_bytes)
        except OSError:
            return None

    async def put(self, content: bytes, *key: object) -> None:
        """Keep a page; without room for it, do nothing."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self._put, self._path(key), content)
        self._new_bytes += len(content)
        if self._new_bytes >= _PRUNE_EVERY_BYTES:
            self._new_bytes = 0
            await self.prune()

    async def prune(self) -> None:
        """Delete pages that are too old or too many."""
        await asyncio.to_thread(self._prune)

    def _path(self, key: tuple[object, ...]) -> Path:
        name = hashlib.sha256(repr(key).encode()).hexdigest()
        return self.root / name[:2] / f"{name}.webp"

    def _put(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Two requests may draw the same page at once.
        partial = path.with_suffix(f".{time.monotonic_ns()}.part")
        partial.touch(mode=0o600)
        partial.write_bytes(content)
        partial.replace(path)

    def _prune(self) -> None:
        oldest_first = sorted(self._files())
        total = sum(size for _, size, _ in oldest_first)
        oldest = clock.now().timestamp() - _MAX_AGE_SECONDS
        for changed_at, size, path in oldest_first:
            if changed_at >= oldest and total <= _MAX_BYTES:
                return
            path.unlink(missing_ok=True)
            total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        for path in self.root.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                yield status.st_mtime, status.st_size, path
