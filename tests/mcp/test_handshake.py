"""The first answer on stdin and stdout, and that the SDK would give the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.mcp import handshake
from tests.cli.test_command import ROOT
from tests.mcp.test_transports import HELLO, RECIBO, serving

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
# What the process imports before it answers.
IMPORTED = (
    "import sys; from recibo.cli import mcp; from recibo.mcp import handshake; print(*sys.modules)"
)
WITH_PARAMS: list[dict[str, Any]] = [
    *({"protocolVersion": f"{day}"} for day in ("2024-11-05", "2025-03-26", "2025-11-25")),
    {"protocolVersion": "2026-07-28"},
    {"protocolVersion": "1.0"},
    {"protocolVersion": 1},
    {"capabilities": {"roots": {"listChanged": True}, "sampling": {}, "tasks": {}, "more": 1}},
    {"capabilities": {"elicitation": {"form": {}}, "experimental": {"a": {}}, "extensions": {}}},
    {"capabilities": None},
    {"capabilities": {"roots": 1}},
    {"clientInfo": {"name": "a", "version": "1", "title": "A", "websiteUrl": "https://a.example"}},
    {"clientInfo": {"name": "a"}},
    {"clientInfo": {"name": "a", "version": "1", "icons": [{"src": "https://a.example/a.png"}]}},
    {"_meta": {"progressToken": 3}},
    {"more": [1]},
]
REQUESTS: list[dict[str, Any]] = [
    HELLO,
    *({**HELLO, "params": {**HELLO["params"], **changed}} for changed in WITH_PARAMS),
    *({**HELLO, "id": name} for name in ("a", "", 0, -1, 2**60)),
    {**HELLO, "params": {}},
    {**HELLO, "params": None},
    {name: value for name, value in HELLO.items() if name != "params"},
]


def test_answer_is_the_one_of_the_sdk(tmp_path: Path) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    with serving(tmp_path) as url, httpx.Client(base_url=url, headers=headers) as client:
        theirs = [result_in(client.post("/mcp", json=request)) for request in REQUESTS]
    ours = [handshake.answer_to(json.dumps(request).encode()) for request in REQUESTS]

    assert any(answer is None for answer in theirs)
    assert theirs == [answer and json.loads(answer) for answer in ours]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{}",
        b"[]",
        b"\xff",
        json.dumps([HELLO]).encode(),
        json.dumps(PING).encode(),
        json.dumps({**HELLO, "id": None}).encode(),
        json.dumps({**HELLO, "id": 1.5}).encode(),
        json.dumps({**HELLO, "jsonrpc": "1.0"}).encode(),
    ],
)
def test_other_messages_are_left_to_the_sdk(line: bytes) -> None:
    assert handshake.answer_to(line) is None


def test_messages_behind_the_first_are_answered_by_the_sdk(tmp_path: Path) -> None:
    listing = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = session(tmp_path, HELLO, ready, PING, listing)

    assert [1, 2, 3] == sorted(answer["id"] for answer in answers)
    assert 1 == answers[0]["id"]
    assert all("result" in answer for answer in answers)


def test_session_that_starts_with_another_message_is_served(tmp_path: Path) -> None:
    assert [2, 1] == [answer["id"] for answer in session(tmp_path, PING, HELLO)]


def test_first_answer_comes_before_the_sdk_is_imported(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise SystemExit(70)")
    with start(
        tmp_path, env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    ) as command:
        output, _ = command.communicate(as_lines(HELLO), 60)

    assert [1] == [json.loads(line)["id"] for line in output.splitlines()]
    assert 70 == command.returncode


@pytest.mark.parametrize("closed", ["", "2>&-"])
def test_what_is_printed_by_mistake_is_no_message(tmp_path: Path, closed: str) -> None:
    answered = "from recibo.mcp import handshake; handshake.answer_first(); print('by mistake')"
    program = f"{answered}; import sys; sys.stdout.buffer.write(b'left out\\nanswer\\n')"
    program += "; sys.stdout.buffer.flush(); sys.stdout.flush()"
    said = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, program],
        input=as_lines(HELLO),
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )

    first, *others = said.stdout.splitlines()
    assert 1 == json.loads(first)["id"]
    assert [b"answer"] == others
    assert (b"" if closed else b"by mistake\n") == said.stderr


def test_first_answer_needs_few_imports() -> None:
    said = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True
    )
    heavy = {"mcp", "httpx", "httpx2", "starlette", "uvicorn", "cryptography", "jsonschema"}
    heavy |= {"opentelemetry", "numpy", "sqlalchemy", "rich", "pydantic_settings", "recibo_client"}

    assert set() == heavy & set(said.stdout.split())


def test_client_of_a_server_is_imported_after_the_first_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECIBO_API_KEY", raising=False)
    options = ["--server", "http://127.0.0.1:9"]
    with start(tmp_path, *options, stderr=subprocess.PIPE) as command:
        answered, said = command.communicate(as_lines(HELLO), 60)

    assert "recibo" == json.loads(answered)["result"]["serverInfo"]["name"]
    assert b"RECIBO_API_KEY" in said
    assert 1 == command.returncode


def session(store: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Send messages in one write, and return the answers in their order."""
    with start(store) as command:
        assert command.stdin
        assert command.stdout
        command.stdin.write(as_lines(*messages))
        command.stdin.flush()
        requests = sum("id" in message for message in messages)
        answers = [json.loads(command.stdout.readline()) for _ in range(requests)]
        rest, _ = command.communicate(timeout=60)
        assert (b"", 0) == (rest, command.returncode)
        return answers


def start(store: Path, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*RECIBO, "mcp", "--store", str(store), *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        **options,
    )


def as_lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def result_in(response: httpx.Response) -> dict[str, Any] | None:
    """Return the answer that has a result: plain, or the first of a stream of events."""
    lines = [line.removeprefix("data: ") for line in response.text.splitlines()]
    answers = [json.loads(line) for line in lines if line.startswith("{")]
    return next((answer for answer in answers if "result" in answer), None)
