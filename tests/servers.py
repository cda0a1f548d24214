"""Real servers for the tests: private, on loopback, stopped even if the tests are killed."""

import contextlib
import grp
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

from imapclient import IMAPClient

# Debian keeps the server's programs off the PATH, one folder a version.
DEBIAN_FOLDERS = Path("/usr/lib/postgresql")
# initdb takes a second; a loaded machine may need many.
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
IMAP_PASSWORD = secrets.token_hex(8)
# Nothing here outlives the tests, so nothing needs to reach the disk.
POSTGRES_OPTIONS = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "jit=off",
    "max_wal_size=256MB",
    "listen_addresses=127.0.0.1",
)


class MissingServerError(RuntimeError):
    """A server that the tests need is not installed."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running PostgreSQL server that trusts all local users."""

    port: int
    #: Its data and its log; removed when it ends well.
    folder: Path
    #: Where initdb, postgres and psql are.
    programs: Path

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Run each statement in a separate transaction."""
        commands = [part for statement in statements for part in ("-c", statement)]
        subprocess.run(
            [
                self.programs / "psql",
                "-qX",
                "-v",
                "ON_ERROR_STOP=1",
                *commands,
                self.url(database),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def is_ready(self) -> bool:
        """Return whether it accepts connections."""
        probe = [str(self.programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(probe, check=False).returncode == 0

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Make the server accept connections but not answer while the block lasts."""
        main = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        # The first to stop: it makes the others.
        processes = [main]
        os.kill(main, signal.SIGSTOP)
        children = Path(f"/proc/{main}/task/{main}/children").read_text()
        processes += [int(one) for one in children.split()]
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    @contextmanager
    def console(self, database: str) -> Iterator["Console"]:
        """Open a connection to one of its databases that stays."""
        watched = ["setpriv", "--pdeathsig", "KILL"]
        program = [str(self.programs / "psql"), "-qXAt", "-v", "ON_ERROR_STOP=1"]
        with subprocess.Popen(
            [*watched, *program, self.url(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Console(process)
            finally:
                process.kill()


@dataclass(frozen=True, slots=True)
class Console:
    """A connection that stays: to open one for each call takes longer than the calls."""

    process: subprocess.Popen[str]

    def execute(self, *statements: str) -> None:
        """Run each statement in a separate transaction and wait for the last."""
        assert self.process.stdin
        assert self.process.stdout
        done = "all are done"
        lines = [*(f"{one};" for one in statements), f"\\echo {done}", ""]
        self.process.stdin.write("\n".join(lines))
        self.process.stdin.flush()
        if not any(line.strip() == done for line in self.process.stdout):
            message = "PostgreSQL refused a statement; see the error above"
            raise RuntimeError(message)


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running Redis server that keeps nothing."""

    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    def is_ready(self) -> bool:
        """Return whether it answers."""
        try:
            return self._ask(b"PING") == b"+PONG\r\n"
        except OSError:
            return False

    def empty(self) -> None:
        """Forget everything."""
        self._ask(b"FLUSHALL")

    def hang(self) -> None:
        """Accept connections from now on, but do not answer."""
        self._ask(b"CLIENT PAUSE 600000 ALL")

    def _ask(self, command: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=STOP_TIMEOUT_S) as line:
            line.sendall(command + b"\r\n")
            return line.recv(64)


@contextmanager
def run_redis(port: int | None = None) -> Iterator[RedisServer]:
    """Run a server on a port, by default a free one."""
    program = shutil.which("redis-server")
    if program is None:
        raise MissingServerError("Redis is not installed: use `make test` or apt-get")
    server = RedisServer(port or free_port())
    options = ["--port", str(server.port), "--bind", "127.0.0.1", "--save", "", "--appendonly"]
    command = ["setpriv", "--pdeathsig", "KILL", program, *options, "no"]
    with subprocess.Popen(
        command, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(server.is_ready, process, "Redis")
            yield server
        finally:
            process.kill()


@contextmanager
def run_pgbouncer(postgres: Postgres) -> Iterator[Postgres]:
    """Run a pooler in transaction mode before a server, on a free port."""
    program = shutil.which("pgbouncer")
    if program is None:
        raise MissingServerError("PgBouncer is not installed: use `make test` or apt-get")
    folder = Path(tempfile.mkdtemp(prefix="recibo-pgbouncer-"))
    pooler = replace(postgres, port=free_port(), folder=folder)
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"""[databases]
* = host=127.0.0.1 port={postgres.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {pooler.port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 12
"""
    )
    _chown_to_owner(folder)
    try:
        with subprocess.Popen(
            [*_as_owner(), program, "-q", str(settings)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                _wait_for(pooler.is_ready, process, "PgBouncer")
                yield pooler
            finally:
                process.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ImapServer:
    """A running IMAP server that takes any user with its password."""

    port: int
    folder: Path

    @property
    def url(self) -> str:
        """The address of its inbox."""
        return f"imap://receipts:{IMAP_PASSWORD}@127.0.0.1:{self.port}"

    def is_ready(self) -> bool:
        """Return whether it greets."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), STOP_TIMEOUT_S) as line:
                return line.recv(4) == b"* OK"
        except OSError:
            return False

    @contextmanager
    def connected(self) -> Iterator[IMAPClient]:
        """Sign in and open the inbox."""
        with IMAPClient("127.0.0.1", self.port, ssl=False) as client:
            client.login("receipts", IMAP_PASSWORD)
            client.select_folder("INBOX")
            yield client


@contextmanager
def run_dovecot() -> Iterator[ImapServer]:
    """Run a server on a free port with its mails in a temporary folder."""
    program = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin")
    if program is None:
        raise MissingServerError("Dovecot is not installed: use `make test` or apt-get")
    # Its sockets need a short path.
    server = ImapServer(free_port(), Path(tempfile.mkdtemp(prefix="dovecot-", dir="/tmp")))
    is_root = os.geteuid() == 0
    owner = pwd.getpwnam("postgres") if is_root else pwd.getpwuid(os.geteuid())
    settings = server.folder / "dovecot.conf"
    settings.write_text(_dovecot_settings(server, owner))
    _chown_to_owner(server.folder)
    try:
        with subprocess.Popen(
            [*_as_owner("TERM"), program, "-F", "-c", str(settings)], cwd=server.folder
        ) as process:
            try:
                _wait_for(server.is_ready, process, "Dovecot")
                yield server
            finally:
                # It ends the processes that it started.
                process.terminate()
                process.wait(STOP_TIMEOUT_S)
    finally:
        shutil.rmtree(server.folder, ignore_errors=True)


def _dovecot_settings(server: ImapServer, owner: pwd.struct_passwd) -> str:
    group = grp.getgrgid(owner.pw_gid).gr_name
    return f"""
protocols = imap
listen = 127.0.0.1
base_dir = {server.folder}/run
state_dir = {server.folder}/state
log_path = {server.folder}/log
ssl = no
disable_plaintext_auth = no
default_internal_user = {owner.pw_name}
default_internal_group = {group}
default_login_user = {owner.pw_name}
first_valid_uid = 1
mail_location = maildir:{server.folder}/mail
passdb {{
  driver = static
  args = password={IMAP_PASSWORD}
}}
userdb {{
  driver = static
  args = uid={owner.pw_uid} gid={owner.pw_gid} home={server.folder}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {server.port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
"""


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running S3 server that accepts every key."""

    port: int

    def is_ready(self) -> bool:
        """Return whether it answers."""
        try:
            return self._ask("GET", "/") == HTTPStatus.OK
        except OSError:
            return False

    def make_bucket(self, name: str) -> None:
        """Make a bucket."""
        assert self._ask("PUT", f"/{name}") == HTTPStatus.OK

    def _ask(self, method: str, path: str) -> int:
        line = HTTPConnection("127.0.0.1", self.port, timeout=STOP_TIMEOUT_S)
        try:
            line.request(method, path)
            return line.getresponse().status
        finally:
            line.close()


@contextmanager
def run_s3() -> Iterator[S3Server]:
    """Run a server on a free port that keeps what it is given in memory."""
    server = S3Server(free_port())
    program = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(server.port)]
    command = ["setpriv", "--pdeathsig", "KILL", *program]
    with subprocess.Popen(
        command,
        cwd=tempfile.gettempdir(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _wait_for(server.is_ready, process, "S3")
            yield server
        finally:
            process.kill()


def _wait_for(is_ready: Callable[[], bool], process: subprocess.Popen[bytes], what: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            message = f"{what} does not start"
            raise RuntimeError(message)
        time.sleep(0.02)


@contextmanager
def run_postgres() -> Iterator[Postgres]:
    """Run a server on a free port with its data in a temporary folder."""
    programs = _find_postgres()
    folder = Path(tempfile.mkdtemp(prefix="recibo-postgres-"))
    server = Postgres(free_port(), folder, programs)
    try:
        with _started(server):
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _find_postgres() -> Path:
    """Return the folder of the newest installed server's programs."""
    on_path = [Path(found).parent] if (found := shutil.which("initdb")) else []
    installed = [
        *sorted(DEBIAN_FOLDERS.glob("*/bin"), key=lambda folder: -float(folder.parent.name)),
        *on_path,
    ]
    for folder in installed:
        if (folder / "initdb").exists():
            return folder
    raise MissingServerError("PostgreSQL is not installed: use `make test` or apt-get")


@contextmanager
def _started(server: Postgres) -> Iterator[None]:
    data, log = server.folder / "data", server.folder / "log"
    _chown_to_owner(server.folder)
    _make_cluster(server.programs / "initdb", data)
    options = [part for option in POSTGRES_OPTIONS for part in ("-c", option)]
    place = ["-D", str(data), "-k", str(server.folder), "-p", str(server.port)]
    command = [*_as_owner(), str(server.programs / "postgres"), *place, *options]
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=server.folder, stdout=output, stderr=output) as process,
    ):
        try:
            _wait_until_ready(server, process, log)
            yield
        finally:
            _stop(process)


def _make_cluster(initdb: Path, data: Path) -> None:
    options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run(
        [*_as_owner(), str(initdb), "-D", str(data), *options],
        check=True,
        cwd=data.parent,
        stdout=subprocess.DEVNULL,
    )


def _as_owner(signal_: str = "QUIT") -> list[str]:
    """Return the words before a command that may not run as root.

    The kernel stops the command by the signal when the tests die, even if they are killed.
    """
    watched = ["setpriv", "--pdeathsig", signal_]
    if os.geteuid() != 0:
        return watched
    return [*watched, "--reuid=postgres", "--regid=postgres", "--init-groups"]


def _chown_to_owner(folder: Path) -> None:
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.pw_uid, owner.pw_gid)


def _wait_until_ready(server: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not server.is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL does not start:\n{log.read_text()}")
        time.sleep(0.02)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask for a fast shutdown; kill after a while."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
