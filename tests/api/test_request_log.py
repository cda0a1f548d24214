"""What happens around every request."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from starlette.types import Message

from tests.installation import Installation

GENERATED_ID = re.compile(r"req_[0-9a-f]{32}")


async def test_every_answer_carries_a_request_id(door: Installation) -> None:
    answers = [
        await door.get("/receipts"),
        await door.get("/receipts/unknown"),
        await door.stranger.get("/nowhere"),
        await door.stranger.get("/healthz"),
        await door.stranger.put("/v1/extract"),
    ]
    result = [answer.headers["X-Request-ID"] for answer in answers]

    assert all(GENERATED_ID.fullmatch(one) for one in result)
    assert len(result) == len(set(result))
    assert result[1] == answers[1].json()["error"]["request_id"]


async def test_endless_address_is_refused(door: Installation) -> None:
    # The client refuses to send one that is longer.
    path = "/" + 65_000 * "x"
    kept = await door.stranger.get(path)
    refused = await door.stranger.get(path, headers={"User-Agent": 600 * "x"})

    assert (404, 431) == (kept.status_code, refused.status_code)


async def test_endless_header_is_refused(door: Installation) -> None:
    kept = await door.stranger.get("/nowhere", headers={"User-Agent": 60_000 * "x"})
    refused = await door.stranger.get("/nowhere", headers={"User-Agent": 70_000 * "x"})

    assert (404, 431) == (kept.status_code, refused.status_code)
    assert "headers_too_large" == refused.json()["error"]["code"]


@pytest.mark.parametrize("given", ["a", "A-1.b_c:d", "x" * 128])
async def test_well_formed_request_id_of_a_client_is_kept(door: Installation, given: str) -> None:
    answer = await door.stranger.get("/nowhere", headers={"X-Request-ID": given})

    assert given == answer.headers["X-Request-ID"]
    assert given == answer.json()["error"]["request_id"]


@pytest.mark.parametrize("given", ["", " ", "x" * 129, "a b", 'a"', "é", "a\tb", "<a>"])
async def test_any_other_request_id_is_replaced(door: Installation, given: str) -> None:
    headers = [(b"x-request-id", given.encode())]

    answer = await door.stranger.get("/nowhere", headers=headers)

    assert GENERATED_ID.fullmatch(answer.headers["X-Request-ID"])


async def test_every_request_is_logged_once_with_its_id(door: Installation) -> None:
    await door.stranger.get("/healthz", headers={"X-Request-ID": "given"})

    lines = [line for line in door.logs if line["event"] == "request"]
    assert 1 == len(lines)
    assert ("GET", "/healthz", 200) == tuple(lines[0][key] for key in ("method", "path", "status"))


class Wire:
    """The server's end of one request: its messages one by one, and what was answered."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = iter(messages)
        self.sent: list[Message] = []
        self.is_starved = asyncio.Event()
        #: What had been answered when each message of the body was asked for.
        self.answered_before: list[bytes] = []

    @property
    def body(self) -> bytes:
        """What was answered so far."""
        return b"".join(message.get("body", b"") for message in self.sent)

    async def receive(self) -> Message:
        """Give the next message; once all are given, never come back."""
        self.answered_before.append(self.body)
        for message in self._messages:
            return message
        self.is_starved.set()
        return await asyncio.Future()

    async def send(self, message: Message) -> None:
        """Note what is answered."""
        self.sent.append(message)


def scope(headers: Iterator[tuple[bytes, bytes]] | Sequence[tuple[bytes, bytes]]) -> dict[str, Any]:
    """Return the ASGI scope of an upload."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/extract",
        "raw_path": b"/v1/extract",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"recibo.example"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


UPLOAD = [(b"content-length", b"1000"), (b"content-type", b"multipart/form-data; boundary=b")]


def piece(size: int, *, is_last: bool = False) -> Message:
    """Return a part of a body."""
    return {"type": "http.request", "body": bytes(size), "more_body": not is_last}


async def test_refusal_is_sent_before_the_body_which_is_still_drained(
    door: Installation,
) -> None:
    """Clients that send before they listen would lose the answer with the connection."""
    wire = Wire([piece(500), piece(500, is_last=True)])

    await door.asgi(scope(UPLOAD), wire.receive, wire.send)

    assert 401 == wire.sent[0]["status"]
    assert "unauthorized" == json.loads(wire.body)["error"]["code"]
    assert [wire.body, wire.body] == wire.answered_before
    assert not wire.sent[-1].get("more_body", False)


async def test_client_that_sends_no_body_gets_its_refusal_all_the_same(door: Installation) -> None:
    wire = Wire([])
    request = asyncio.create_task(door.asgi(scope(UPLOAD), wire.receive, wire.send))
    await wire.is_starved.wait()
    request.cancel()

    assert 401 == wire.sent[0]["status"]
    assert "unauthorized" == json.loads(wire.body)["error"]["code"]


async def test_client_that_goes_away_while_it_is_refused_ends_the_request(
    door: Installation,
) -> None:
    wire = Wire([piece(500), {"type": "http.disconnect"}])

    await door.asgi(scope(UPLOAD), wire.receive, wire.send)

    assert 401 == wire.sent[0]["status"]


async def test_endless_body_of_a_refused_client_is_not_taken_for_ever(door: Installation) -> None:
    megabytes = 1000
    wire = Wire([piece(1024 * 1024)] * megabytes)

    await door.asgi(scope(UPLOAD), wire.receive, wire.send)

    assert len(wire.answered_before) < megabytes


async def test_client_that_goes_away_in_its_upload_leaves_nothing(door: Installation) -> None:
    headers = [*UPLOAD, (b"x-api-key", door.secret.encode())]
    wire = Wire([piece(500), {"type": "http.disconnect"}])

    await door.asgi(scope(headers), wire.receive, wire.send)

    assert [] == door.reader.seen
    assert [] == list((door.data_dir / "spool").iterdir())


async def test_unexpected_error_is_a_500_in_the_standard_format(
    door: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "SELECT secret FROM /etc/passwd"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("recibo.services.reading.receipt_lists.page", fail)

    answer = await door.get("/receipts")

    error = answer.json()["error"]
    assert (500, "server_error") == (answer.status_code, error["code"])
    assert {"code", "message", "request_id"} == set(error)
    assert answer.headers["X-Request-ID"] == error["request_id"]
    assert "passwd" not in answer.text
    assert any(line["event"] == "request failed" for line in door.logs)
