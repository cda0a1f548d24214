"""Where requests come from: believed proxies, hostile headers, loopback."""

import ipaddress
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from recibo.lib import ids
from recibo.store import tables
from recibo.store.db import Database
from recibo.web.proxies import Proxies
from recibo.web.services import client_info_of
from tests import installation
from tests.serving.running import Server, serving

PROXY, OTHER_PROXY, CLIENT = "10.0.0.1", "10.0.0.2", "203.0.113.9"
TRUSTED = ("10.0.0.0/24", "2001:db8:1::1", "127.0.0.1")
FORGED = "198.51.100.66"
MEGABYTE = 1024 * 1024


async def echo_client(request: Request) -> JSONResponse:
    """Answer where a request comes from."""
    request.state.request_id = "req_1"
    combined = {"scheme": request.url.scheme, "is_loopback": request.state.is_loopback}
    return JSONResponse(asdict(client_info_of(request)) | combined)


async def request_client(
    peer: str,
    *forwarded: str,
    proto: str | None = None,
    trusted: Sequence[str] = TRUSTED,
    agent: str = "curl/8",
    limits_loopback: bool = False,
) -> dict[str, Any]:
    """Return what is made of a request of this peer with these X-Forwarded-For."""
    echo = Starlette(routes=[Route("/", echo_client)])
    app = Proxies(echo, trusted=trusted, limits_loopback=limits_loopback)
    headers = [("x-forwarded-for", one.encode("latin-1", "replace")) for one in forwarded]
    headers += [("user-agent", agent.encode())]
    headers += [("x-forwarded-proto", proto.encode())] if proto is not None else []
    transport = httpx.ASGITransport(app=app, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://recibo.test") as client:
        answer = await client.get("/", headers=cast("Any", headers))
    assert 200 == answer.status_code
    return cast("dict[str, Any]", answer.json())


async def ip(peer: str, *forwarded: str, **options: Any) -> str:
    """Return the client address of such a request."""
    return str((await request_client(peer, *forwarded, **options))["ip_address"])


async def test_trusted_proxy_is_believed_about_the_last_address_that_is_none_of_ours() -> None:
    expected = {
        (CLIENT,): CLIENT,
        (f"{FORGED}, {CLIENT}",): CLIENT,
        (f"{FORGED},{CLIENT} , {OTHER_PROXY}",): CLIENT,
        (FORGED, CLIENT): CLIENT,
        (FORGED, CLIENT, OTHER_PROXY): CLIENT,
        (OTHER_PROXY,): OTHER_PROXY,
        (): PROXY,
    }

    assert expected == {given: await ip(PROXY, *given) for given in expected}


async def test_anybody_else_is_not_believed() -> None:
    assert CLIENT == await ip(CLIENT, FORGED)
    assert CLIENT == await ip(CLIENT, f"{FORGED}, {PROXY}")
    assert PROXY == await ip(PROXY, FORGED, trusted=())
    assert "127.0.0.1" == await ip("127.0.0.1", FORGED, trusted=())
    assert "http" == (await request_client(CLIENT, proto="https"))["scheme"]


SPELLINGS = {
    f"{CLIENT}:4711": CLIENT,
    f"{CLIENT}:99999999999": CLIENT,
    "2001:db8::9": "2001:db8::9",
    "2001:DB8:0:0::9": "2001:db8::9",
    "[2001:db8::9]": "2001:db8::9",
    "[2001:db8::9]:443": "2001:db8::9",
    "[2001:db8::9]:x": "2001:db8::9",
    "fe80::1%eth0": "fe80::1",
    "fe80::1%" + "a" * 5000: "fe80::1",
    "[fe80::1%25eth0]:80": "fe80::1",
    f"::ffff:{CLIENT}": CLIENT,
}


async def test_address_has_one_spelling_without_port_and_zone() -> None:
    assert SPELLINGS == {spelling: await ip(PROXY, spelling) for spelling in SPELLINGS}


GARBAGE = [
    *("", " ", ",", ",,,", "unknown", "_hidden", "localhost", "for=1.2.3.4", "1.2.3", "1.2.3.4.5"),
    *("010.0.0.9", "256.1.1.1", "0x7f.1", "1.2.3.4/8", "1.2.3.4:", ":80", "[", "[]", "[::1", "]"),
    *("[2001:db8::9]443", "2001:db8::9:g", "::ffff:999.1.1.1", "%", "%eth0", "é", "\t", "' OR 1=1"),
    pytest.param("a" * MEGABYTE, id="a-megabyte"),
    pytest.param("1" * MEGABYTE, id="a-megabyte-of-digits"),
    pytest.param("1." * MEGABYTE, id="a-megabyte-of-dots"),
    pytest.param(":" * MEGABYTE, id="a-megabyte-of-colons"),
    pytest.param("," * MEGABYTE, id="a-megabyte-of-commas"),
]


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_what_is_no_address_leaves_the_peer_in_its_place(garbage: str) -> None:
    assert PROXY == await ip(PROXY, garbage)
    assert PROXY == await ip(PROXY, f"{FORGED}, {garbage}")
    assert CLIENT == await ip(PROXY, f"{garbage}, {CLIENT}")


@given(st.lists(st.text(max_size=60), max_size=5))
async def test_whatever_is_sent_is_an_address_or_the_peer(forwarded: list[str]) -> None:
    for peer in (PROXY, CLIENT):
        address = await ip(peer, *forwarded)

        assert address == str(ipaddress.ip_address(address))
        assert len(address) <= 45
        assert peer == PROXY or address == CLIENT


async def test_peer_of_a_socket_for_both_families_is_taken_for_what_it_is() -> None:
    """Otherwise it would be trusted, limited and logged as two addresses."""
    assert CLIENT == await ip(f"::ffff:{PROXY}", CLIENT)
    assert CLIENT == await ip(f"::ffff:{CLIENT}", FORGED)
    assert (await request_client("::ffff:127.0.0.1"))["is_loopback"]


async def test_peer_without_an_address_is_none() -> None:
    assert (await request_client("/run/recibo.sock", FORGED))["ip_address"] is None


@pytest.mark.parametrize(
    ("proto", "scheme"),
    [("https", "https"), ("http", "http"), ("wss", "http"), ("ws", "http"), ("", "http"),
     ("https, http", "http"), ("ftp", "http"), ("\x01", "http")],
)  # fmt: skip
async def test_scheme_of_a_trusted_proxy_is_https_or_http(proto: str, scheme: str) -> None:
    assert scheme == (await request_client(PROXY, CLIENT, proto=proto))["scheme"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "is_limited"),
    [
        ("127.0.0.1", (), False),
        ("127.8.8.8", (), False),
        ("::1", (), False),
        (CLIENT, (), True),
        (PROXY, ("127.0.0.1",), True),
        (PROXY, ("::1",), True),
        # Through a proxy on this machine.
        ("127.0.0.1", (CLIENT,), True),
        ("127.0.0.1", ("127.0.0.1",), True),
        ("127.0.0.1", ("garbage",), True),
        # Not believed, so it says nothing.
        ("::1", (CLIENT,), False),
    ],
)
async def test_only_what_comes_straight_from_loopback_is_spared(
    peer: str, forwarded: tuple[str, ...], is_limited: bool
) -> None:
    assert is_limited == (await request_client(peer, *forwarded))["is_limited_by_ip"]
    assert (await request_client(peer, *forwarded, limits_loopback=True))["is_limited_by_ip"]


