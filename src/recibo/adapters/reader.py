"""Runs the extraction library in child processes, which may crash.

The service imports this module, so it imports nothing heavy: only the child processes load the
library.
"""

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from recibo.adapters.reader_process import frames, results
from recibo.adapters.reader_process.child_process import Job, ProcessDiedError, Program
from recibo.adapters.reader_process.failures import (
    CRASHED,
    OUT_OF_MEMORY,
    TIMED_OUT,
    Failure,
    FailureKind,
)
from recibo.adapters.reader_process.lane import Lane
from recibo.adapters.reader_process.limits import (
    Limits,
    MemoryLimitError,
    TimeLimitError,
    TimeLimits,
)
from recibo.errors import Overloaded
from recibo.extract.ocr.runtime import Runtime

if TYPE_CHECKING:
    from recibo.extract.document.formats import Kind
    from recibo.extract.model import Accuracy, DocumentType, Receipt

__all__ = ["Failure", "FailureKind", "Library", "PoolReader", "Reader"]

T = TypeVar("T")

#: Processor seconds that a document and each of its pages may take.
DOCUMENT_LIMIT_S, PAGE_LIMIT_S = 120.0, 20.0

# Inspection reads the header and counts pages, which takes milliseconds; a file that takes longer
# hangs its decoder.
_INSPECTION_LIMITS = TimeLimits(2.0, 2.0)

#: How long an upload waits for an inspection process.
_INSPECTION_WAIT_S = 10.0
_RETRY_AFTER_S = 5

# Inspection decodes no pixels: normal files take a quarter of this. A larger one is refused when
# it is read.
_INSPECTION_MEMORY_BYTES = 384 << 20

# Inspection leaks little memory, so its processes are kept for longer.
_INSPECTIONS = 5_000

# Drawing decodes one page: the largest pictures take a second or two.
_DRAWING_LIMITS = TimeLimits(10.0, 10.0)
_DRAWING_WAIT_S = 20.0
_DRAWINGS = 500

_BREAKDOWNS = (ProcessDiedError, TimeLimitError, MemoryLimitError)

#: A job that every process answers at once.
_PING, _PING_LIMITS = Job(frames.PING), TimeLimits(10.0, 10.0)


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
        """Read the document; the time limit starts when a process takes it."""

    async def inspect(self, path: Path) -> "Kind | Failure":
        """Return the file type, detected by content, or the reason to refuse the file.

        Raises:
            Overloaded: no inspection process is free.
        """

    async def draw(
        self, path: Path, number: int, *, turns: int, width: int | None
    ) -> "bytes | Failure | None":
        """Return an upright page as WebP; None if the document has no such page.

        Raises:
            Overloaded: no process is free.
        """

    def is_ready(self) -> bool:
        """Return whether documents can be read: a process has loaded the models."""


@dataclass(frozen=True, slots=True)
class Library:
    """The programs that the processes load: to read, to inspect, and to draw pages."""

    reading: Program
    inspection: Program
    drawing: Program


def on_runtime(runtime: Runtime) -> Library:
    """Return the library with the recognition of lines on this runtime."""
    return Library(
        Program("recibo.adapters.reader_process.library:reading", {"runtime": runtime.value}),
        Program("recibo.adapters.reader_process.library:inspection"),
        Program("recibo.adapters.reader_process.library:drawing"),
    )


