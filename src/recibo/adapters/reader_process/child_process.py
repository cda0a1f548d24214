"""The parent's side of one reader process: starts it, hands it jobs, hears its answers."""

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
from typing import Any

from recibo.adapters.reader_process import frames
from recibo.adapters.reader_process.frames import Kind
from recibo.adapters.reader_process.limits import Limits, TimeLimits, Watch

log = logging.getLogger(__name__)

# A child imports and warms up before it takes its first job, and that time is not the job's.
# Two seconds as a rule; more on a machine that is starting everything else as well.
START_LIMIT_S = 60.0

#: What a child takes is looked at so often. A child fills some 200 MB meanwhile.
_LOOK_EVERY_S = 0.05

#: A document has at most 30 pages; a child that begins more steps lies.
_MAX_STEPS = 64

#: So much of what a child prints is logged; then nobody listens any more.
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
#: The one variable that is handed on: where some installations keep their system libraries.
_HANDED_ON = "LD_LIBRARY_PATH"


class ProcessDiedError(Exception):
    """The process ended in the middle of its work."""


class NotBegunError(ProcessDiedError):
    """The process ended before it began its work."""


class ProtocolError(Exception):
    """The process said what no honest one says."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a child loads: a function, as `module:function`, and its arguments."""

    library: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """What a child is asked to do."""

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: The open descriptor of the document, if there is one.
    document: int | None = None


@dataclass(slots=True)
class _Work:
    """A job in hand."""

    watch: Watch
    answer: asyncio.Future[bytes]
    has_begun: bool = False
    steps: int = 0


class ChildProcess:
    """A process that does one job at a time. Killing it ends it at once and for good."""

    def __init__(self, program: Program, limits: Limits) -> None:
        """Start the process; it is ready later.

        Raises:
            ProcessDiedError: it cannot be started: there is no memory or no descriptor left.
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
        """Whether it may take another job."""
        return not self._life.done() and self._process.poll() is None

    async def ready(self) -> None:
        """Wait until it takes jobs.

        Raises:
            ProcessDiedError: it died first, or it takes too long.
        """
        try:
            async with asyncio.timeout(START_LIMIT_S):
                await asyncio.shield(self._is_ready)
        except TimeoutError:
            raise ProcessDiedError(f"not ready within {START_LIMIT_S:g} s") from None

    async def do(self, job: Job, time_limits: TimeLimits) -> bytes:
        """Return the answer to a job, of which nothing is known but its length.

        The process must be killed after any exception.

        Raises:
            NotBegunError: the process was dead before it began.
            ProcessDiedError: the process died, or broke the protocol.
            TimeLimitError, MemoryLimitError: the process takes more than it may.
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
        # Should something else hold the other end.
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    async def ended(self) -> None:
        """Wait until the process is gone, and its id free again."""
        await asyncio.wait((self._life,))

    def _send(self, job: Job) -> None:
        order = {"kind": job.kind, "arguments": dict(job.arguments)}
        try:
            frames.send_job(self._channel, order, job.document)
        except OSError as e:
            raise NotBegunError(str(e)) from None

    async def _live(self) -> None:
        """Hear the process until its end, then bury it."""
        cause = ""
        try:
            while await self._hear():
                pass
        except ProtocolError as e:
            cause = str(e)
        finally:
            self._process.kill()
            status = await asyncio.to_thread(self._process.wait)
            self._channel.close()
            self._prints.close()
            self._tell_end(cause or _cause_of_death(status))

    def _tell_end(self, cause: str) -> None:
        detail = f"{cause}\n{self._prints.last}".strip()
        if not self._is_ready.done():
            self._is_ready.set_exception(ProcessDiedError(detail))
            self._is_ready.exception()  # Nobody may wait for it.
        if self._work and not self._work.answer.done():
            error = ProcessDiedError if self._work.has_begun else NotBegunError
            self._work.answer.set_exception(error(detail))

    async def _hear(self) -> bool:
        """Take a frame; False when there will be none."""
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
        """Return so many bytes; None at the end of the stream."""
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
    """What a process's libraries print: logged up to a bound, never in the parent's output."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout  # noqa: S101 - it was started so
        self._pid = process.pid
        self._pipe = process.stdout
        self._left = _MAX_PRINTED
        #: The end of it, which may tell why the process died.
        self.last = ""
        os.set_blocking(self._pipe.fileno(), False)
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._hear)

    def close(self) -> None:
        """Hear what is left, then stop listening."""
        if self._pipe.closed:
            return
        self._hear()
        self._stop()

    def _hear(self) -> None:
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
    """Return our end of a new channel, and the process that has the other end."""
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
    if _HANDED_ON in os.environ:  # noqa: TID251 - it is of the process, no setting of ours
        environment[_HANDED_ON] = os.environ[_HANDED_ON]  # noqa: TID251
    return subprocess.Popen(  # noqa: S603 - it is this Python
        [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, json.dumps(settings)],
        stdin=subprocess.DEVNULL,
        # What libraries print must not get between the lines of the command's output.
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
    """Log what the kernel lacks, as the first child of this process says."""
    try:
        names = [str(name) for name in json.loads(lacking)]
    except (ValueError, TypeError):
        raise ProtocolError("the process says it is ready in an unknown way") from None
    if names:
        log.warning(
            "This kernel lacks protections for reader processes: %s. Reading goes on without.",
            ", ".join(names),
        )


def _cause_of_death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"the process ended with status {exit_code}"
    with contextlib.suppress(ValueError):
        return f"the process was ended by {signal.Signals(-exit_code).name}"
    return f"the process was ended by signal {-exit_code}"
