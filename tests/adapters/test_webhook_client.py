"""Webhooks on their way to receivers that are honest, slow, broken or hostile."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from recibo.adapters import webhook_client
from recibo.adapters.fake_webhook_client import FakeWebhookClient, PostedWebhook
from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock
from tests import receivers, servers
from tests.fake_clock import FakeClock
from tests.posting import BODY, HEADERS, SHORT_TIMEOUT_S, FakeResolver, checked_client, post
from tests.receivers import Receiver, answer, receiving


@pytest.fixture
def receiver() -> Receiver:
    """The webhook receiver."""
    return Receiver()


@pytest.fixture
async def port(receiver: Receiver) -> AsyncIterator[int]:
    """The port of a server on this machine."""
    async with receiving(receiver) as chosen:
        yield chosen


async def test_receiver_gets_the_bytes_and_headers_as_given(receiver: Receiver, port: int) -> None:
    outcome = await post(
        checked_client(), f"http://127.0.0.1:{port}/hook/%C3%BC ?a=b&c#d".replace(" ", "")
    )

    (got,) = receiver.requests
    assert (200, None, b"ok") == (outcome.status, outcome.error, outcome.answer)
    assert "POST /hook/%C3%BC?a=b&c HTTP/1.1" == got.line
    assert BODY == got.body
    assert {**got.headers} == {
        "content-type": "application/json",
        "webhook-id": "evt_1",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "close",
        "host": f"127.0.0.1:{port}",
        "content-length": str(len(BODY)),
    }


async def test_receiver_hears_the_name_it_is_known_by(receiver: Receiver, port: int) -> None:
    names = FakeResolver(**{"hooks.test": [["127.0.0.1"]]})

    outcome = await post(checked_client(resolver=names), f"http://HOOKS.test.:{port}")

    assert 200 == outcome.status
    assert ["hooks.test"] == names.asked
    assert f"hooks.test:{port}" == receiver.requests[0].headers["host"]


@pytest.mark.parametrize("status", [200, 204, 299, 301, 400, 410, 500, 599])
async def test_every_status_is_returned(receiver: Receiver, port: int, status: int) -> None:
    receiver.answer = answer(status)

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert (status, None) == (outcome.status, outcome.error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_not_followed(receiver: Receiver, port: int, status: int) -> None:
    receiver.answer = answer(status, f"Location: http://127.0.0.1:{port}/other", "Set-Cookie: a=b")

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert (status, 1) == (outcome.status, receiver.connections)


async def test_nothing_is_kept_from_one_post_to_the_next(receiver: Receiver, port: int) -> None:
    kept_alive = answer(200, "Set-Cookie: a=b; Path=/", "Connection: keep-alive")
    receiver.answer = kept_alive
    sender = checked_client()

    for _ in range(2):
        assert 200 == (await post(sender, f"http://127.0.0.1:{port}/")).status

    assert 2 == receiver.connections
    assert ["cookie" in one.headers for one in receiver.requests] == [False, False]


async def test_proxies_of_the_environment_are_passed_by(
    receiver: Receiver, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert 200 == (await post(checked_client(), f"http://127.0.0.1:{port}/")).status
    assert 1 == receiver.connections


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Fri, 15 Jan 2027 08:02:00 GMT", 119.75),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("1" * 30, 111111111.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\u00b2", None),
        ("Fri, 99 Jan 2027 08:02:00 GMT", None),
        ("", None),
    ],
)
async def test_wish_to_be_left_alone_is_understood(
    receiver: Receiver,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    expected: float | None,
) -> None:
    FakeClock(monkeypatch)
    assert "2027-01-15T08:00:00.25+00:00" == clock.now().isoformat().replace("250000", "25")
    receiver.answer = answer(503, f"Retry-After: {said}".encode().decode("latin-1"))

    assert expected == (await post(checked_client(), f"http://127.0.0.1:{port}/")).retry_after_s


async def test_first_bytes_of_an_answer_are_kept(receiver: Receiver, port: int) -> None:
    receiver.answer = answer(500, body=bytes(range(256)) * 100)

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert (bytes(range(256)) * 4) == outcome.answer


async def test_packed_answer_stays_packed(receiver: Receiver, port: int) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    receiver.answer = answer(200, "Content-Encoding: gzip", body=bomb)

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert bomb[: webhook_client.KEPT_BYTES] == outcome.answer


ENDLESS = b"HTTP/1.1 200 OK\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("beginning", "gush"),
    [
        (ENDLESS, b"x" * 65536),
        (CHUNKED, b"1\r\nx\r\n" * 10_000),
        (CHUNKED, b"ff\r\n" + b"x" * 255 + b"\r\n"),
    ],
)
async def test_answer_without_end_is_left_early(
    receiver: Receiver, port: int, beginning: bytes, gush: bytes
) -> None:
    receiver.manner = receivers.pouring(beginning, gush)

    outcome = await post(checked_client(limit_s=60), f"http://127.0.0.1:{port}/")

    assert (200, None) == (outcome.status, outcome.error)
    assert 0 < len(outcome.answer) <= webhook_client.KEPT_BYTES
    assert outcome.duration_s < 30


@pytest.mark.parametrize(
    "beginning", [ENDLESS, CHUNKED, b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"]
)
async def test_slow_answer_counts_and_is_cut_at_the_time_limit(
    receiver: Receiver, port: int, beginning: bytes
) -> None:
    drop = b"1\r\nx\r\n" if beginning == CHUNKED else b"x"
    receiver.manner = receivers.dripping(beginning, drop)

    outcome = await post(checked_client(limit_s=SHORT_TIMEOUT_S), f"http://127.0.0.1:{port}/")

    assert (200, None) == (outcome.status, outcome.error)
    assert set(outcome.answer) == {ord("x")}
    assert outcome.duration_s < 20 * SHORT_TIMEOUT_S


async def test_answer_that_breaks_off_counts(receiver: Receiver, port: int) -> None:
    receiver.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert (200, b"half") == (outcome.status, outcome.answer)


@pytest.mark.parametrize(
    "manner",
    [
        receivers.hang,
        receivers.dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        receivers.dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        receivers.dripping(b"HTT", b""),
    ],
)
async def test_time_is_limited_whatever_is_said_meanwhile(
    receiver: Receiver, port: int, manner: receivers.Manner
) -> None:
    receiver.manner = manner

    outcome = await post(checked_client(limit_s=SHORT_TIMEOUT_S), f"http://127.0.0.1:{port}/")

    assert (None, "timed out after 1 s", b"") == (outcome.status, outcome.error, outcome.answer)
    assert SHORT_TIMEOUT_S <= outcome.duration_s < 20 * SHORT_TIMEOUT_S


async def test_time_is_limited_when_the_receiver_does_not_read() -> None:
    async def ignore(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(writer.transport, asyncio.ReadTransport)
        writer.transport.pause_reading()
        await receivers.hang(writer)

    async with receivers.serving(ignore) as port:
        url = f"http://127.0.0.1:{port}/"
        outcome = await checked_client(limit_s=SHORT_TIMEOUT_S).post(
            url, bytes(50_000_000), HEADERS
        )

    assert "timed out after 1 s" == outcome.error


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"", "the answer was not HTTP, or broke off"),
        (b"220 mail.example ESMTP\r\n", "the answer was not HTTP, or broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "the answer was not HTTP, or broke off"),
        (b"HTTP/1.1 abc OK\r\n\r\n", "the answer was not HTTP, or broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "the answer was not HTTP, or broke off"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000, "the answer was not HTTP, or broke off"),
        (b"\x15\x03\x01\x00\x02\x02\x0a", "the answer was not HTTP, or broke off"),
    ],
)
async def test_invalid_answer_is_reported(
    receiver: Receiver, port: int, said: bytes, error: str
) -> None:
    receiver.answer = said

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert (None, error) == (outcome.status, outcome.error)


async def test_broken_connection_is_reported(receiver: Receiver, port: int) -> None:
    async def cut(writer: asyncio.StreamWriter) -> None:
        assert isinstance(writer.transport, asyncio.WriteTransport)
        writer.transport.abort()

    receiver.manner = cut

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/")

    assert outcome.status is None
    assert outcome.error in {
        "the connection broke off",
        "the answer was not HTTP, or broke off",
    }


async def test_url_beyond_ascii_is_sent_percent_encoded(receiver: Receiver, port: int) -> None:
    names = FakeResolver(**{"xn--bcher-kva.test": [["127.0.0.1"]]})
    url = f"http://b\u00fccher.test:{port}/caf\u00e9/%C3%BC?name=Jos\u00e9&x=%zz&\N{GRINNING FACE}"

    outcome = await post(checked_client(resolver=names), url)

    (got,) = receiver.requests
    assert (200, None) == (outcome.status, outcome.error)
    line = "POST /caf%C3%A9/%C3%BC?name=Jos%C3%A9&x=%zz&%F0%9F%98%80 HTTP/1.1"
    assert line == got.line
    assert f"xn--bcher-kva.test:{port}" == dict(got.headers)["host"]


async def test_refused_connection_is_reported() -> None:
    outcome = await post(checked_client(), f"http://127.0.0.1:{servers.free_port()}/")

    assert (None, "connection refused") == (outcome.status, outcome.error)


async def test_header_that_would_begin_another_is_not_sent(receiver: Receiver, port: int) -> None:
    headers = {**HEADERS, "webhook-id": "evt_1\r\nX-Evil: 1"}

    outcome = await post(checked_client(), f"http://127.0.0.1:{port}/", headers)

    assert (None, "the request cannot be sent") == (outcome.status, outcome.error)
    assert [] == receiver.requests


async def test_next_address_is_tried_when_one_refuses(receiver: Receiver, port: int) -> None:
    known = {"hooks.test": [["::1", "127.0.0.1"]]}

    outcome = await post(checked_client(known=known), f"http://hooks.test:{port}/")

    assert (200, 1) == (outcome.status, receiver.connections)


async def test_next_address_is_not_tried_once_something_was_said(
    receiver: Receiver, port: int
) -> None:
    receiver.answer = b""
    known = {"hooks.test": [["127.0.0.1", "127.0.0.1"]]}

    outcome = await post(checked_client(known=known), f"http://hooks.test:{port}/")

    assert (None, 1) == (outcome.status, receiver.connections)


async def test_at_most_four_addresses_of_a_name_are_tried(receiver: Receiver, port: int) -> None:
    known = {"hooks.test": [["::1"] * 4 + ["127.0.0.1"]]}

    outcome = await post(checked_client(known=known), f"http://hooks.test:{port}/")

    assert (None, 0) == (outcome.status, receiver.connections)


async def test_hanging_receivers_delay_no_others(port: int) -> None:
    slow = Receiver(manner=receivers.hang)
    sender = checked_client(limit_s=60)
    async with receiving(slow) as slow_port:
        hanging = [
            asyncio.create_task(post(sender, f"http://127.0.0.1:{slow_port}/")) for _ in range(100)
        ]
        await slow.received(100)
        started = time.perf_counter()
        outcome = await post(sender, f"http://127.0.0.1:{port}/")
        took = time.perf_counter() - started
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    assert 200 == outcome.status
    assert took < 30


async def test_post_that_is_called_off_ends_at_once(receiver: Receiver, port: int) -> None:
    receiver.manner = receivers.hang
    task = asyncio.create_task(post(checked_client(limit_s=600), f"http://127.0.0.1:{port}/"))
    await receiver.received(1)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_fake_keeps_webhooks_and_returns_the_outcome_set() -> None:
    fake = FakeWebhookClient()
    refused = WebhookResponse(0.5, error="connection refused")
    fake.outcomes["http://b.test/"] = refused

    outcomes = [await post(fake, url) for url in ("http://a.test/", "http://b.test/")]
    fake.gate.clear()
    waiting = asyncio.create_task(post(fake, "http://a.test/"))
    posted = await fake.received(3)
    fake.outcome = replace(refused, status=500)
    fake.gate.set()

    assert [fake.outcomes["http://b.test/"], 500] == [outcomes[1], (await waiting).status]
    assert 200 == outcomes[0].status
    assert PostedWebhook("http://a.test/", BODY, HEADERS) == posted[0] == posted[2]
    assert 1 == fake.most_under_way
