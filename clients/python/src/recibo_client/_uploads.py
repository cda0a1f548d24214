"""Files on their way to the server."""

from __future__ import annotations

import io
import mimetypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Callable, Union

File = Union[str, "os.PathLike[str]", bytes, BinaryIO]
#: Called with the bytes that were sent and with all bytes.
OnUpload = Callable[[int, int], None]

_DEFAULT_NAME = "receipt"


@dataclass(frozen=True)
class Upload:
    """A file in memory: the API takes at most 15 MB."""

    name: str
    data: bytes
    on_progress: OnUpload | None = None

    def part(self) -> tuple[str, io.BytesIO, str]:
        """Return name, content and media type, as httpx takes them."""
        guessed, _ = mimetypes.guess_type(self.name)
        content = _Counted(self.data, self.on_progress)
        # A name on a disk need not be UTF-8.
        name = self.name.encode("utf-8", "replace").decode()
        return name, content, guessed or "application/octet-stream"


def load(file: File, *, on_progress: OnUpload | None = None) -> Upload:
    """Read a file: a path, the bytes, or an open binary file from its current position."""
    if isinstance(file, bytes):
        return Upload(_DEFAULT_NAME, file, on_progress)
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        return Upload(path.name, path.read_bytes(), on_progress)
    name = getattr(file, "name", None)
    return Upload(
        Path(name).name if isinstance(name, str) else _DEFAULT_NAME, file.read(), on_progress
    )


class _Counted(io.BytesIO):
    """Reports what was read from it."""

    def __init__(self, data: bytes, on_progress: OnUpload | None) -> None:
        super().__init__(data)
        self._total = len(data)
        self._on_progress = on_progress

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        if chunk and self._on_progress is not None:
            self._on_progress(self.tell(), self._total)
        return chunk