class PoolReader:
    """Reads in child processes, each document in one, as many at once as there are processes.

    Separate processes inspect uploads, so that an upload does not wait for a reading.
    """

    def __init__(
        self,
        *,
        processes: int | None = None,
        spare: int = 0,
        limits: Limits | None = None,
        runtime: Runtime = Runtime.AUTO,
        library: Library | None = None,
    ) -> None:
        limits = limits or Limits()
        library = library or on_runtime(runtime)
        self._count = processes or len(os.sched_getaffinity(0))
        # The spare ones start when they are needed, and are kept.
        self._reading = _Lanes(self._count + spare, library.reading, limits)
        inspection_limits = replace(
            limits,
            tasks=_INSPECTIONS,
            memory_bytes=min(_INSPECTION_MEMORY_BYTES, limits.memory_bytes),
        )
        # Each org has one upload inspected at a time, so that of two processes one is for others.
        inspectors = max(self._count, 2)
        self._inspection = _Lanes(inspectors, library.inspection, inspection_limits)
        # It starts when the first page is asked for.
        self._drawing = _Lanes(1, library.drawing, replace(limits, tasks=_DRAWINGS))
        self._starts: list[asyncio.Task[Failure | None]] = []
        self._is_ready = False
        results.prepare()

    async def start(self) -> Failure | None:
        """Start the processes and wait for the first to be ready; return why if none is."""
        readers = [self._start_one(self._reading) for _ in range(self._count)]
        self._starts = [*readers, self._start_one(self._inspection)]
        failure = None
        for start in asyncio.as_completed(readers):
            failure = await start
            if failure is None:
                self._is_ready = True
                break
        return failure

    async def aclose(self) -> None:
        """End the processes; a reading in progress fails with `crashed`."""
        self._is_ready = False
        pools = (self._reading, self._inspection, self._drawing)
        await asyncio.gather(*(pool.aclose() for pool in pools))
        await asyncio.gather(*self._starts)

    def is_ready(self) -> bool:
        """Return whether a process has loaded the models and the reader is not closing."""
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
        arguments = {"hint": hint, "accuracy": accuracy}
        limits = TimeLimits(DOCUMENT_LIMIT_S, PAGE_LIMIT_S, time_limit_s)
        with _open_document(path) as document:
            if isinstance(document, Failure):
                return document
            job = Job("read", arguments, document)
            return await self._reading.run(job, results.receipt, limits)

    async def inspect(self, path: Path) -> "Kind | Failure":
        """Inspect the document in an inspection process."""
        with _open_document(path) as document:
            if isinstance(document, Failure):
                return document
            job = Job("inspect", {}, document)
            return await self._inspection.run(
                job, results.kind, _INSPECTION_LIMITS, wait_s=_INSPECTION_WAIT_S
            )

    async def draw(
        self, path: Path, number: int, *, turns: int, width: int | None
    ) -> bytes | Failure | None:
        """Draw the page in the process for it."""
        with _open_document(path) as document:
            if isinstance(document, Failure):
                return document
            job = Job("draw", {"number": number, "turns": turns, "width": width}, document)
            drawn = await self._drawing.run(
                job, results.page_image, _DRAWING_LIMITS, wait_s=_DRAWING_WAIT_S
            )
        if isinstance(drawn, Failure) or drawn.content is None:
            return drawn if isinstance(drawn, Failure) else None
        return base64.b64decode(drawn.content)

    def _start_one(self, lanes: "_Lanes") -> "asyncio.Task[Failure | None]":
        return asyncio.create_task(lanes.run(_PING, results.nothing, _PING_LIMITS))


class _Lanes:
    """A pool of lanes: runs each job on the next free one."""

    def __init__(self, count: int, program: Program, limits: Limits) -> None:
        self._lanes = tuple(Lane(program, limits) for _ in range(count))
        # The lane used last is used next: its process is warm, and idle ones need not start.
        self._free: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        for lane in self._lanes:
            self._free.put_nowait(lane)
        self._starting = set[asyncio.Task[None]]()

    async def run(
        self,
        job: Job,
        parse: Callable[[bytes], T],
        limits: TimeLimits,
        *,
        wait_s: float | None = None,
    ) -> T | Failure:
        """Run the job; raises Overloaded if no process takes it within `wait_s`."""
        try:
            async with self._lane(wait_s) as lane:
                try:
                    return await lane.run(job, parse, limits)
                except _BREAKDOWNS as e:
                    # Until the next process has started, the sender of the document waits: it
                    # would slow the others down while it breaks one process after another.
                    with suppress(ProcessDiedError):
                        await lane.ready()
                    return _failure(e)
        except ProcessDiedError as e:
            return _failure(e)

    async def aclose(self) -> None:
        await asyncio.gather(*(lane.aclose() for lane in self._lanes))
        await asyncio.gather(*self._starting)

    @asynccontextmanager
    async def _lane(self, wait_s: float | None) -> AsyncIterator[Lane]:
        """Hold the next free lane with a ready process.

        Raises:
            Overloaded: there is none within `wait_s`.
        """
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(wait_s):
                    lane = await self._free.get()
                    stack.callback(self._free_again, lane)
                    await lane.ready()
            except TimeoutError:
                raise Overloaded(retry_after=_RETRY_AFTER_S) from None
            yield lane

    def _free_again(self, lane: Lane) -> None:
        """Give a lane back, after its process has started: meanwhile, others take jobs at once."""
        if not lane.is_starting:
            self._free.put_nowait(lane)
            return
        start = asyncio.create_task(self._free_once_ready(lane))
        self._starting.add(start)
        start.add_done_callback(self._starting.discard)

    async def _free_once_ready(self, lane: Lane) -> None:
        # A process that does not start fails the next job, which says what is wrong.
        with suppress(ProcessDiedError):
            await lane.ready()
        self._free.put_nowait(lane)


def _failure(breakdown: Exception) -> Failure:
    match breakdown:
        case TimeLimitError():
            return Failure(FailureKind.TIMED_OUT, TIMED_OUT, str(breakdown))
        case MemoryLimitError():
            return Failure(FailureKind.OUT_OF_MEMORY, OUT_OF_MEMORY, str(breakdown))
        case _:
            return Failure(FailureKind.CRASHED, CRASHED, str(breakdown))


@contextmanager
def _open_document(path: Path) -> Iterator[int | Failure]:
    """Yield the descriptor of a file; the child process cannot open files itself."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as e:
        yield Failure(FailureKind.CRASHED, CRASHED, str(e))
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
