"""The reading library at work, in processes that may die.

The service and the spawned children import this module, so its top imports nothing heavy: the
functions that run in a child import the library, and the service never does.
"""

import asyncio
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from recibo.extract import errors
from recibo.extract.runtime import Runtime
from recibo.outside.processes import START_LIMIT_S, Lane, Limits, ProcessDiedError, TimeLimitError
from recibo.shapes.states import FailureCode

if TYPE_CHECKING:
    from recibo.extract.load.pages import Kind
    from recibo.extract.model import Accuracy, DocumentType, Receipt

T = TypeVar("T")

# Looking at a file's head and counting its pages takes milliseconds; a file that takes longer
# hangs its decoder.
INSPECT_LIMIT_S = 10.0

# Little can leak from looking at heads, so a child that does only that is kept for longer.
_INSPECTIONS = 5_000

# Of the time limit, so much is the library's own to finish the page at hand and answer with the
# pages read so far; only then is the child killed.
_SHARE_OF_THE_LIMIT = 0.8


class FailureKind(StrEnum):
    """Why there is no reading."""

    UNSUPPORTED_FORMAT = "unsupported_format"
    INVALID_DOCUMENT = "invalid_document"
    UNREADABLE = "unreadable"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    BROKEN = "broken"

    @property
    def code(self) -> FailureCode:
        """What a client is told."""
        return _CODES.get(self, FailureCode.SERVER_ERROR)

    @property
    def is_the_documents_fault(self) -> bool:
        """Whether another attempt would end the same way."""
        return self in _CODES


_CRASHED = "The reader failed on this document; try again."
_BROKEN = "The reading library cannot be loaded; install the package again."
_TIMED_OUT = "Reading this document took too long; try again, or send fewer pages."
_TOO_MUCH_MEMORY = "Reading this document took more memory than it may; send a smaller picture."

_KINDS = {
    errors.UnsupportedFormat: FailureKind.UNSUPPORTED_FORMAT,
    errors.InvalidDocument: FailureKind.INVALID_DOCUMENT,
    errors.Unreadable: FailureKind.UNREADABLE,
    errors.MissingModel: FailureKind.BROKEN,
}

