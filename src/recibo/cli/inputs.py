"""Turns names on the command line into readable files."""

import fnmatch
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recibo.errors import FileTooLarge, ServiceError, ValidationFailed
from recibo.extract.document.limits import MAX_BYTES

STDIN = "-"

_MAGIC = re.compile(r"[*?[]")

#: What is read in a folder. Other files can be named one by one.
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".heic", ".heif", ".webp", ".tif", ".tiff", ".pdf"})

_REASONS: dict[type[OSError], str] = {
    FileNotFoundError: "There is no such file.",
    PermissionError: "The file may not be read by this user.",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A file to read."""

    #: As named on the command line, or found in a folder named there.
    name: str
    #: The file to read; for stdin, a temporary copy.
    path: Path
    #: Where its results go below a folder of results.
    place: Path

    @property
    def is_stdin(self) -> bool:
        """Return whether it came from stdin."""
        return self.name == STDIN


@contextmanager
def documents(names: Sequence[str]) -> Iterator[list[Document]]:
    """Yield the files behind names, folders and patterns; for `-`, a temporary copy of stdin."""
    if STDIN not in names:
        yield list(_found(names, None))
        return
    with tempfile.NamedTemporaryFile(prefix="recibo-") as spool:
        # One byte over the limit is enough to detect a file that is too large.
        spool.write(sys.stdin.buffer.read(MAX_BYTES + 1))
        spool.flush()
        yield list(_found(names, Path(spool.name)))


def is_document(name: str) -> bool:
    """Return whether a file of this name is read when its folder is."""
    return not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES


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
        raise ValidationFailed("There are no documents in this folder that can be read.")
    if not stat.S_ISREG(found.st_mode):
        raise ValidationFailed("This is not a regular file.")
    if found.st_size > MAX_BYTES:
        raise FileTooLarge


def _found(names: Sequence[str], stdin: Path | None) -> Iterator[Document]:
    for name in names:
        if stdin is not None and name == STDIN:
            yield Document(name, stdin, Path("stdin"))
            continue
        # `**/*` matches a folder and the files in it.
        seen = set[Path]()
        for match in _matches(name):
            for document in _documents_at(match):
                if document.path not in seen:
                    seen.add(document.path)
                    yield document


def _documents_at(name: str) -> Iterator[Document]:
    if _is_folder(name):
        return _in_folder(name)
    return iter([Document(name, Path(name), Path(Path(name).name))])


def _matches(name: str) -> list[str]:
    """Return what a pattern matches; a name of a file is no pattern."""
    if os.path.lexists(name) or not _MAGIC.search(name):
        return [name]
    base = Path(Path(name).anchor)
    try:
        found = sorted(str(one) for one in base.glob(str(Path(name).relative_to(base))))
    except (ValueError, OSError):
        return [name]
    # A pattern without matches is reported like a file that does not exist.
    return [one for one in found if not _is_hidden(one, name)] or [name]


def _is_hidden(match: str, pattern: str) -> bool:
    """Return whether a part begins with a dot that the pattern does not name, as in a shell."""
    dotted = [part for part in Path(pattern).parts if part.startswith(".")]
    return any(
        part.startswith(".") and not any(fnmatch.fnmatchcase(part, one) for one in dotted)
        for part in Path(match).parts
    )


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:
        return False


def _in_folder(folder: str) -> Iterator[Document]:
    """Yield the documents below a folder by name; the folder itself if it has none.

    Links to folders are not followed, because they may form a circle.
    """
    is_empty = True
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for file in sorted(files):
            if is_document(file):
                is_empty = False
                path = Path(parent, file)
                yield Document(str(path), path, path.relative_to(folder))
    if is_empty:
        yield Document(folder, Path(folder), Path(Path(folder).name))


def _refusal(error: OSError) -> ServiceError:
    reason = _REASONS.get(type(error), f"The file cannot be opened: {error.strerror}.")
    return ValidationFailed(reason)
