"""The parent's side of one reader process: starts it, sends jobs, receives answers."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any, cast

from recibo.adapters.reader_process import frames
from recibo.adapters.reader_process.frames import Kind
from recibo.adapters.reader_process.limits import Limits, TimeLimits, Watch

log = logging.getLogger(__name__)

# A child imports and warms up before its first job, and that time does not count for the job.
# Two seconds as a rule; more on a machine that is starting everything else as well.
START_LIMIT_S = 60.0

#: How often the limits of a child are checked. A child can allocate some 200 MB in between.
_LOOK_EVERY_S = 0.05

#: A document has at most 30 pages; a child that reports more steps is compromised.
_MAX_STEPS = 64

#: How much of a child's output is logged; the rest is dropped.
_MAX_PRINTED = 64 << 10
_PIECE = 64 << 10
_MAX_LAST = 4096

# The child finds its modules where the parent did, whatever the environment says.
_BOOT = (
    "import json, sys; settings = json.loads(sys.argv[1]); sys.path[:] = settings['path']; "
    "from recibo.adapters.reader_process import child; child.main(settings)"
)

_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    # Libraries of arithmetic start a thread a core, each with its buffers; a child uses one core.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "1",
}
#: The only inherited variable: some installations set it for their system libraries.
_INHERITED_VARIABLE = "LD_LIBRARY_PATH"


class ProcessDiedError(Exception):
    """The process ended in the middle of its work."""


class NotBegunError(ProcessDiedError):
    """The process ended before it began its work."""


class ProtocolError(Exception):
    """The process broke the protocol."""


@dataclass(frozen=True, slots=True)
class Program:
    """The library that a child loads: a function, as `module:function`, and its arguments."""

    library: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A job for a child."""

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: The open descriptor of the document, if there is one.
    document: int | None = None


@dataclass(slots=True)
class _Work:
    """The job in progress."""

    watch: Watch
    answer: asyncio.Future[bytes]
    has_begun: bool = False
    steps: int = 0


class ChildProcess:
    """A process that runs one job at a time."""

    def __init__(self, program: Program, limits: Limits) -> None:
        """Start the process; await `ready` before the first job.

        Raises:
            ProcessDiedError: it cannot be started for lack of memory or descriptors.
        """
        self._limits = limits
        try:
            self._channel, self._process = _connected(program, limits)
        except OSError as e:
            raise ProcessDiedError(f"the process could not be started: {e}") from e
        loop = asyncio.get_running_loop()
        self._is_ready: asyncio.Future[None] = loop.create_future()
        self._work: _Work | None = None
        #: Whether its last job was slow, which has cost the process its priority for good.
        self.is_slow = False
        self._prints = _Prints(self._process)
        self._life = loop.create_task(self._live())

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can take another job."""
        return not self._life.done() and self._process.poll() is None

    @property
    def is_starting(self) -> bool:
        """Whether it still loads its library."""
        return not self._is_ready.done()

    async def ready(self) -> None:
        """Wait until it can take jobs.

        Raises:
            ProcessDiedError: it died first, or it takes too long.
        """
        try:
            async with asyncio.timeout(START_LIMIT_S):
                await asyncio.shield(self._is_ready)
        except TimeoutError:
            raise ProcessDiedError(f"not ready within {START_LIMIT_S:g} s") from None

    async def do(self, job: Job, time_limits: TimeLimits) -> bytes:
        """Run a job and return the answer, unvalidated except for its length.

        The process must be killed after any exception.

        Raises:
            NotBegunError: the process was dead before it began.
            ProcessDiedError: the process died, or broke the protocol.
            TimeLimitError, MemoryLimitError: the process exceeds a limit.
        """
        watch = Watch(self.pid, self._limits, time_limits)
        work = _Work(watch, asyncio.get_running_loop().create_future())
        self._work = work
        try:
            self._send(job)
            while not work.answer.done():
                await asyncio.wait((work.answer,), timeout=_LOOK_EVERY_S)
                if not work.answer.done():
                    watch.check()
            return work.answer.result()
        finally:
            self.is_slow = watch.is_slow
            self._work = None

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()
        # Closes the channel even if another process holds the other end.
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    async def ended(self) -> None:
        """Wait until the process has ended and is reaped."""
        await asyncio.wait((self._life,))

    def _send(self, job: Job) -> None:
        order = {"kind": job.kind, "arguments": dict(job.arguments)}
        try:
            frames.send_job(self._channel, order, job.document)
        except OSError as e:
            raise NotBegunError(str(e)) from None

    async def _live(self) -> None:
        """Receive frames until the process ends, then reap it."""
        cause = ""
        try:
            while await self._receive_frame():
                pass
        except ProtocolError as e:
            cause = str(e)
        finally:
            self._process.kill()
            status = await asyncio.to_thread(self._process.wait)
            self._channel.close()
            self._prints.close()
            self._report_end(cause or _exit_reason(status))

    def _report_end(self, cause: str) -> None:
        detail = f"{cause}\n{self._prints.last}".strip()
        if not self._is_ready.done():
            self._is_ready.set_exception(ProcessDiedError(detail))
            self._is_ready.exception()  # Mark it as retrieved: there may be no waiter.
        if self._work and not self._work.answer.done():
            error = ProcessDiedError if self._work.has_begun else NotBegunError
            self._work.answer.set_exception(error(detail))

    async def _receive_frame(self) -> bool:
        """Process one frame; return False at the end of the stream."""
        head = await self._receive(frames.HEADER.size)
        if head is None:
            return False
        number, length = frames.HEADER.unpack(head)
        if number not in Kind.__members__.values() or length > frames.LONGEST[Kind(number)]:
            raise ProtocolError(f"the process sent {length} bytes of kind {number}")
        content = await self._receive(length)
        if content is None:
            return False
        self._take(Kind(number), content)
        return True

    async def _receive(self, length: int) -> bytes | None:
        """Return this many bytes; None at the end of the stream."""
        loop = asyncio.get_running_loop()
        content = bytearray()
        while len(content) < length:
            try:
                part = await loop.sock_recv(self._channel, min(length - len(content), _PIECE))
            except OSError:
                return None
            if not part:
                return None
            content += part
        return bytes(content)

    def _take(self, kind: Kind, content: bytes) -> None:
        work = self._work
        match kind:
            case Kind.READY if not self._is_ready.done():
                warn_once(content)
                self._is_ready.set_result(None)
            case Kind.BEGUN if work and not work.has_begun:
                work.has_begun = True
            case Kind.STEP if work and work.steps < _MAX_STEPS:
                work.steps += 1
                work.watch.step()
            case Kind.ANSWER if work and not work.answer.done():
                work.answer.set_result(content)
            case _:
                raise ProtocolError(f"the process sent {kind.name} out of turn")


class _Prints:
    """Logs the output of a process up to a limit, and keeps it out of the parent's output."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._pid = process.pid
        self._pipe = cast("IO[bytes]", process.stdout)
        self._left = _MAX_PRINTED
        #: The last part, which may say why the process died.
        self.last = ""
        os.set_blocking(self._pipe.fileno(), False)
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._receive_frame)

    def close(self) -> None:
        """Read the rest and close the pipe."""
        if self._pipe.closed:
            return
        self._receive_frame()
        self._stop()

    def _receive_frame(self) -> None:
        if self._pipe.closed:
            return
        try:
            part = os.read(self._pipe.fileno(), _PIECE)
        except BlockingIOError:
            return
        self._left -= len(part)
        if part:
            self.last = (self.last + part.decode("utf-8", "replace"))[-_MAX_LAST:]
            log.info("the reader process %d prints: %r", self._pid, part)
        if not part or self._left <= 0:
            self._stop()

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        self._pipe.close()


