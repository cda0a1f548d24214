"""The time and memory limits of a reader process, and a watch that enforces them."""

import contextlib
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

_GIB = 1 << 30

#: Positions in /proc/PID/stat after the command's name: user time, system time,
#: resident pages (proc_pid_stat(5)).
_USER, _SYSTEM, _RESIDENT = 11, 12, 21

#: Position in /proc/PID/schedstat of the time that the main thread waited for a processor,
#: nanoseconds (Documentation/scheduler/sched-stats.rst).
_WAITED, _NANOSECONDS = 1, 1e9


_LOWEST_PRIORITY = 19


class TimeLimitError(Exception):
    """The job exceeded its time limit."""


class MemoryLimitError(Exception):
    """The job exceeded the memory limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child process for all jobs."""

    #: Resident memory, above which the parent kills the child.
    memory_bytes: int = _GIB * 3 // 2
    #: Includes reserved addresses, so it is far above the memory in use.
    address_space_bytes: int = 4 * _GIB
    #: Lower priority than the processes that answer requests.
    niceness: int = 10
    #: A step that takes more seconds of processor time than this gets the lowest priority. No page
    #: of the development documents takes that long.
    slow_step_s: float = 5.0
    #: Replace the process after this many jobs, to bound leaks.
    tasks: int = 200


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits in seconds of processor time, so that a busy machine fails no document."""

    work_s: float
    #: For each step that the child starts, such as a page.
    step_s: float
    #: Wall-clock limit.
    most_s: float = math.inf
    #: How many times as long either may take by the wall clock, which ends a job that sleeps. The
    #: time that the child waits for a processor does not count.
    clock_ratio: float = 2.0


@dataclass(frozen=True, slots=True)
class _Moment:
    processor_s: float
    #: On a clock that stops while the process waits for a processor.
    clock_s: float


class Watch:
    """Watches the time and memory that a process takes for one job, from now on."""

    def __init__(self, pid: int, limits: Limits, time_limits: TimeLimits) -> None:
        self._process = Path(f"/proc/{pid}")
        self._begun_at = time.monotonic()
        self._limits = limits
        self._time = time_limits
        self._begun = self._step_begun = self._now()[0]
        #: Whether a step was slow. Its process keeps the lowest priority for the rest of its life.
        self.is_slow = False

    def step(self) -> None:
        """Start the next step."""
        self._step_begun = self._now()[0]

    def check(self) -> None:
        """Compare the time and memory taken with the limits.

        Raises:
            TimeLimitError, MemoryLimitError: a limit is exceeded.
        """
        now, memory_bytes = self._now()
        if memory_bytes > self._limits.memory_bytes:
            raise MemoryLimitError(f"{memory_bytes >> 20} MB of memory")
        if now.processor_s - self._step_begun.processor_s > self._limits.slow_step_s:
            self._lower_priority()
        for what, begun, most_s in (
            ("the work", self._begun, self._time.work_s),
            ("a step", self._step_begun, self._time.step_s),
        ):
            if now.processor_s - begun.processor_s > most_s:
                raise TimeLimitError(f"{what} took more than {most_s:g} s of processor time")
            if now.clock_s - begun.clock_s > (ceiling_s := self._time.clock_ratio * most_s):
                raise TimeLimitError(f"{what} took more than {ceiling_s:g} s")
        if time.monotonic() - self._begun_at > self._time.most_s:
            raise TimeLimitError(f"the work took more than {self._time.most_s:g} s")

    def _lower_priority(self) -> None:
        if self.is_slow:
            return
        self.is_slow = True
        # Linux has a priority for each thread. One may end meanwhile.
        with contextlib.suppress(OSError):
            for thread in (self._process / "task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), _LOWEST_PRIORITY)

    def _now(self) -> tuple[_Moment, int]:
        fields = self._read("stat").rpartition(")")[2].split()
        if len(fields) <= _RESIDENT:  # The process has ended, which its channel reports, too.
            return _Moment(0.0, time.monotonic()), 0
        ticks = int(fields[_USER]) + int(fields[_SYSTEM])
        waited_ns = int((self._read("schedstat").split() or "0" * 3)[_WAITED])
        moment = _Moment(
            ticks / os.sysconf("SC_CLK_TCK"), time.monotonic() - waited_ns / _NANOSECONDS
        )
        return moment, int(fields[_RESIDENT]) * os.sysconf("SC_PAGE_SIZE")

    def _read(self, name: str) -> str:
        try:
            return (self._process / name).read_text("ascii", "replace")
        except OSError:
            return ""
