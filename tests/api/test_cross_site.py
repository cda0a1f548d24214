"""Whose pages may use a session's cookies."""

from pathlib import Path

import httpx
import pytest

from tests import inbox, installation
from tests.installation import Installation, document
from tests.people import PASSWORD, Session, signed_up
from tests.sign_ins import ask, cookie, outcome, set_cookies

REFUSED = (403, "cross_site_request")
LOGIN = {"email": "ana@people.test", "password": PASSWORD}
FOREIGN = [
    *("https://evil.example", "null", "", "http://recibo.test.evil.example", "recibo.test"),
    *("http://recibo.test:81", "https://recibo.test", "http://evil.recibo.test", "file://"),
    *("http://[", "http://recibo.test:x", "http://recibo.test, http://evil.example"),
]
OWN = ["http://recibo.test", "http://recibo.test:80", "HTTP://Recibo.TEST"]


def shown(ana: Session) -> str:
    """Return the cookies of a user's browser."""
    return cookie(access=ana.tokens["access_token"], refresh=ana.tokens["refresh_token"])


async def state_changing(i: Installation, ana: Session, **headers: str) -> list[httpx.Response]:
    """Ask with the browser's cookies for what sets, clears or bears them; no refusal is final."""
    headers = {"Cookie": shown(ana), **headers}
    return [
        await ask(i, "/me", {"name": "Mallory"}, method="PATCH", **headers),
        await ask(i, "/logout", **headers),
        await ask(i, "/verify-email/resend", **headers),
        await ask(i, "/refresh", **headers),
        await ask(i, "/login", LOGIN, **headers),
    ]


@pytest.mark.parametrize("origin", FOREIGN)
async def test_pages_of_others_are_refused(door: Installation, origin: str) -> None:
    ana = await signed_up(door)

    for answer in await state_changing(door, ana, Origin=origin):
        assert REFUSED == outcome(answer)
        assert {} == set_cookies(answer)
    assert (await ask(door, "/me", method="GET", **ana.headers)).json()["user"]["name"] is None


async def test_nothing_that_needs_the_session_is_left_out(door: Installation) -> None:
    ana = await signed_up(door)
    paths = document()["paths"]
    asked = [
        (method.upper(), path)
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method != "get" and any("Session" in one for one in operation.get("security", []))
    ]

    for method, path in asked:
        headers = {"Origin": "https://evil.example", "Cookie": shown(ana)}
        answer = await door.stranger.request(method, path, headers=headers)
        assert REFUSED == outcome(answer), (method, path)
    assert len(asked) > 8


@pytest.mark.parametrize("origin", OWN)
async def test_own_pages_pass(door: Installation, origin: str) -> None:
    ana = await signed_up(door)

    for answer in await state_changing(door, ana, Origin=origin):
        assert answer.is_success, answer.text


async def test_pages_of_the_public_address_are_own(sqlite_url: str, tmp_path: Path) -> None:
    base_url = "https://recibo.example:8443/service/"
    async with installation.start(sqlite_url, tmp_path, with_worker=False, base_url=base_url) as i:
        ana = await signed_up(i)
        own = await state_changing(i, ana, Origin="https://recibo.example:8443")
        foreign = await state_changing(i, ana, Origin="https://recibo.example")

    assert all(answer.is_success for answer in own)
    assert [REFUSED] * 5 == [outcome(answer) for answer in foreign]


@pytest.mark.parametrize("site", ["same-origin", "same-site", "none"])
async def test_requests_without_a_cross_site_header_pass(door: Installation, site: str) -> None:
    ana = await signed_up(door)

    for answer in await state_changing(door, ana, Sec_Fetch_Site=site):
        assert answer.is_success


async def test_cross_site_requests_are_refused(door: Installation) -> None:
    ana = await signed_up(door)

    for answer in await state_changing(door, ana, Sec_Fetch_Site="cross-site"):
        assert REFUSED == outcome(answer)
    own = {"Sec_Fetch_Site": "cross-site", "Origin": "http://recibo.test"}
    for answer in await state_changing(door, ana, **own):
        assert REFUSED == outcome(answer)


async def test_what_comes_from_no_browser_passes(door: Installation) -> None:
    ana = await signed_up(door)

    for answer in await state_changing(door, ana):
        assert answer.is_success


async def test_bearer_tokens_are_exempt(door: Installation) -> None:
    ana = await signed_up(door)
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", **ana.headers}

    for answer in await state_changing(door, ana, **headers):
        assert answer.is_success


async def test_reading_is_exempt(door: Installation) -> None:
    ana = await signed_up(door)
    headers = {"Origin": "null", "Sec-Fetch-Site": "cross-site", "Cookie": shown(ana)}

    assert 200 == (await ask(door, "/me", method="GET", **headers)).status_code


async def test_public_routes_that_set_cookies_are_refused_without_any(door: Installation) -> None:
    signup = {**LOGIN, "org_name": "Aurora"}
    reset = {"token": "a", "new_password": PASSWORD}
    for path, body in [
        ("/signup", signup),
        ("/login", LOGIN),
        ("/refresh", {}),
        ("/logout", None),
        ("/magic-link/verify", {"token": "a"}),
        ("/password/reset", reset),
        ("/accept-invite", {"token": "a"}),
        ("/2fa/verify", {"user_id": "usr_1", "code": "123456"}),
        ("/2fa/recovery/use", {"user_id": "usr_1", "code": "a"}),
    ]:
        assert REFUSED == outcome(await ask(door, path, body, Origin="https://evil.example"))


async def test_public_routes_that_set_none_are_refused_with_some(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    address = {"email": ana.email}
    evil = {"Origin": "https://evil.example"}
    for path, body in [
        ("/magic-link", address),
        ("/password/forgot", address),
        (f"/verify-email/{token}", None),
    ]:
        refused = await ask(idle_service, path, body, Cookie=shown(ana), **evil)
        passed = await ask(idle_service, path, body, **evil)
        assert REFUSED == outcome(refused)
        assert passed.is_success
