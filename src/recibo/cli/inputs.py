"""Turns names on the command line into readable files."""

import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from recibo.errors import FileTooLarge, ServiceError, ValidationFailed
from recibo.extract.document.limits import MAX_BYTES

STDIN = "-"

_REASONS: dict[type[OSError], str] = {
    FileNotFoundError: "There is no such file.",
    PermissionError: "The file may not be read by this user.",
}


@contextmanager
def paths(names: Sequence[str]) -> Iterator[list[Path]]:
    """Yield the path of each name; for `-`, a temporary copy of stdin."""
    if STDIN not in names:
        yield [Path(name) for name in names]
        return
    with tempfile.NamedTemporaryFile(prefix="recibo-") as spool:
        # One byte over the limit is enough to detect a file that is too large.
        spool.write(sys.stdin.buffer.read(MAX_BYTES + 1))
        spool.flush()
        yield [Path(spool.name if name == STDIN else name) for name in names]


def check(path: Path) -> None:
    """Check that the path is a readable file of an accepted size.

    Raises:
        ServiceError: there is no such readable file, or it is too large.
    """
    try:
        found = path.stat()
        # Opening a pipe without a writer would block.
        if stat.S_ISREG(found.st_mode):
            path.open("rb").close()
    except OSError as e:
        raise _refusal(e) from None
    if stat.S_ISDIR(found.st_mode):
        raise ValidationFailed("This is a folder; name the files in it.")
    if not stat.S_ISREG(found.st_mode):
        raise ValidationFailed("This is not a regular file.")
    if found.st_size > MAX_BYTES:
        raise FileTooLarge


def _refusal(error: OSError) -> ServiceError:
    reason = _REASONS.get(type(error), f"The file cannot be opened: {error.strerror}.")
    return ValidationFailed(reason)
