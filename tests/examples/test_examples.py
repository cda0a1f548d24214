"""Each program of examples/, run against a running server."""

import csv
import datetime as dt
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import standardwebhooks

from recibo_client import Recibo
from tests.serving.running import QUICK, Server, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ISSUED = "abc"
SIGNING = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), program=QUICK) as running:
        yield running


def run(server: Server, *command: str | Path, **settings: str) -> str:
    environment = {
        "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
        "RECIBO_URL": server.url,
        "RECIBO_API_KEY": server.secret,
        **settings,
    }
    # It adds to the environment of the tests.
    prefix = ["/usr/bin/env", *(f"{name}={value}" for name, value in environment.items())]
    return subprocess.run([*prefix, *command], check=True, capture_output=True, text=True).stdout


def document(folder: Path, text: str) -> Path:
    path = folder / "scan.jpg"
    path.write_text(text)
    return path


def test_expenses_of_a_month_are_written(server: Server, tmp_path: Path) -> None:
    with Recibo(server.secret, base_url=server.url) as recibo:
        for day, total in ((14, "9.00"), (31, "5.00")):
            made = recibo.receipts.extract(document(tmp_path, f"Expense {day}"))
            paid = dt.datetime(2026, 3, day, tzinfo=dt.UTC)
            recibo.receipts.correct(made.id, issued_at=paid, total=total, approved=True)
        recibo.receipts.extract(document(tmp_path, "Not looked at"))
        doubtful = recibo.receipts.extract(document(tmp_path, "Doubtful"))
        date = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
        recibo.receipts.correct(doubtful.id, issued_at=date, approved=False)
    example = EXAMPLES / "expenses_csv.py"
    printed = run(server, sys.executable, example, "2026-03", tmp_path / "out.csv")

    assert "1 of them need review: see the column review.\n" == printed
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8-sig") as file:
        read = {row["id"]: row["review"] for row in csv.DictReader(file)}
    assert sorted(read.values()) == ["approved", "approved", "needs_review"]
    assert read[doubtful.id] == "needs_review"


def test_paperless_gets_a_note(server: Server, tmp_path: Path) -> None:
    got: list[tuple[str, str | None, Any]] = []

    class Paperless(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Authorization"], json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Paperless) as paperless:
        thread = threading.Thread(target=paperless.handle_request)
        thread.start()
        run(
            server,
            sys.executable,
            EXAMPLES / "paperless_post_consume.py",
            DOCUMENT_ID="7",
            DOCUMENT_SOURCE_PATH=str(document(tmp_path, "Padaria")),
            PAPERLESS_API_URL=f"http://127.0.0.1:{paperless.server_port}/",
            PAPERLESS_API_TOKEN=ISSUED,
        )
        thread.join()

    ((path, token, body),) = got
    assert ("/api/documents/7/notes/", f"Token {ISSUED}") == (path, token)
    assert body["note"].startswith("Padaria")


def test_paperless_keeps_a_document_that_is_no_receipt(server: Server, tmp_path: Path) -> None:
    printed = run(
        server,
        sys.executable,
        EXAMPLES / "paperless_post_consume.py",
        DOCUMENT_ID="8",
        DOCUMENT_SOURCE_PATH=str(document(tmp_path, "")),
    )

    assert "cannot read document 8" in printed


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a receipt, as it is sent."""

    receipt_id: str
    body: str
    headers: dict[str, str]


def signed_event(server: Server, path: Path) -> Event:
    """Read a document and return its event, with a signature."""
    with Recibo(server.secret, base_url=server.url) as recibo:
        made = recibo.receipts.extract(path)
    receipt = json.loads(made.model_dump_json())
    now = made.created_at
    body = json.dumps(
        {
            "id": "evt_1", "type": "receipt.completed", "org_id": made.org_id,
            "created_at": receipt["created_at"], "data": {"receipt": receipt},
        }
    )  # fmt: skip
    headers = {
        "content-type": "application/json",
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": standardwebhooks.Webhook(SIGNING).sign("evt_1", now, body),
    }
    return Event(made.id, body, headers)


async def test_webhook_is_verified(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECIBO_WEBHOOK_SECRET", SIGNING)
    spec = importlib.util.spec_from_file_location("example", EXAMPLES / "webhook_fastapi.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    event = signed_event(server, document(tmp_path, "Webhook"))

    transport = httpx.ASGITransport(example.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as sender:
        good = await sender.post("/recibo", content=event.body, headers=event.headers)
        bad = await sender.post("/recibo", content=f"{event.body} ", headers=event.headers)

    assert (204, 401) == (good.status_code, bad.status_code)
    assert [event.receipt_id] == list(example.totals)


def test_webhook_is_verified_by_express(server: Server, tmp_path: Path) -> None:
    event = signed_event(server, document(tmp_path, "Express"))
    command = ["/usr/bin/env", f"RECIBO_WEBHOOK_SECRET={SIGNING}", "PORT=0", "node", "server.js"]
    with subprocess.Popen(
        command, cwd=EXAMPLES / "webhook_express", stdout=subprocess.PIPE, text=True
    ) as receiver:
        assert receiver.stdout is not None
        try:
            url = receiver.stdout.readline().split()[-1]
            good = httpx.post(url, content=event.body, headers=event.headers)
            bad = httpx.post(url, content=f"{event.body} ", headers=event.headers)
            totals = httpx.get(url.replace("/recibo", "/totals")).json()
        finally:
            receiver.terminate()

    assert (204, 401) == (good.status_code, bad.status_code)
    assert [event.receipt_id] == list(totals)


def test_http_recipe_prints_the_receipt(server: Server, tmp_path: Path) -> None:
    path = document(tmp_path, "Curl Cafe").rename(tmp_path / "4,80; coffee.jpg")
    printed = run(server, EXAMPLES / "http_recipe.sh", path)

    assert "Curl Cafe" == json.loads(printed)["merchant_name"]


def test_request_of_the_n8n_workflow_reads_a_file(server: Server) -> None:
    workflow = json.loads((EXAMPLES / "n8n_workflow.json").read_text())
    (request,) = [
        node["parameters"] for node in workflow["nodes"] if node["type"].endswith("httpRequest")
    ]
    # n8n adds the header of the credential.
    assert "httpHeaderAuth" == request["genericAuthType"]
    fields = request["bodyParameters"]["parameters"]
    answer = httpx.request(
        request["method"],
        request["url"].replace("http://127.0.0.1:8000", server.url),
        headers={"X-API-Key": server.secret},
        files={one["name"]: b"Flow" for one in fields if "inputDataFieldName" in one},
        data={one["name"]: one["value"] for one in fields if "value" in one},
        timeout=60,
    )

    assert "Flow" == answer.json()["merchant_name"]


def test_every_example_is_listed() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    files = {one.name for one in EXAMPLES.iterdir() if one.is_file()} - {"README.md"}

    assert set() == {name for name in files if f"`{name}`" not in readme}