_CODES = {
    FailureKind.UNSUPPORTED_FORMAT: FailureCode.UNSUPPORTED_FORMAT,
    FailureKind.INVALID_DOCUMENT: FailureCode.VALIDATION_ERROR,
    FailureKind.UNREADABLE: FailureCode.LOW_CONFIDENCE,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be read, this time or ever."""

    kind: FailureKind
    #: For the client.
    message: str
    #: For the log: how the child died, or a traceback.
    detail: str = ""


class Reader(Protocol):
    """Reads documents. The paths are on a local disk."""

    async def read(
        self,
        path: Path,
        *,
        hint: "DocumentType | None",
        accuracy: "Accuracy",
        time_limit_s: float,
    ) -> "Receipt | Failure":
        """Read the document; the limit holds from when a process takes it, not while it waits."""

    async def inspect(self, path: Path) -> "Kind | Failure":
        """Tell the type by content, and refuse what would be refused before it is read."""

    def is_ready(self) -> bool:
        """Tell whether documents can be read: the models are there and were loaded."""


@dataclass(frozen=True, slots=True)
class Library:
    """What a child runs: functions of a module's top, which are pickled by their names."""

    warm: Callable[[], None]
    #: The last argument is the time after which the pages read so far must do, seconds.
    read: "Callable[[Path, DocumentType | None, Accuracy, float], Receipt]"
    inspect: "Callable[[Path], Kind]"


class PoolReader:
    """Reads in child processes, each document in one, as many at once as there are processes.

    Inspecting has processes of its own, so that an upload waits for no reading.
    """

    def __init__(
        self,
        *,
        processes: int | None = None,
        limits: Limits | None = None,
        runtime: Runtime = Runtime.AUTO,
        library: Library | None = None,
    ) -> None:
        limits = limits or Limits()
        self._library = library or on_runtime(runtime)
        self._count = processes or len(os.sched_getaffinity(0))
        self._reading = _Lanes(self._count, self._library.warm, limits)
        inspection_limits = replace(limits, tasks=_INSPECTIONS)
        self._inspection = _Lanes(self._count, _warm_inspection, inspection_limits)
        self._starts: list[asyncio.Task[Failure | None]] = []
        self._is_ready = False

    async def start(self) -> Failure | None:
        """Start the processes and wait until one has its models; say what is wrong if none has."""
        readers = [self._start_one(self._reading, self._library.warm) for _ in range(self._count)]
        self._starts = [*readers, self._start_one(self._inspection, _warm_inspection)]
        failure = None
        for start in asyncio.as_completed(readers):
            failure = await start
            if failure is None:
                self._is_ready = True
                break
        return failure

    async def aclose(self) -> None:
        """End the processes; whoever still waits for a reading gets a failure `crashed`."""
        self._is_ready = False
        await asyncio.gather(self._reading.aclose(), self._inspection.aclose())
        await asyncio.gather(*self._starts)

    def is_ready(self) -> bool:
        """Tell whether a process has loaded the models and none of it is closing."""
        return self._is_ready

    async def read(
        self,
        path: Path,
        *,
        hint: "DocumentType | None",
        accuracy: "Accuracy",
        time_limit_s: float,
    ) -> "Receipt | Failure":
        """Read the document in the next free process."""
        budget_s = time_limit_s * _SHARE_OF_THE_LIMIT
        work = partial(self._library.read, path, hint, accuracy, budget_s)
        return await self._reading.run(work, time_limit_s)

    async def inspect(self, path: Path) -> "Kind | Failure":
        """Look at the document in a process that reads none."""
        return await self._inspection.run(partial(self._library.inspect, path), INSPECT_LIMIT_S)

    def _start_one(
        self, lanes: "_Lanes", warm: Callable[[], None]
    ) -> "asyncio.Task[Failure | None]":
        return asyncio.create_task(lanes.run(warm, START_LIMIT_S))


class _Lanes:
    """Gives each work the next free lane."""

    def __init__(self, count: int, warm: Callable[[], None], limits: Limits) -> None:
        self._lanes = tuple(Lane(warm, limits) for _ in range(count))
        # The lane used last is used next: its process is warm, and idle ones need not start.
        self._free: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        for lane in self._lanes:
            self._free.put_nowait(lane)

    async def run(self, work: Callable[[], T], time_limit_s: float) -> T | Failure:
        lane = await self._free.get()
        try:
            return await lane.run(partial(_attempt, work), time_limit_s=time_limit_s)
        except ProcessDiedError as e:
            return Failure(FailureKind.CRASHED, _CRASHED, str(e))
        except TimeLimitError as e:
            return Failure(FailureKind.TIMED_OUT, _TIMED_OUT, str(e))
        finally:
            self._free.put_nowait(lane)

    async def aclose(self) -> None:
        await asyncio.gather(*(lane.aclose() for lane in self._lanes))


# What follows runs in the children.


def _attempt(work: Callable[[], T]) -> T | Failure:
    """Do the work; whatever goes wrong with it is an answer."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001 - a document ends nothing but its own reading
        return _failure(error)


def _failure(error: BaseException) -> Failure:
    for cause, kind in _KINDS.items():
        if isinstance(error, cause):
            return Failure(kind, str(error))
    kind, message = FailureKind.CRASHED, _CRASHED
    if isinstance(error, ImportError):
        kind, message = FailureKind.BROKEN, _BROKEN
    elif isinstance(error, MemoryError):
        message = _TOO_MUCH_MEMORY
    return Failure(kind, message, "".join(traceback.format_exception(error)))


def _warm(runtime: Runtime) -> None:
    from recibo.extract import pipeline

    pipeline.warm(runtime)


def _read(
    runtime: Runtime,
    path: Path,
    hint: "DocumentType | None",
    accuracy: "Accuracy",
    budget_s: float,
) -> "Receipt":
    from recibo.extract import pipeline

    return pipeline.extract(
        path.read_bytes(), hint=hint, accuracy=accuracy, runtime=runtime, budget_s=budget_s
    )


def _warm_inspection() -> None:
    from recibo.extract.load import pages  # noqa: F401 - loading it is the point


def _inspect(path: Path) -> "Kind":
    from recibo.extract.load import pages

    return pages.inspect(path.read_bytes())


def on_runtime(runtime: Runtime) -> Library:
    """Return the library with the recognition of lines on this runtime."""
    return Library(warm=partial(_warm, runtime), read=partial(_read, runtime), inspect=_inspect)
