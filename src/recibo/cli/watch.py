"""`recibo watch`: reads each document that is put into a folder, once."""

import asyncio
import errno
import fcntl
import hashlib
import json
import os
import signal
import stat
import sys
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TextIO

import watchfiles

from recibo.adapters.reader import PoolReader, Reader
from recibo.cli import extract, inputs, readings, upload
from recibo.cli.readings import Options
from recibo.lib import atomic_files, printable
from recibo_client import AsyncRecibo, ReciboError, errors

JOURNAL = ".recibo-watch.jsonl"

Changes = set[tuple[watchfiles.Change, str]]

# A file that a server does not take is sent again after pauses that double up to this.
_LONGEST_PAUSE_S = 60.0

# Files are looked at this often while one of them may not be finished.
_TICK_MS = 500


# Errors of a server that a later attempt may not meet.
_PASSING = {"server_error", "rate_limit_exceeded", "request_timeout"}


class WatchError(Exception):
    """The folder cannot be watched."""


class Signature(NamedTuple):
    """What changes when a file does."""

    inode: int
    size: int
    modified_ns: int


class Sink(Protocol):
    """Takes finished files."""

    async def take(self, path: Path, place: Path) -> str | None:
        """Process a file; return what to print, or None to try again later."""


@dataclass(frozen=True, slots=True)
class JsonNextTo:
    """Reads files and writes the results as JSON."""

    reader: Reader
    options: Options
    #: Results go here instead of next to the documents.
    folder: Path | None = None

    async def take(self, path: Path, place: Path) -> str | None:
        """Read the file and write `NAME.recibo.json`, for an error too."""
        line = await readings.line(str(place), path, self.options, self.reader)
        document = path if self.folder is None else self.folder / place
        written = document.with_name(f"{path.name}.recibo.json")
        try:
            atomic_files.write(written, readings.to_json(line.fields) + b"\n")
        except OSError as e:
            if e.errno != errno.ENAMETOOLONG:
                raise
            return "failed: its result would have too long a name; rename it"
        if line.reading is None:
            return f"failed: {line.error}"
        found = (line.reading.total, line.reading.currency, line.reading.merchant_name)
        return " ".join(one for one in found if one) or "read"


@dataclass(frozen=True, slots=True)
class Uploads:
    """Sends files to a server, which keeps the results."""

    client: AsyncRecibo
    options: upload.Options

    async def take(self, path: Path, place: Path) -> str | None:
        """Send the file; None while the server cannot be reached or is busy."""
        try:
            fields = await upload.fields_of(self.client, str(place), path, self.options)
        except (errors.InsufficientScopeError, errors.UnauthorizedError):
            raise
        except ReciboError as e:
            _print(sys.stderr, place, f"{e}; tried again")
            return None
        found = fields.get("error")
        if isinstance(found, dict):
            if found["code"] in _PASSING:
                _print(sys.stderr, place, f"{found['message']}; tried again")
                return None
            return f"failed: {found['message']}"
        return str(fields["id"])


class Journal:
    """What was processed in a folder: a line for each file, the last one of a file counts.

    Raises:
        WatchError: another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise WatchError("another `recibo watch` reads this folder") from None
        self._digests = dict(_entries(self._file))
        # Ends half a line that a crash left.
        self._file.write(b"\n")

    def has(self, place: Path, digest: str) -> bool:
        """Return whether the file was processed with this content."""
        return self._digests.get(str(place)) == digest

    def add(self, place: Path, digest: str) -> None:
        """Record a file. A crash before leads to the same result again, not to a second one."""
        self._digests[str(place)] = digest
        entry = json.dumps({"file": str(place), "sha256": digest})
        self._file.write(entry.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Release the folder."""
        self._file.close()


