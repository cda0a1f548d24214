"""`recibo upload` and `recibo watch --server` against a running server."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.adapters import process_exits
from tests.cli.test_command import ROOT
from tests.serving.running import QUICK, Server, serving

RECIBO = [sys.executable, "-m", "recibo"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), program=QUICK) as running:
        yield running


def started(key: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["/usr/bin/env", f"RECIBO_API_KEY={key}", *RECIBO, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_receipts_are_printed_in_the_order_of_the_files(server: Server, tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "c\n.jpg"):
        (tmp_path / name).write_text(f"Upload {name[0]}")
    arguments = ("upload", tmp_path, tmp_path / "none.jpg", "--server", server.url)
    with started(server.secret, *arguments) as command:
        out, _ = command.communicate(timeout=process_exits.PATIENCE_S)

    *lines, missing = [json.loads(line) for line in out.splitlines()]
    assert ["Upload a", "Upload b", "Upload c"] == [line["merchant_name"] for line in lines]
    assert "c\\n.jpg" == lines[2]["metadata"]["filename"]
    assert "validation_error" == missing["error"]["code"]
    assert 1 == command.returncode


@pytest.mark.parametrize(("key", "problem"), [("sk_live_wrong", "key"), ("", "RECIBO_API_KEY")])
def test_wrong_key_is_reported_once(server: Server, tmp_path: Path, key: str, problem: str) -> None:
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_text(name)
    with started(key, "upload", tmp_path, "--server", server.url) as command:
        out, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert (1, "", 1) == (command.returncode, out, len(err.splitlines()))
    assert problem in err


class OtherSite(BaseHTTPRequestHandler):
    """A server that is not Recibo."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def other_site() -> Iterator[str]:
    """Return its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


def test_another_site_is_reported_once(other_site: str, tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_text(name)
    with started("sk_live_any", "upload", tmp_path, "--server", other_site) as command:
        out, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert (1, "", 1) == (command.returncode, out, len(err.splitlines()))
    assert "404" in err


def test_file_that_another_site_refused_is_still_to_be_sent(
    other_site: str, tmp_path: Path
) -> None:
    (tmp_path / "a.jpg").write_text("Watched")
    arguments = ("watch", tmp_path, "--settle", "0", "--server", other_site)
    with started("sk_live_any", *arguments) as command:
        assert command.stderr
        problem = command.stderr.readline()
        command.send_signal(signal.SIGINT)
        command.communicate(timeout=process_exits.PATIENCE_S)

    assert problem.endswith("tried again\n")
    assert "a.jpg" not in (tmp_path / ".recibo-watch.jsonl").read_text()


def test_folder_of_results_and_server_do_not_go_together(tmp_path: Path) -> None:
    arguments = ("watch", tmp_path, "--output", tmp_path / "out", "--server", "http://127.0.0.1:1")
    with started("sk_live_any", *arguments) as command:
        _, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert 2 == command.returncode
    assert "--output" in err


def test_watched_folder_is_uploaded(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("Watched")
    arguments = ("watch", tmp_path, "--settle", "0", "--server", server.url)
    with started(server.secret, *arguments) as command:
        assert command.stdout
        assert command.stdout.readline().startswith("a.jpg: rcp_")
        command.send_signal(signal.SIGINT)
        command.communicate(timeout=process_exits.PATIENCE_S)

    assert 0 == command.returncode
    assert {"a.jpg", ".recibo-watch.jsonl"} == {one.name for one in tmp_path.iterdir()}
