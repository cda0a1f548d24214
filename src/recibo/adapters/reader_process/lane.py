"""A lane: runs jobs in a child process and replaces it when a job crashes or hangs it."""

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
    """Runs one job at a time in a child process, which it replaces as needed.

    Callers must not run two jobs at once. The process starts with the first job. A process that was
    killed is replaced at once, so that the next job does not wait for the start.
    """

    def __init__(self, program: Program, limits: Limits | None = None) -> None:
        self._program = program
        self._limits = limits or Limits()
        self._child: ChildProcess | None = None
        self._done = 0
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def is_starting(self) -> bool:
        """Whether its process still loads the library; False without a process."""
        return self._child is not None and self._child.is_starting

    async def ready(self) -> None:
        """Wait until the process takes jobs.

        Raises:
            ProcessDiedError: the process died first, or the lane was closed.
        """
        await self._ready_child()

    async def run(self, job: Job, parse: Callable[[bytes], T], time_limits: TimeLimits) -> T:
        """Run a job in the process; cancellation kills the process.

        Args:
            job: The job.
            parse: Parses and validates the answer; raises ValueError if it is not valid.
            time_limits: The time limits of the job.

        Raises:
            ProcessDiedError: the process died or sent an invalid answer, or the lane was closed.
            TimeLimitError, MemoryLimitError: the process exceeded a limit and was killed.
        """
        # An idle process may have died, which shows only when it gets a job. That job did not
        # start, so the next process gets it.
        try:
            return await self._attempt(job, parse, time_limits)
        except NotBegunError:
            return await self._attempt(job, parse, time_limits)

    async def aclose(self) -> None:
        """Kill the process; the job in progress fails with ProcessDiedError."""
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
        child = self._child
        if child is None or not child.is_alive:
            self._retire()
            child = self._start()
        try:
            await child.ready()
        except ProcessDiedError as e:
            if self._child is child:
                self._retire()
            raise self._closing() or e from None
        return child

    def _closing(self) -> ProcessDiedError | None:
        return ProcessDiedError("the reader is closing or closed") if self._is_closed else None

    def _start(self) -> ChildProcess:
        child = ChildProcess(self._program, self._limits)
        self._child, self._done = child, 0
        return child

    def _replace(self, child: ChildProcess) -> None:
        """Start a new process for the next job."""
        if self._child is child and not self._is_closed:
            self._retire()
            # The current job has its answer; the next job tries again and reports the error.
            with contextlib.suppress(ProcessDiedError):
                self._start()

    def _retire(self) -> None:
        """Kill the process and reap it in the background."""
        if self._child is None:
            return
        self._child.kill()
        ending = asyncio.create_task(self._child.ended())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        self._child = None
