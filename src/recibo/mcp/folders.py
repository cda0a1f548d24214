"""The folders that an agent may read."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recibo.errors import FileTooLarge, ValidationFailed
from recibo.extract.document.limits import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders, and all below them."""

    #: Resolved: without links.
    allowed: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[Path]) -> "Folders":
        """Return the folders that these names mean now.

        Raises:
            OSError: one does not exist.
        """
        return cls(tuple(folder.resolve(strict=True) for folder in folders))

    def read(self, name: str) -> tuple[Path, bytes]:
        """Return the real path and the content of a file.

        Args:
            name: An absolute path, or one below a folder.

        Raises:
            ValidationFailed: there is no such regular file in the folders.
            FileTooLarge: it has more than 15 MB.
        """
        for path in self._candidates(name):
            content = self._content(path)
            if content is not None:
                return path, content
        listed = ", ".join(str(folder) for folder in self.allowed) or "none"
        raise ValidationFailed(f"There is no such file in the allowed folders ({listed}).")

    def have(self, path: Path) -> bool:
        """Return whether a path without links is in a folder."""
        return any(path.is_relative_to(folder) for folder in self.allowed)

    def _candidates(self, name: str) -> Iterator[Path]:
        """Yield what the name may mean, of those places that are in the folders."""
        for folder in self.allowed:
            try:
                path = (folder / name).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                # No such file, a circle of links, or a name that cannot be one.
                continue
            if self.have(path):
                yield path

    def _content(self, path: Path) -> bytes | None:
        """Return the content of a regular file; None if a link took its place meanwhile."""
        # Opening a pipe must not wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags)
        except OSError:
            return None
        try:
            real = Path(f"/proc/self/fd/{descriptor}").readlink()
            if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not self.have(real):
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(content) > MAX_BYTES:
            raise FileTooLarge
        return content
