"""HTTP within bounds, over real sockets: heads, bodies, answers, how many connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from starlette.types import Receive, Scope, Send

from recibo.api.request_log import RequestMiddleware
from recibo.web.connections import Bounds
from tests import sockets
from tests.sockets import Listening

KB = 1024
#: More than the buffers of both sockets hold, in blocks that are sent one after the other.
BLOCKS, BLOCK = 64, bytes(256 * KB)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Take the body, and answer its size; `/large` answers 16 MB."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    blocks = [BLOCK] * BLOCKS if scope["path"] == "/large" else [str(size).encode()]
    headers = [(b"content-length", str(sum(map(len, blocks))).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for block in blocks:
        await send({"type": "http.response.body", "body": block, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class Named:
    """The same, behind what every request has around it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await RequestMiddleware(app)(scope, receive, send)


@pytest.fixture
async def server() -> AsyncIterator[Listening]:
    """A server with the bounds that the service has."""
    async with sockets.listening(Named()) as started:
        yield started


def head(method: str = "GET", path: str = "/", **headers: str) -> bytes:
    """Return the head of a request."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines, "", ""]).encode()


GET = head()


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    """Return a chunk of a body."""
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)


async def is_well(server: Listening) -> bool:
    """Return whether other clients are served."""
    return (await server.ask(GET)).status == 200


async def test_head_of_64_kb_passes_and_a_larger_one_is_431(server: Listening) -> None:
    frame = len(head(A=""))
    largest = await server.ask(head(A="x" * (64 * KB - frame)))
    larger = await server.ask(head(A="x" * (64 * KB - frame + 9)))

    assert 200 == largest.status
    assert (431, "headers_too_large", "close") == (
        larger.status,
        larger.code,
        larger.headers["connection"],
    )
    assert larger.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize(
    ("start", "status"),
    [
        (b"", 400),
        (b"GET /", 431),
        (b"GET /?", 431),
        (b"GET / HTTP/1.1\r\n", 431),
        (b"GET / HTTP/1.1\r\nA: ", 431),
    ],
    ids=["method", "path", "query", "name", "value"],
)
async def test_endless_head_is_refused_while_it_arrives(
    server: Listening, start: bytes, status: int
) -> None:
    async with server.client() as client:
        await client.send(start + b"x" * 66 * KB)
        answer = await client.answer()
        # It goes on all the same, and is not heard.
        await client.send(b"x" * 66 * KB)

        assert await client.is_closed()
    assert status == answer.status
    assert await is_well(server)


async def test_many_tiny_headers_are_refused_while_they_arrive(server: Listening) -> None:
    async with server.client() as client:
        await client.send(b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 20_000)

        assert 431 == (await client.answer()).status
        assert await client.is_closed()


async def test_head_that_takes_over_ten_seconds_is_408(server: Listening) -> None:
    async with server.client() as client:
        await client.send(GET[:20])
        await server.has_received(20)
        server.pass_time(9)
        await client.send(GET[20:25])
        await server.has_received(25)
        server.pass_time(10.5)
        answer = await client.answer()

        assert (408, "request_timeout") == (answer.status, answer.code)
        assert await client.is_closed()


async def test_connection_that_sends_nothing_ends_after_ten_seconds(server: Listening) -> None:
    async with server.client() as client:
        await server.until(lambda: len(server.connections) == 1)
        server.pass_time(9)
        assert 1 == len(server.connections)
        server.pass_time(10.5)

        assert await client.is_closed()


async def test_second_head_has_ten_seconds_from_its_first_byte(server: Listening) -> None:
    async with server.client() as client:
        await client.send(GET)
        assert 200 == (await client.answer()).status
        server.pass_time(1000)
        await client.send(b"\r\n\r\n")
        await server.has_received(len(GET) + 4)
        server.pass_time(10.5)

        assert 408 == (await client.answer()).status
        assert await client.is_closed()


async def test_what_is_no_http_is_refused_in_the_shape_of_all_errors(server: Listening) -> None:
    answer = await server.ask(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")

    assert (400, "validation_error") == (answer.status, answer.code)
    assert "x-request-id" in answer.headers


async def test_body_slower_than_a_kilobyte_a_second_is_408(server: Listening) -> None:
    async with server.client() as client:
        start = head("POST", Content_Length="1000000") + bytes(16 * KB)
        await client.send(start)
        await server.has_received(len(start))
        server.pass_time(15.5)
        # Fast enough until now; the next 15 seconds see too little.
        await client.send(bytes(14 * KB))
        await server.has_received(len(start) + 14 * KB)
        server.pass_time(31)
        answer = await client.answer()

        assert (408, "request_timeout", "close") == (
            answer.status,
            answer.code,
            answer.headers["connection"],
        )
        assert await client.is_closed()
    assert await is_well(server)


async def test_slow_but_steady_body_has_half_an_hour(server: Listening) -> None:
    """15 MB at 9 KB/s."""
    pieces, piece = 119, bytes(135 * KB)
    async with server.client() as client:
        start = head("POST", Content_Length=str((pieces + 1) * len(piece)))
        await client.send(start)
        for number in range(pieces):
            await client.send(piece)
            await server.has_received(len(start) + (number + 1) * len(piece))
            server.pass_time(15 * (number + 1))
        await client.send(piece)
        answer = await client.answer()

    assert (200, str(120 * 135 * KB).encode()) == (answer.status, answer.body)


async def test_body_over_half_an_hour_is_408(server: Listening) -> None:
    async with server.client() as client:
        await client.send(head("POST", Content_Length="10000000") + bytes(64 * KB))
        await server.has_received(64 * KB)
        server.pass_time(1801)

        assert 408 == (await client.answer()).status


@pytest.mark.parametrize("ending", [b"", b"0\r\n"], ids=["extensions", "trailers"])
async def test_endless_framing_ends_the_request(server: Listening, ending: bytes) -> None:
    """Chunk extensions cost time, and trailers cost memory."""
    async with server.client() as client:
        await client.send(head("POST", Transfer_Encoding="chunked") + chunk(b"x") + ending)
        await client.send(b"5;" + b"x" * 90 * KB if not ending else b"a: b\r\n" * 15 * KB)
        answer = await client.answer()

        assert (400, "validation_error") == (answer.status, answer.code)
        assert await client.is_closed()


async def test_trailers_are_no_headers(server: Listening) -> None:
    async with server.client() as client:
        await client.send(head("POST", Transfer_Encoding="chunked") + chunk(b"xyz"))
        await client.send(b"0\r\nX-Request-ID: late\r\n\r\n")
        answer = await client.answer()

    assert (200, b"3") == (answer.status, answer.body)
    assert "late" != answer.headers["x-request-id"]


async def test_garbage_in_a_body_ends_its_request(server: Listening) -> None:
    async with server.client() as client:
        await client.send(head("POST", Transfer_Encoding="chunked") + b"not a size\r\n")

        assert 400 == (await client.answer()).status
        assert await client.is_closed()


async def test_few_requests_are_taken_ahead_of_their_answers(server: Listening) -> None:
    async with server.client() as client:
        await client.send(GET * 3)
        assert [200] * 3 == [(await client.answer()).status for _ in range(3)]
    async with server.client() as client:
        await client.send(GET * 1000)
        answers = [await client.answer() for _ in range(9)]

        assert await client.is_closed()
    assert [200] * 9 == [one.status for one in answers]
    assert "close" == answers[-1].headers["connection"]


async def test_client_that_does_not_read_its_answer_is_cut_off(server: Listening) -> None:
    async with server.client() as client:
        client.stop_reading()
        await client.send(head(path="/large"))
        await server.until(lambda: server.unsent > 0)
        server.pass_time(1)
        assert 1 == len(server.connections)
        server.pass_time(17)
        await server.until(lambda: len(server.connections) == 0)
        await server.until(lambda: not server.state.tasks)

        client.go_on_reading()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.answer()


async def test_client_that_reads_on_gets_all_of_a_large_answer(server: Listening) -> None:
    async with server.client() as client:
        await client.send(head(path="/large"))
        answer = await client.answer()

    assert BLOCKS * len(BLOCK) == len(answer.body)


SMALL = Bounds(connections=8, connections_per_address=4, surplus=2)


@pytest.fixture
async def small() -> AsyncIterator[Listening]:
    """A server for few connections, and fewer of one address."""
    async with sockets.listening(Named(), SMALL, limits_peers=True) as started:
        yield started


async def test_idle_connections_give_way_to_new_ones(small: Listening) -> None:
    async with AsyncExitStack() as stack:
        idle = [await stack.enter_async_context(small.client()) for _ in range(20)]
        await small.until(lambda: len(small.connections) == 4)

        assert 200 == (await small.ask(GET)).status
        assert all([await one.is_closed() for one in idle[:16]])


async def test_connections_over_the_limit_get_a_retry_after_header(small: Listening) -> None:
    """Health checks are answered even when all workers are busy."""
    async with AsyncExitStack() as stack:
        at_work = [await stack.enter_async_context(small.client()) for _ in range(4)]
        for one in at_work:
            await one.send(head("POST", Content_Length="1"))
        await small.until(lambda: len(small.state.tasks) == 4)
        refused = await small.ask(head("POST", Content_Length="1000"))
        health = await small.ask(head(path="/healthz"))
        for one in at_work:
            await one.send(b"x")

        assert [200] * 4 == [(await one.answer()).status for one in at_work]
    assert (503, "server_error", "1") == (
        refused.status,
        refused.code,
        refused.headers["retry-after"],
    )
    assert (200, "close") == (health.status, health.headers["connection"])
    assert 200 == (await small.ask(GET)).status


async def test_one_address_gets_no_more_of_the_surplus_than_there_is(small: Listening) -> None:
    async with AsyncExitStack() as stack:
        for length in ["1"] * 4 + ["1000"] * 2:
            client = await stack.enter_async_context(small.client())
            await client.send(head("POST", Content_Length=length))
            if length != "1":
                # Kept for a moment, so that the client can read it.
                assert 503 == (await client.answer()).status
        one_more = await stack.enter_async_context(small.client())

        assert await one_more.is_closed()
        await small.until(lambda: len(small.connections) == 6)


async def test_connections_of_all_addresses_have_a_bound_too() -> None:
    async with (
        sockets.listening(Named(), SMALL) as server,
        AsyncExitStack() as stack,
    ):
        for _ in range(8):
            client = await stack.enter_async_context(server.client())
            await client.send(head("POST", Content_Length="1"))
        await server.until(lambda: len(server.state.tasks) == 8)

        assert 503 == (await server.ask(GET)).status
        idle = [await stack.enter_async_context(server.client()) for _ in range(6)]
        async with asyncio.timeout(sockets.PATIENCE_S):
            assert all([await one.is_closed() for one in idle[:4]])
        assert 200 == (await server.ask(head(path="/healthz"))).status
