"""A request names its host exactly once (RFC 9112, section 3.2); HTTP/1.0 may name none."""

import pytest
from starlette.types import Message, Scope

from tests.installation import Installation

ONE = (b"host", b"recibo.example")
OTHER = (b"host", b"other.example")


async def status_of(
    door: Installation, path: str, *hosts: tuple[bytes, bytes], version: str = "1.1"
) -> int:
    """Return the status of a request whose headers no client repairs."""
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "scheme": "http",
        "http_version": version,
        "client": ("203.0.113.9", 1),
        "server": ("127.0.0.1", 8000),
        "headers": list(hosts),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await door.asgi(scope, receive, send)
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize("path", ["/healthz", "/portal/sign-in", "/docs"])
async def test_request_with_one_host_is_served(door: Installation, path: str) -> None:
    assert 200 == await status_of(door, path, ONE)


@pytest.mark.parametrize("path", ["/healthz", "/portal/sign-in", "/docs"])
async def test_request_without_a_host_or_with_several_is_refused(
    door: Installation, path: str
) -> None:
    assert 400 == await status_of(door, path)
    assert 400 == await status_of(door, path, ONE, OTHER)
    assert 400 == await status_of(door, path, ONE, ONE)


async def test_old_request_needs_no_host_but_has_not_two(door: Installation) -> None:
    assert 200 == await status_of(door, "/healthz", version="1.0")
    assert 400 == await status_of(door, "/healthz", ONE, OTHER, version="1.0")
