"""Runs `recibo serve` or `recibo worker` in a separate process."""

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from tests import environments
from tests.adapters import process_exits
from tests.serving import forking
from tests.serving.forking import ForkedProcess

#: The command `recibo`.
RECIBO = (forking.PYTHON, "-m", "recibo")
#: The same with a reader in memory, for everything but the reading: it loads no models.
QUICK = (forking.PYTHON, str(Path(__file__).with_name("quick_recibo.py")))

Process = subprocess.Popen[str] | ForkedProcess

_LISTENS = re.compile(r"listens on (http://\S+?),")
_SECRET = re.compile(r"sk_live_\w+")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    process: Process
    url: str
    #: What it said until it listened.
    greeting: str

    @property
    def secret(self) -> str:
        """The demo org's key, which only the first start prints."""
        found = _SECRET.search(self.greeting)
        assert found is not None, self.greeting
        return found[0]

    def children(self) -> set[int]:
        """Return the process ids of its children."""
        return process_exits.children(self.process.pid)

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def client(self, secret: str) -> httpx.AsyncClient:
        """Return a client that holds a key."""
        return httpx.AsyncClient(base_url=self.url, headers={"X-API-Key": secret}, timeout=60)


@contextlib.contextmanager
def serving(
    data_dir: Path, *arguments: str, program: Sequence[str] = RECIBO, **settings: str
) -> Iterator[Server]:
    """Start a server on a free port; it is killed at the end if it still runs."""
    with _started(data_dir, [*program, "serve", "--port", "0", *arguments], settings) as started:
        yield _listening(*started)


@contextlib.contextmanager
def serving_many(
    count: int, data_dir: Path, *arguments: str, program: Sequence[str] = RECIBO, **settings: str
) -> Iterator[list[Server]]:
    """Start so many servers, each after the last; they are killed at the end.

    Many that start at once keep a busy machine from answering their first connections in time.
    """
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(serving(data_dir, *arguments, program=program, **settings))
            for _ in range(count)
        ]


@contextlib.contextmanager
def working(
    data_dir: Path, *, program: Sequence[str] = RECIBO, **settings: str
) -> Iterator[Process]:
    """Start a worker; it is killed at the end if it still runs."""
    with _started(data_dir, [*program, "worker"], settings) as (process, _):
        yield process


@contextlib.contextmanager
def _started(
    data_dir: Path, command: Sequence[str], settings: dict[str, str]
) -> Iterator[tuple[Process, IO[str]]]:
    with tempfile.TemporaryFile("w+") as log:
        process = _start(data_dir, command, settings, log)
        try:
            yield process, log
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _start(
    data_dir: Path, command: Sequence[str], settings: dict[str, str], log: IO[str]
) -> Process:
    program, *arguments = command
    with environments.with_settings(data_dir, settings) as environment:
        if program == forking.PYTHON:
            return forking.start(arguments, folder=data_dir, environment=environment, stderr=log)
        return subprocess.Popen(
            command, cwd=data_dir, stdout=subprocess.PIPE, stderr=log, text=True
        )


def _listening(process: Process, log: IO[str]) -> Server:
    assert process.stdout is not None
    greeting = ""
    for line in process.stdout:
        greeting += line
        if found := _LISTENS.search(line):
            return Server(process, found[1], greeting)
    log.seek(0)
    message = f"the server did not start: {greeting}{log.read()}"
    raise AssertionError(message)