PRODUCTION: dict[str, Any] = {
    "environment": "production",
    "secret_key": "s" * 32,
    "base_url": "https://recibo.example",
    "email_url": "smtp://mail.recibo.example",
}


async def test_metrics_in_production_are_closed_to_who_comes_through_a_proxy(
    sqlite_url: str, tmp_path: Path
) -> None:
    statuses: list[int] = []
    forwarded: tuple[dict[str, str], ...] = (
        {},
        {"X-Forwarded-For": CLIENT},
        {"X-Forwarded-For": "127.0.0.1"},
    )
    for trusted in ("", "127.0.0.1"):
        async with (
            installation.start(
                sqlite_url, tmp_path, trusted_proxies=trusted, **PRODUCTION
            ) as service,
            installation.client_of(service.asgi) as client,
        ):
            answers = [await client.get("/metrics", headers=headers) for headers in forwarded]
            statuses += [answer.status_code for answer in answers]

    assert [200, 404, 404] * 2 == statuses


def sign_up(server: Server, forwarded: str) -> int:
    """Sign up through a proxy that says this."""
    body = {"email": f"{ids.new('x')}@recibo.test", "password": "long enough", "org_name": "A"}
    headers = {"X-Forwarded-For": forwarded}
    return httpx.post(f"{server.url}/v1/auth/signup", json=body, headers=headers).status_code


@pytest.mark.parametrize(("trusted", "expected"), [("127.0.0.1", CLIENT), ("", "127.0.0.1")])
async def test_audit_and_session_record_the_client_behind_a_trusted_proxy(
    tmp_path: Path, trusted: str, expected: str
) -> None:
    """Over a real socket, because lower layers must not trust the header either."""
    with serving(tmp_path, "--no-worker", TRUSTED_PROXIES=trusted) as server:
        assert 201 == sign_up(server, f"{FORGED}, {CLIENT}:4711")
        assert 201 == sign_up(server, f"{FORGED}, {'9' * 30_000}")
        assert 431 == sign_up(server, f"{FORGED}, {'9' * MEGABYTE}")
    database = Database(f"sqlite:///{tmp_path / 'recibo.db'}")
    async with database.read() as session:
        entries = (await session.execute(select(tables.AuditEvent.ip_address))).scalars().all()
        sessions = (await session.execute(select(tables.UserSession.ip_address))).scalars().all()
    await database.close()

    assert {None, expected, "127.0.0.1"} == set(entries)
    assert {expected, "127.0.0.1"} == set(sessions)


async def test_user_agent_is_truncated_to_500_characters() -> None:
    agents = {
        agent: (await request_client(PROXY, agent=agent))["user_agent"] for agent in ("", "a" * 500)
    }

    assert agents == {agent: agent for agent in agents}
    assert "a" * 500 == (await request_client(PROXY, agent="a" * MEGABYTE))["user_agent"]
