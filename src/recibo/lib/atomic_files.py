"""Writes files that are complete or absent, even after a crash."""

import os
import tempfile
from pathlib import Path

# As `open` does: the umask of the process decides who may read.
_MODE = 0o666


def write(path: Path, content: bytes) -> None:
    """Write or replace a file and the folders above it.

    Raises:
        OSError: it cannot be written; then an older file is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".recibo-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_MODE & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
