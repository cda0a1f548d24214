"""How a server starts, refuses to start and stops."""

import socket
import sys
from pathlib import Path

import pytest

from tests import servers
from tests.cli import commands
from tests.serving.running import serving

RECIBO = [sys.executable, "-m", "recibo"]


def refused(data_dir: Path, *arguments: str, **settings: str) -> str:
    """Run a command that must fail, and return its one line of reason."""
    done = commands.run(data_dir, *arguments, **settings)
    assert (1, "") == (done.status, done.stdout)
    assert 1 == len(done.stderr.splitlines()), done.stderr
    return done.stderr


def test_server_stops_cleanly(tmp_path: Path) -> None:
    with serving(tmp_path, program=RECIBO) as server:
        server.process.terminate()

        assert 0 == server.process.wait()


def test_folder_serves_one_process_only(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker"):
        assert "RECIBO_DATA_DIR" in refused(tmp_path, "serve", "--port", "0")


def test_taken_port_is_reported_before_a_key_is_created(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        assert "--port" in refused(tmp_path, "serve", "--port", port)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["mysql://x/y", "garbage", "postgresql://a:b@127.0.0.1:1/x"])
def test_unusable_database_is_reported(tmp_path: Path, url: str) -> None:
    assert refused(tmp_path, "migrate", DATABASE_URL=url).startswith("recibo: ")


def test_database_of_another_version_is_reported(
    tmp_path: Path, postgres: servers.Postgres
) -> None:
    empty = postgres.url("postgres")

    assert "recibo migrate" in refused(tmp_path, "serve", "--port", "0", DATABASE_URL=empty)


@pytest.mark.parametrize("arguments", [["missing"], ["demo", "--scope", "everything"]])
@pytest.mark.usefixtures("sqlite_url")
def test_failure_to_create_a_key_is_reported(tmp_path: Path, arguments: list[str]) -> None:
    assert arguments[-1] in refused(tmp_path, "admin", "create-key", *arguments)
