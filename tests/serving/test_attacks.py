"""A server under attack serves others meanwhile, and its memory stays small."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.serving.running import Server, serving

MB = 1024 * 1024
MOST_MEMORY = 300 * MB
PATIENCE_S = 60


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that reads nothing."""
    with serving(tmp_path, "--no-worker") as running:
        yield running


def connected(server: Server) -> socket.socket:
    """Return a connection."""
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port or 80), timeout=PATIENCE_S)


def is_well(server: Server) -> bool:
    """Return whether other clients are served."""
    health = httpx.get(f"{server.url}/healthz", timeout=PATIENCE_S)
    documented = httpx.get(f"{server.url}/openapi.json", timeout=PATIENCE_S)
    return (200, 200) == (health.status_code, documented.status_code)


def most_memory(server: Server) -> int:
    """Return the bytes that a server held at its fullest."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_endless_header_delays_no_other_request(server: Server) -> None:
    with connected(server) as attacker:
        attacker.sendall(b"GET / HTTP/1.1\r\nA: ")
        with contextlib.suppress(OSError):
            for _ in range(256):
                attacker.sendall(b"x" * MB)

        assert is_well(server)
    assert most_memory(server) < MOST_MEMORY


def test_a_thousand_idle_connections_delay_no_request(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connected(server)) for _ in range(1_000)]
        for one in idle:
            one.sendall(b"GET / HTTP/1.1\r\nA: ")

        assert is_well(server)
        idle += [stack.enter_context(connected(server)) for _ in range(500)]
        assert is_well(server)
    assert most_memory(server) < MOST_MEMORY
