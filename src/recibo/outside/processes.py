"""A process for work that may crash, hang or eat all memory, and what is left when it does.

One pebble pool of one process a lane, not one pool of many: a child that is killed while it holds
a pool's lock, or whose answer cannot be unpickled, then takes no other child's work with it.
"""

import asyncio
import contextlib
import ctypes
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

T = TypeVar("T")

_GIB = 1 << 30

# A child imports and warms up before it takes its first task, and that time is not the task's.
# Two seconds as a rule; more on a machine that is starting everything else as well.
START_LIMIT_S = 60.0

# Libraries of arithmetic start a thread a core, each with its buffers; a child uses one core.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class ProcessDiedError(Exception):
    """The process ended in the middle of its work."""


class TimeLimitError(Exception):
    """The work took longer than it may."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take."""

    #: Counts reserved addresses too, so it is far above what a child really holds.
    address_space_bytes: int = 4 * _GIB
    #: How much a child gives way to the service that answers requests.
    niceness: int = 10
    #: After so many tasks a fresh process takes over, whatever leaked into the old one.
    tasks: int = 200


class Lane:
    """Runs one task at a time in a process of its own, and replaces that process when need be.

    Whoever uses it runs no two tasks at once. The process starts with the first task.
    """

    def __init__(self, prepare: Callable[[], None], limits: Limits | None = None) -> None:
        self._prepare = prepare
        self._limits = limits or Limits()
        self._pool: ProcessPool | None = None
        #: Ends the wait for the running work: a pool that is stopped never answers.
        self._give_up: Callable[[], bool] = lambda: False
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def run(self, work: Callable[[], T], *, time_limit_s: float) -> T:
        """Run picklable work in the child; a cancelled caller ends the child's work too.

        Raises:
            ProcessDiedError: the child crashed, was killed, or the lane was closed.
            TimeLimitError: the child took longer than `time_limit_s`, and was killed.
            Exception: whatever the work raises.
        """
        # Idle children die too, which may show only when work for them arrives. That work did not
        # begin, so the next child gets it.
        with contextlib.suppress(BrokenProcessPool):
            return await self._attempt(work, time_limit_s)
        try:
            return await self._attempt(work, time_limit_s)
        except BrokenProcessPool as e:
            raise ProcessDiedError(str(e)) from None

    async def aclose(self) -> None:
        """End the process and whatever it does; whoever waits for that gets ProcessDiedError."""
        self._is_closed = True
        self._give_up()
        self._retire()
        await asyncio.gather(*self._endings)

    async def _attempt(self, work: Callable[[], T], time_limit_s: float) -> T:
        pool = self._working_pool()
        try:
            # The pool watches the time from the moment the child takes the work; the outer limit
            # is for a child that never does.
            async with asyncio.timeout(time_limit_s + START_LIMIT_S):
                return await self._answer(pool, work, time_limit_s)
        except ProcessExpired as e:
            raise ProcessDiedError(_cause_of_death(e.exitcode)) from None
        except TimeoutError:
            self._retire()
            raise TimeLimitError(f"no answer within {time_limit_s:g} s") from None
        except (asyncio.CancelledError, BrokenProcessPool):
            self._retire()
            if self._is_closed and not _is_cancelled():
                raise ProcessDiedError("the reader is closing") from None
            raise

    async def _answer(self, pool: ProcessPool, work: Callable[[], T], time_limit_s: float) -> T:
        # Starting a child takes 10 ms or more, which the event loop does not have.
        future = await asyncio.to_thread(_schedule, pool, work, time_limit_s)
        self._give_up = future.cancel
        if self._is_closed:
            future.cancel()
        return await asyncio.wrap_future(future)

    def _working_pool(self) -> ProcessPool:
        if self._is_closed:
            raise ProcessDiedError("the reader is closed")
        if self._pool is not None and not self._pool.active:
            self._retire()
        if self._pool is None:
            self._pool = ProcessPool(
                max_workers=1,
                max_tasks=self._limits.tasks,
                initializer=_settle_in,
                initargs=(os.getpid(), self._limits, self._prepare),
                context=multiprocessing.get_context("spawn"),
            )
        return self._pool

    def _retire(self) -> None:
        """Give the pool up, and end it in the background: killing takes a moment."""
        if self._pool is None:
            return
        ending = asyncio.create_task(asyncio.to_thread(_end, self._pool))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        self._pool = None


def _is_cancelled() -> bool:
    """Tell whether the running task was cancelled, and not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _schedule(pool: ProcessPool, work: Callable[[], T], time_limit_s: float) -> Future[T]:
    # Ctrl-C reaches the children of a terminal's command too, and one that is just starting
    # would answer with a traceback. Children, and the pool's threads that start more, inherit
    # the mask of this thread.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.schedule(work, timeout=time_limit_s)
    except RuntimeError as e:  # It broke a moment ago.
        raise BrokenProcessPool(str(e)) from e
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it bare
    pool.join()


def _cause_of_death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"the process ended with status {exit_code}"
    with contextlib.suppress(ValueError):
        return f"the process was ended by {signal.Signals(-exit_code).name}"
    return f"the process was ended by signal {-exit_code}"


def _settle_in(parent: int, limits: Limits, prepare: Callable[[], None]) -> None:
    """Make the child a good citizen, then let it prepare; runs in the child before any task.

    It never raises: pebble gives a pool up for good whose children fail to start. What is wrong
    shows again in the first task, which can say it.
    """
    # pebble's handler of SIGTERM is Python code, which waits until a library's loop returns.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with(parent)
    os.nice(limits.niceness)
    _limit(resource.RLIMIT_AS, limits.address_space_bytes)
    # A core file would put a customer's document on the disk.
    _limit(resource.RLIMIT_CORE, 0)
    # What libraries print must not get between the lines of the command's output.
    os.dup2(2, 1)
    for name in _ONE_THREAD:
        os.putenv(name, "1")
    with contextlib.suppress(Exception):
        prepare()


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent is gone, however that went.

    Strictly, when the parent's thread that started it is gone: those of asyncio's pool live as
    long as the loop, and those of pebble as long as the lane.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It died before the line above.
        os._exit(1)


def _limit(what: int, most: int) -> None:
    _, ceiling = resource.getrlimit(what)
    if ceiling != resource.RLIM_INFINITY:
        most = min(most, ceiling)
    resource.setrlimit(what, (most, most))
