"""A lane: work that may crash, hang or eat all memory, in a process that is replaced then."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from recibo.adapters.reader_process.child_process import (
    ChildProcess,
    Job,
    NotBegunError,
    ProcessDiedError,
    Program,
)
from recibo.adapters.reader_process.limits import Limits, TimeLimits

T = TypeVar("T")


class Lane:
    """Runs one job at a time in a process of its own, and replaces that process when need be.

    Whoever uses it runs no two jobs at once. The process starts with the first job; a process that
    had to be killed is replaced at once, so that the next job need not wait for the start.
    """

    def __init__(self, program: Program, limits: Limits | None = None) -> None:
        self._program = program
        self._limits = limits or Limits()
        self._child: ChildProcess | None = None
        self._done = 0
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def ready(self) -> None:
        """Wait until the process takes jobs.

        Raises:
            ProcessDiedError: it died first, or the lane was closed.
        """
        await self._ready_child()

    async def run(self, job: Job, parse: Callable[[bytes], T], time_limits: TimeLimits) -> T:
        """Have the process do a job; a cancelled caller ends the process, too.

        Args:
            job: What to do.
            parse: Makes the answer of the bytes that came; raises ValueError when no honest
                process sends them.
            time_limits: How long the job may take.

        Raises:
            ProcessDiedError: the process died or sent nonsense, or the lane was closed.
            TimeLimitError, MemoryLimitError: the process took too much, and was killed.
        """
        # Idle processes die too, which may show only when a job for them arrives. That job did
        # not begin, so the next process gets it.
        try:
            return await self._attempt(job, parse, time_limits)
        except NotBegunError:
            return await self._attempt(job, parse, time_limits)

    async def aclose(self) -> None:
        """End the process and its work; a caller that waits for it gets ProcessDiedError."""
        self._is_closed = True
        self._retire()
        if self._endings:
            await asyncio.wait(self._endings)

    async def _attempt(self, job: Job, parse: Callable[[bytes], T], time_limits: TimeLimits) -> T:
        child = await self._ready_child()
        try:
            answer = parse(await child.do(job, time_limits))
        except ValueError as e:
            self._replace(child)
            raise ProcessDiedError(f"the process sent a wrong answer: {e}") from None
        except ProcessDiedError as e:
            self._replace(child)
            raise self._closing() or e from None
        except BaseException:
            self._replace(child)
            raise
        self._done += 1
        if child.is_slow or self._done >= self._limits.tasks:
            self._replace(child)
        return answer

    async def _ready_child(self) -> ChildProcess:
        if closing := self._closing():
            raise closing
        if self._child is None or not self._child.is_alive:
            self._retire()
            self._start()
        child = self._child
        assert child  # noqa: S101 - it was just started
        try:
            await child.ready()
        except ProcessDiedError as e:
            if self._child is child:
                self._retire()
            raise self._closing() or e from None
        return child

    def _closing(self) -> ProcessDiedError | None:
        return ProcessDiedError("the reader is closing or closed") if self._is_closed else None

    def _start(self) -> None:
        self._child, self._done = ChildProcess(self._program, self._limits), 0

    def _replace(self, child: ChildProcess) -> None:
        """Have a fresh process ready for the next job."""
        if self._child is child and not self._is_closed:
            self._retire()
            # The job that is over has its answer; the next one tries again, and says what is wrong.
            with contextlib.suppress(ProcessDiedError):
                self._start()

    def _retire(self) -> None:
        """Give the process up; it is buried in the background."""
        if self._child is None:
            return
        self._child.kill()
        ending = asyncio.create_task(self._child.ended())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        self._child = None