@dataclass(slots=True)
class Watch:
    """Finds the finished files of a folder and passes them to a sink."""

    folder: Path
    sink: Sink
    journal: Journal
    settle_s: float
    #: The files that may not be finished, with when they were last seen to change.
    _waiting: dict[Path, tuple[Signature, float]] = field(default_factory=dict)
    #: How often the sink has put off a file.
    _tries: Counter[Path] = field(default_factory=Counter)

    async def run(self, changes: AsyncIterator[Changes]) -> None:
        """Process what is in the folder, and then what changes; each of `changes` is one look.

        Raises:
            WatchError: the folder is gone.
        """
        self._look(_files(self.folder))
        has_begun = False
        async for found in changes:
            if not self.folder.is_dir():
                raise WatchError("the folder is gone")
            new = {Path(name) for _, name in found}
            if not has_begun:
                # What came between the first look and the start of the reports is in none of them.
                new |= _files(self.folder)
                has_begun = True
            # A folder that is moved here reports itself, not its files.
            inside = {one for path in new if path.is_dir() for one in _files(path)}
            self._look({*new, *inside, *self._waiting})
            for path in self._finished():
                await self._take(path)

    def _look(self, paths: Iterable[Path]) -> None:
        now = asyncio.get_running_loop().time()
        for path in paths:
            seen = _signature(path) if self._is_wanted(path) else None
            if seen is None:
                self._waiting.pop(path, None)
            elif path not in self._waiting or self._waiting[path][0] != seen:
                self._waiting[path] = (seen, now)

    def _finished(self) -> list[Path]:
        now = asyncio.get_running_loop().time()
        return sorted(
            path
            for path, (_, since) in self._waiting.items()
            if now - since >= self.settle_s and not _is_being_written(path)
        )

    async def _take(self, path: Path) -> None:
        seen, _ = self._waiting.pop(path)
        place = path.relative_to(self.folder)
        try:
            digest = await asyncio.to_thread(_digest, path)
            if self.journal.has(place, digest):
                return
            outcome = await self.sink.take(path, place)
        except (FileNotFoundError, PermissionError) as e:
            # It is looked at again when it changes.
            _print(sys.stderr, place, e.strerror or "cannot be read")
            return
        now = _signature(path)
        if outcome is None or now not in {seen, None}:
            self._tries[path] += outcome is None
            pause = min(2.0 ** self._tries[path], _LONGEST_PAUSE_S) if outcome is None else 0
            self._waiting[path] = (now or seen, asyncio.get_running_loop().time() + pause)
            return
        self._tries.pop(path, None)
        self.journal.add(place, digest)
        _print(sys.stdout, place, outcome)

    def _is_wanted(self, path: Path) -> bool:
        parts = path.relative_to(self.folder).parts
        return inputs.is_document(path.name) and not any(one.startswith(".") for one in parts)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a folder is watched."""

    folder: Path
    options: Options
    output: Path | None = None
    settle_s: float = 2.0
    is_polled: bool = False
    #: Files are sent there instead.
    server: str | None = None


def run(settings: Settings) -> int:
    """Watch until a signal and return the exit status."""
    try:
        asyncio.run(_run(settings))
    except WatchError as e:
        _print(sys.stderr, settings.folder, f"{e}.")
        return 1
    except ReciboError as e:
        sys.stderr.write(f"recibo: {printable.line(str(e))}\n")
        return 1
    except OSError as e:
        return extract.exit_status(e)
    return 0


async def _run(settings: Settings) -> None:
    folder = settings.folder.resolve()
    if not folder.is_dir():
        raise WatchError("there is no such folder")
    with _journal(folder) as journal:
        async with _sink(settings) as sink:
            watch = Watch(folder, sink, journal, settings.settle_s)
            await _until_signal(watch.run(_changes(folder, is_polled=settings.is_polled)))


async def _changes(folder: Path, *, is_polled: bool) -> AsyncIterator[Changes]:
    """Yield what changed in the folder, and an empty set twice a second if nothing did."""
    missed: Changes = set()
    while True:
        try:
            async for found in watchfiles.awatch(
                folder,
                watch_filter=None,
                rust_timeout=_TICK_MS,
                yield_on_timeout=True,
                force_polling=is_polled or None,
                ignore_permission_denied=True,
            ):
                yield found | missed
                missed = set()
        except ExceptionGroup as group:
            # The library fails at reports of a name that is not UTF-8, even of one that it opens
            # itself; so it shall only look.
            if group.split(_is_of_name)[1] is not None:
                raise
            if is_polled:
                await asyncio.sleep(_TICK_MS / 1000)
            is_polled = True
            # All files of a new folder are looked at.
            missed = {(watchfiles.Change.added, str(folder))}
            yield missed
        else:
            return


def _is_of_name(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and "decode" in str(error)


@asynccontextmanager
async def _sink(settings: Settings) -> AsyncIterator[Sink]:
    options = settings.options
    if settings.server is None:
        async with aclosing(PoolReader(processes=1, runtime=options.runtime)) as reader:
            yield JsonNextTo(reader, options, settings.output)
        return
    sent = upload.Options(settings.server, options.accuracy, options.hint)
    async with sent.client() as client:
        yield Uploads(client, sent)


async def _until_signal(work: Coroutine[None, None, None]) -> None:
    """Run until the work ends or a signal cancels it."""
    task = asyncio.create_task(work)
    for one in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(one, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


@contextmanager
def _journal(folder: Path) -> Iterator[Journal]:
    journal = Journal(folder / JOURNAL)
    try:
        yield journal
    finally:
        journal.close()


def _entries(file: BinaryIO) -> Iterator[tuple[str, str]]:
    file.seek(0)
    for line in file:
        # A crash may leave half a line.
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            yield entry["file"], entry["sha256"]


def _files(folder: Path) -> set[Path]:
    return {Path(parent, name) for parent, _, files in os.walk(folder) for name in files}


def _signature(path: Path) -> Signature | None:
    """Return the signature of a regular file; None for links and what is not there."""
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Signature(found.st_ino, found.st_size, found.st_mtime_ns)


def _is_being_written(path: Path) -> bool:
    """Return whether a process has the file open for writing, where the system knows it."""
    try:
        with path.open("rb") as file:
            # Linux grants a read lease only on a file that no process has open for writing.
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        # No such file, no lease on this file system, or a file of another user.
        return False
    return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _print(stream: TextIO, path: Path, text: str) -> None:
    name = printable.line(printable.file_name(str(path)))
    stream.write(f"{name}: {printable.line(text)}\n")
    stream.flush()
