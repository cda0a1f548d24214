"""A real Caddy with the project's own Caddyfile, on free ports and with its own certificates."""

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from tests import environments
from tests.deploy.composed import FOLDER

# It starts within a second; a loaded machine may need many.
PATIENCE_S = 60.0


class MissingCaddyError(RuntimeError):
    """Caddy is not installed."""


def adapted(environment: dict[str, str], *, text: str = "") -> dict[str, Any]:
    """Return a Caddyfile as Caddy understands it; the one of deploy/ without a text."""
    text = text or (FOLDER / "Caddyfile").read_text(encoding="utf-8")
    command = [_program(), "adapt", "--adapter", "caddyfile", "--config", "/dev/stdin"]
    with environments.with_variables(environment):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return cast("dict[str, Any]", json.loads(done.stdout))


@contextlib.contextmanager
def serving(folder: Path, *, base_url: str, upstream: str) -> Iterator[ssl.SSLContext]:
    """Run Caddy before a server; return what trusts its certificates."""
    config = adapted({"RECIBO_BASE_URL": base_url, "UPSTREAM": upstream})
    # A test must not use port 80, change the trusted certificates or listen for commands.
    config["admin"] = {"disabled": True}
    config["apps"]["http"]["servers"]["srv0"]["automatic_https"] = {"disable_redirects": True}
    authority = {"install_trust": False}
    config["apps"]["pki"] = {"certificate_authorities": {"local": authority}}
    path = folder / "caddy.json"
    path.write_text(json.dumps(config))
    environment = {"XDG_DATA_HOME": str(folder), "HOME": str(folder)}
    command = [_program(), "run", "--config", str(path)]
    with (folder / "caddy.log").open("w") as log:
        with environments.with_variables(environment):
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield _trusting(folder, process, urlsplit(base_url).port or 443)
        finally:
            process.kill()
            process.wait()


def _trusting(folder: Path, process: subprocess.Popen[bytes], port: int) -> ssl.SSLContext:
    """Wait until Caddy shows its certificate; its files exist a moment before it uses them."""
    root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    deadline = time.monotonic() + PATIENCE_S
    while not (root.exists() and _shows_certificate(root, port)):
        log = (folder / "caddy.log").read_text()
        assert process.poll() is None, log
        assert time.monotonic() < deadline, log
        time.sleep(0.05)
    return ssl.create_default_context(cafile=str(root))


def _shows_certificate(root: Path, port: int) -> bool:
    try:
        context = ssl.create_default_context(cafile=str(root))
        with (
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost"),
        ):
            return True
    except OSError:
        return False


def _program() -> str:
    program = shutil.which("caddy")
    if program is None:
        message = "Caddy is not installed: `make test` or apt-get installs it"
        raise MissingCaddyError(message)
    return program