def _connected(program: Program, limits: Limits) -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    """Return our end of a new channel, and the process with the other end."""
    ours, theirs = socket.socketpair()
    try:
        ours.settimeout(0)
        with theirs:
            return ours, _start(program, limits, theirs.fileno())
    except BaseException:
        ours.close()
        raise


def _start(program: Program, limits: Limits, channel: int) -> "subprocess.Popen[bytes]":
    settings = {
        "parent": os.getpid(),
        "channel": channel,
        "path": [os.path.abspath(entry) for entry in sys.path],  # noqa: PTH100 - links stay links
        "library": program.library,
        "arguments": dict(program.arguments),
        "niceness": limits.niceness,
        "address_space_bytes": limits.address_space_bytes,
    }
    environment = dict(_ENVIRONMENT)
    if _INHERITED_VARIABLE in os.environ:  # noqa: TID251 - not a setting of Recibo
        environment[_INHERITED_VARIABLE] = os.environ[_INHERITED_VARIABLE]  # noqa: TID251
    return subprocess.Popen(  # noqa: S603 - it is this Python
        [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, json.dumps(settings)],
        stdin=subprocess.DEVNULL,
        # Output of libraries must not mix with the command's output.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd="/",
        pass_fds=(channel,),
        # A terminal's signals are for the parent.
        start_new_session=True,
    )


@cache
def warn_once(lacking: bytes) -> None:
    """Log once which protections the kernel lacks, as reported by a child."""
    try:
        names = [str(name) for name in json.loads(lacking)]
    except (ValueError, TypeError):
        raise ProtocolError("the process says it is ready in an unknown way") from None
    if names:
        log.warning(
            "This kernel lacks protections for reader processes: %s. Reading goes on without.",
            ", ".join(names),
        )


def _exit_reason(exit_code: int) -> str:
    if exit_code >= 0:
        return f"the process ended with status {exit_code}"
    with contextlib.suppress(ValueError):
        return f"the process was ended by {signal.Signals(-exit_code).name}"
    return f"the process was ended by signal {-exit_code}"
