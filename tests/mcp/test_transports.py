"""`recibo mcp` as a client starts it: over stdio and over HTTP."""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.test_command import ROOT, run

PICTURES = ROOT / "docs" / "pictures"
RECIBO = [sys.executable, "-m", "recibo"]
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def test_real_receipt_is_read_and_shown_over_stdio(tmp_path: Path) -> None:
    arguments = ["-m", "recibo", "mcp", str(PICTURES), "--store", str(tmp_path)]
    started = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)
    async with Client(stdio_client(started)) as client:
        read = await client.call_tool("extract_receipt", {"path": "receipt.png"})
        found = read.structured_content
        assert isinstance(found, dict)
        (page,) = (await client.read_resource(f"receipt://{found['id']}/pages/1")).contents

    assert found["total"]
    assert base64.b64decode(getattr(page, "blob", ""))[8:12] == b"WEBP"


def test_first_answers_need_no_models(tmp_path: Path) -> None:
    arguments = ["mcp", "--store", str(tmp_path)]
    with subprocess.Popen(
        [*RECIBO, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as command:
        assert command.stdin
        assert command.stdout
        for message in (HELLO, {"jsonrpc": "2.0", "id": 2, "method": "ping"}):
            command.stdin.write(json.dumps(message).encode() + b"\n")
        command.stdin.flush()
        answers = [json.loads(command.stdout.readline()) for _ in range(2)]
        loaded = Path(f"/proc/{command.pid}/maps").read_text()
        command.stdin.close()
        status = command.wait(60)

    assert "recibo" == answers[0]["result"]["serverInfo"]["name"]
    assert not any(name in loaded for name in ("onnxruntime", "openvino", "cv2"))
    assert 0 == status


async def test_server_answers_over_http(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        async with Client(f"{url}/mcp") as client:
            tools = (await client.list_tools()).tools

    assert "extract_receipt" in {tool.name for tool in tools}


def test_server_answers_on_each_loopback_address(tmp_path: Path) -> None:
    with serving(tmp_path, "127.0.0.2") as url:
        # Tests connect to 127.0.0.1 only.
        sent = ["--json", json.dumps(HELLO), "-H", "Accept: application/json, text/event-stream"]
        command = ["curl", "-sS", "--fail-with-body", *sent, f"{url}/mcp"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert "serverInfo" in done.stdout


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}]
)
def test_pages_of_other_sites_are_refused_over_http(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    accepts = {"Accept": "application/json, text/event-stream"}
    with serving(tmp_path) as url:
        good = httpx.post(f"{url}/mcp", json=HELLO, headers=accepts)
        bad = httpx.post(f"{url}/mcp", json=HELLO, headers=accepts | headers)

    assert HTTPStatus.OK == good.status_code
    assert bad.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST}


def test_other_machines_are_not_served() -> None:
    assert 2 == run(RECIBO, "mcp", "--http", "--host", "192.0.2.1").returncode


def test_folder_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    done = run(RECIBO, "mcp", tmp_path / "none")

    assert (1, b"") == (done.returncode, done.stdout)
    assert b"No such file" in done.stderr


@contextmanager
def serving(store: Path, host: str = "127.0.0.1") -> Iterator[str]:
    arguments = ["mcp", "--http", "--host", host, "--port", "0", "--store", str(store)]
    with subprocess.Popen(
        [*RECIBO, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stderr
        try:
            yield command.stderr.readline().split()[-1].removesuffix("/mcp")
        finally:
            command.terminate()
            command.stderr.read()
