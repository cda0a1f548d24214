"""A test server, in a separate folder, for as long as a bench measures it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: Finds where a server says that it listens.
ADDRESS = re.compile(r"listens on (http://\S+?),")
_KEY = re.compile(r"^\s+(sk_live_\w+)$")
#: Who owns the demo org.
OWNER = "demo@recibo.localhost"


@dataclass(frozen=True, slots=True)
class Server:
    """A running `recibo serve`."""

    url: str
    #: The demo org's key, which is shown only at the first start.
    key: str | None
    #: Its owner's, which is shown then, too.
    password: str | None
    pid: int

    @property
    def megabytes(self) -> float:
        """The memory that the server itself holds."""
        return _megabytes(self.pid)

    @property
    def child_megabytes(self) -> float:
        """The memory that the largest of its processes holds."""
        return max((_megabytes(child) for child in _children(self.pid)), default=0.0)


@contextmanager
def running(data_dir: Path, *arguments: str, database_url: str = "") -> Iterator[Server]:
    """Serve from the folder on a free port; its SQLite is the database unless another is named."""
    settings = {"RECIBO_DATA_DIR": str(data_dir), "RECIBO_DATABASE_URL": database_url}
    command = [sys.executable, "-m", "recibo", "serve", "--port", "0", *arguments]
    log = data_dir / "log"
    with (
        log.open("a") as errors,
        subprocess.Popen(  # noqa: S603 - our own command
            command,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            yield _started(process, log)
        finally:
            process.send_signal(signal.SIGINT)


def _started(process: subprocess.Popen[str], log: Path) -> Server:
    key = password = None
    before = ""
    for line in process.stdout or ():
        if before.strip() == OWNER:
            password = line.strip()
        before = line
        if found := _KEY.match(line):
            key = found[1]
        if found := ADDRESS.search(line):
            return Server(found[1], key, password, process.pid)
    raise SystemExit(f"The server does not start:\n{log.read_text()}")


def _children(pid: int) -> set[int]:
    # Each is listed with the thread that started it.
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for path in threads for child in path.read_text().split()}


def _megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # It ended meanwhile.
        return 0.0
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0
