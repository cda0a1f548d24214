"""A file lock on the data folder, so that only one process uses the embedded database."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NAME = "lock"


class FolderInUseError(Exception):
    """Another process serves from this data folder; stop it, or choose another RECIBO_DATA_DIR."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Lock the folder for the block; the kernel releases the lock when the process dies.

    Raises:
        FolderInUseError: another process holds the lock.
    """
    with (folder / _NAME).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError from None
        yield
