"""POST /v1/auth/logout, and the session's cookies."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import installation
from tests.installation import Installation
from tests.people import PASSWORD, signed_up
from tests.sign_ins import ask, cookie, set_cookies

ANA = {"email": "ana@example.com", "password": PASSWORD, "org_name": "Aurora"}
ALWAYS = {"HttpOnly", "Path=/", "SameSite=Lax"}
SECRETS = {"secret_key": "x" * 40, "email_url": "smtp://127.0.0.1:1"}
PRODUCTION = SECRETS | {"environment": "production", "base_url": "https://recibo.example"}


async def test_session_comes_in_two_cookies(door: Installation) -> None:
    answer = await ask(door, "/signup", ANA)

    pair = answer.json()
    assert {
        "service_access": (pair["access_token"], {*ALWAYS, "Max-Age=900"}),
        "service_refresh": (pair["refresh_token"], {*ALWAYS, "Max-Age=2592000"}),
    } == set_cookies(answer)
    assert "no-store" == answer.headers["Cache-Control"]


async def test_cookies_alone_are_a_session(door: Installation) -> None:
    pair = (await ask(door, "/signup", ANA)).json()
    shown = cookie(access=pair["access_token"], refresh=pair["refresh_token"])

    assert 200 == (await ask(door, "/me", method="GET", Cookie=shown)).status_code
    assert 200 == (await ask(door, "/refresh", Cookie=shown)).status_code


@pytest.mark.parametrize(
    ("settings", "address", "is_secure"),
    [
        ({}, "http://recibo.test", False),
        ({}, "https://recibo.test", True),
        (PRODUCTION, "http://recibo.example", True),
        (PRODUCTION, "https://recibo.example", True),
    ],
    ids=["development http", "development https", "production http", "production https"],
)
async def test_cookies_are_secure_unless_on_http_in_development(
    sqlite_url: str, tmp_path: Path, settings: dict[str, Any], address: str, *, is_secure: bool
) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False, **settings) as i:
        i.stranger.base_url = httpx.URL(address)
        begun = await ask(i, "/signup", ANA)
        ended = await ask(i, "/logout")

    assert 201 == begun.status_code
    for _, attributes in [*set_cookies(begun).values(), *set_cookies(ended).values()]:
        assert is_secure == ("Secure" in attributes)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"null", b"{broken", b"\xff\x00", b"a" * 2_000_000], ids=len
)
async def test_logout_clears_both_cookies_whatever_comes(door: Installation, body: bytes) -> None:
    answer = await door.stranger.post("/v1/auth/logout", content=body)

    assert (200, {"ok": True}) == (answer.status_code, answer.json())
    assert {
        "service_access": ('""', {*ALWAYS, "Max-Age=0"}),
        "service_refresh": ('""', {*ALWAYS, "Max-Age=0"}),
    } == set_cookies(answer)


async def test_logout_ends_no_token(door: Installation) -> None:
    ana = await signed_up(door)
    refresh = ana.tokens["refresh_token"]
    shown = cookie(access=ana.tokens["access_token"], refresh=refresh)

    assert 200 == (await ask(door, "/logout", Cookie=shown)).status_code
    assert 200 == (await ask(door, "/logout", **ana.headers)).status_code
    assert 200 == (await ask(door, "/logout", Authorization="nonsense")).status_code
    assert 200 == (await ask(door, "/me", method="GET", **ana.headers)).status_code
    assert 200 == (await ask(door, "/refresh", {"refresh_token": refresh})).status_code


async def test_browser_is_signed_out(door: Installation) -> None:
    answer = await door.stranger.post("/v1/auth/signup", json=ANA)
    assert 201 == answer.status_code
    assert 200 == (await door.stranger.get("/v1/auth/me")).status_code

    await door.stranger.post("/v1/auth/logout")

    assert [] == list(door.stranger.cookies)
    assert 401 == (await door.stranger.get("/v1/auth/me")).status_code


async def test_refusals_set_no_cookie(door: Installation) -> None:
    await signed_up(door, email="ana@example.com")

    for answer in (
        await ask(door, "/signup", ANA),
        await ask(door, "/login", {"email": "ana@example.com", "password": "wrong"}),
        await ask(door, "/refresh", {"refresh_token": "nonsense"}),
        await ask(door, "/magic-link/verify", {"token": "nonsense"}),
    ):
        assert answer.is_error
        assert {} == set_cookies(answer)
