"""A folder of documents on its way to the server, and the journal of what has arrived."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable

from recibo_client import errors, models
from recibo_client._uploads import Upload

if TYPE_CHECKING:
    from pathlib import Path

#: The endings of files that are uploaded.
SUFFIXES = frozenset({".heic", ".heif", ".jpeg", ".jpg", ".pdf", ".png", ".tif", ".tiff", ".webp"})
JOURNAL = ".recibo-journal.jsonl"
_ENTRY_KEYS = {"sha256", "context", "receipt_id"}
_CONTEXT_BEFORE = 2
# Of a large folder, uploads wait for each other; that is no reason to give up.
BATCH_RETRY_SECONDS = 600.0

# The next file would be refused, too.
_STOPS = (
    errors.ConnectionFailedError,
    errors.InsufficientScopeError,
    errors.RateLimitExceededError,
    errors.ServerError,
    errors.UnauthorizedError,
)


@dataclass(frozen=True)
class FileResult:
    """What became of a file.

    Attributes:
        path: The file.
        receipt_id: Its receipt; None if it was refused.
        receipt: The receipt; None if an earlier call read it, or if there is an error.
        error: Why it was not read.
    """

    path: Path
    receipt_id: str | None = None
    receipt: models.Receipt | None = None
    error: Exception | None = None


@dataclass
class FolderResult:
    """What became of the files of a folder.

    Attributes:
        files: The files, in the order of their names; while it runs, in that of their ends.
    """

    files: list[FileResult] = field(default_factory=list)

    @property
    def read(self) -> list[FileResult]:
        """The files that were read by this call."""
        return [one for one in self.files if one.receipt is not None]

    @property
    def known(self) -> list[FileResult]:
        """The files that an earlier call read."""
        return [one for one in self.files if one.receipt is None and one.error is None]

    @property
    def failed(self) -> list[FileResult]:
        """The files that were not read."""
        return [one for one in self.files if one.error is not None]

    def __str__(self) -> str:
        """Count the files."""
        return f"{len(self.read)} read, {len(self.known)} known, {len(self.failed)} failed"


#: Called after each file with the result so far and the number of files.
OnFile = Callable[[FolderResult, int], None]


def require(folder: Path) -> None:
    """Raise NotADirectoryError unless there is such a folder."""
    if not folder.is_dir():
        message = f"{folder} is no folder."
        raise NotADirectoryError(message)


class Folder:
    """The files of a folder that are still to be read; several threads may take from it."""

    def __init__(
        self,
        folder: Path,
        pattern: str,
        *,
        journal: Path | None,
        context: tuple[str, ...],
        on_file: OnFile | None,
    ) -> None:
        """List the files and read the journal.

        Args:
            folder: An existing folder: see `require`.
            pattern: A glob below it.
            journal: Where to note what was read.
            context: A file is known only in the same context: the server, the accuracy and the
                organization.
            on_file: Called after each file, by one thread at a time.
        """
        files = _documents(folder, pattern)
        self._total = len(files)
        self._waiting = deque(files)
        self._journal = _Journal(journal or folder / JOURNAL, context)
        self._on_file = on_file
        self._done = FolderResult()
        self._reason: Exception | None = None
        self._taken: dict[int, Path] = {}
        self._lock = threading.RLock()

    def take(self) -> Upload | None:
        """Return the next file; None if there is none, or after a refusal."""
        with self._lock:
            while self._waiting:
                path = self._waiting.popleft()
                try:
                    upload = Upload(path.name, path.read_bytes())
                except OSError as error:
                    self._note(FileResult(path, error=error))
                    continue
                known = self._journal.receipt_id(upload.data)
                if known is None:
                    self._taken[id(upload)] = path
                    return upload
                self._note(FileResult(path, receipt_id=known))
            return None

    def finish(self, upload: Upload, receipt: models.Receipt) -> None:
        """Note the receipt of a file."""
        with self._lock:
            path = self._taken.pop(id(upload))
            self._journal.add(path, upload.data, receipt.id)
            self._note(FileResult(path, receipt_id=receipt.id, receipt=receipt))

    def fail(self, upload: Upload, error: errors.ReciboError) -> None:
        """Note why a file was not read; if the next would be refused, too, stop."""
        with self._lock:
            path = self._taken.pop(id(upload))
            receipt_id = getattr(error, "receipt_id", None)
            self._note(FileResult(path, receipt_id=receipt_id, error=error))
            if isinstance(error, _STOPS):
                self._reason = self._reason or error
                self.stop()

    def stop(self) -> None:
        """Leave the rest."""
        with self._lock:
            self._waiting.clear()

    def result(self) -> FolderResult:
        """Return what became of each file; raises the error that stopped it."""
        if self._reason is not None:
            raise self._reason
        return FolderResult(sorted(self._done.files, key=lambda one: one.path))

    def _note(self, result: FileResult) -> None:
        self._done.files.append(result)
        if self._on_file is not None:
            self._on_file(self._done, self._total)


class _Journal:
    """A file with a line for each document that was read; it is only appended to."""

    def __init__(self, path: Path, context: tuple[str, ...]) -> None:
        self._path = path
        self._context = list(context)
        self._line_start = ""
        # Better now than after an upload.
        path.open("a").close()
        self._known = dict(self._entries())

    def receipt_id(self, data: bytes) -> str | None:
        """Return the receipt of a content that was read before."""
        return self._known.get(_digest(data))

    def add(self, path: Path, data: bytes, receipt_id: str) -> None:
        """Note a receipt."""
        digest = _digest(data)
        entry = {
            "sha256": digest,
            "context": self._context,
            "file": str(path),
            "receipt_id": receipt_id,
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._line_start}{json.dumps(entry)}\n")
        self._line_start = ""
        self._known[digest] = receipt_id

    def _entries(self) -> list[tuple[str, str]]:
        text = self._path.read_text(encoding="utf-8", errors="replace")
        if text and not text.endswith("\n"):
            self._line_start = "\n"
        # Entries of version 0.1.0 do not name the organization.
        contexts = (self._context, self._context[:_CONTEXT_BEFORE])
        found = [_parsed(line) for line in text.splitlines()]
        return [
            (str(entry["sha256"]), str(entry["receipt_id"]))
            for entry in found
            if entry.get("context") in contexts
        ]


def _parsed(line: str) -> dict[str, Any]:
    """Return an entry; an empty one if a crash cut it off: that file is uploaded again."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) and entry.keys() >= _ENTRY_KEYS else {}


def _documents(folder: Path, pattern: str) -> list[Path]:
    return sorted(
        path
        for path in folder.glob(pattern)
        if path.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
