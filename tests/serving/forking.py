"""Starts servers by forking a process that has imported the service once.

The imports take seconds of processor time, more than most tests of a server.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, NoReturn
from unittest import mock

#: Stands for the interpreter in a command.
PYTHON = "forked python"

_MAX_REQUEST_BYTES = 100_000
# What a server has imported when it listens.
_SERVICE = ("recibo.cli.server", "aiosqlite", "burner_redis")


@dataclass(slots=True)
class ForkedProcess:
    """A process that was forked, with the methods of `subprocess.Popen` that tests use."""

    pid: int
    stdout: IO[str]
    #: Gets the exit status, as a line, when the process has ended.
    _status: IO[str]
    _code: int | None = None

    def wait(self) -> int:
        """Wait until the process has ended and return its exit status."""
        if self._code is None:
            self._code = int(self._status.readline())
            self._status.close()
        return self._code

    def terminate(self) -> None:
        """Ask the process to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def start(
    arguments: Sequence[str], *, folder: Path, environment: dict[str, str], stderr: IO[str]
) -> ForkedProcess:
    """Run `python ARGUMENTS...`, with `-m MODULE` or the path of a program as the first."""
    request = {"arguments": arguments, "folder": str(folder), "environment": environment}
    output, their_output = os.pipe()
    status, their_status = os.pipe()
    theirs = [their_output, stderr.fileno(), their_status]
    socket.send_fds(_server(), [json.dumps(request).encode()], theirs)
    os.close(their_output)
    os.close(their_status)
    lines = os.fdopen(status)
    return ForkedProcess(int(lines.readline()), os.fdopen(output), lines)


@cache
def _server() -> socket.socket:
    """Start the process that forks; it ends when this process does."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
        )

    def stop() -> None:
        ours.close()
        process.wait()

    atexit.register(stop)
    return ours


def _serve(channel: socket.socket) -> None:
    for name in _SERVICE:
        importlib.import_module(name)
    # Less memory is copied.
    gc.freeze()
    # The kernel reaps the supervisors.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, _MAX_REQUEST_BYTES, 3)
        if not request:
            return
        if not os.fork():
            channel.close()
            _supervise(request, descriptors)
        for one in descriptors:
            os.close(one)


def _supervise(request: bytes, descriptors: Sequence[int]) -> NoReturn:
    """Run the program in a child, and report its id and its exit status."""
    stdout, stderr, status = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if not child:
        os.close(status)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    if not child:
        _run(**json.loads(request))
        sys.exit()
    os.write(status, f"{child}\n".encode())
    _, ended = os.waitpid(child, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _run(arguments: Sequence[str], folder: str, environment: dict[str, str]) -> None:
    mock.patch.dict("os.environ", environment, clear=True).start()
    os.chdir(folder)
    if arguments[0] == "-m":
        sys.argv[1:] = arguments[2:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
