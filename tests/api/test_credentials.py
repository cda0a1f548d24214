"""Which credential counts where, and what is none."""

import datetime as dt
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from recibo.lib import clock
from recibo.lib.keyring import Keyring
from tests import installation
from tests.installation import Installation
from tests.people import Session, bearer, session_of, signed_up
from tests.sign_ins import ask, cookie, outcome

UNAUTHORIZED = (401, "unauthorized")
FOR_SESSIONS = 'Bearer realm="recibo"'
FOR_KEYS = 'ApiKey realm="recibo", header="X-API-Key"'
SECOND = dt.timedelta(seconds=1)


def keyring(i: Installation) -> Keyring:
    """Return what signs the tokens of a service."""
    return i.services.identity.keyring


def claims_of(ana: Session, token: str = "access_token") -> dict[str, Any]:  # noqa: S107
    """Return what a token says."""
    claims: dict[str, Any] = jwt.decode(ana.tokens[token], options={"verify_signature": False})
    return claims


async def me(i: Installation, **headers: str) -> httpx.Response:
    """Ask who calls."""
    return await ask(i, "/me", method="GET", **headers)


def routes(scheme: str) -> list[tuple[str, str]]:
    """Return method and path of every route that takes such a credential."""
    paths = installation.document()["paths"]
    return [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if any(scheme in one for one in operation.get("security", []))
    ]


async def test_every_guarded_route_judges_the_credential_before_the_body(
    door: Installation,
) -> None:
    found = {}
    for scheme, challenge in (("Session", FOR_SESSIONS), ("APIKeyHeader", FOR_KEYS)):
        for method, path in routes(scheme):
            for content in (b"{broken", b"\xff", b"a" * 1_100_000):
                answer = await door.stranger.request(
                    method, path, content=content, headers={"Content-Type": "application/json"}
                )
                found[method, path] = answer.status_code, answer.headers.get("WWW-Authenticate")
                assert (401, challenge) == found[method, path], (method, path)
                assert "unauthorized" == answer.json()["error"]["code"]

    assert len(found) > 15


async def test_a_key_is_no_session(door: Installation) -> None:
    for method, path in routes("Session"):
        answer = await door.client.request(method, path)
        assert UNAUTHORIZED == outcome(answer), (method, path)
        assert FOR_SESSIONS == answer.headers["WWW-Authenticate"]
    for credential in (bearer(door.secret), {"Cookie": f"service_access={door.secret}"}):
        assert UNAUTHORIZED == outcome(await me(door, **credential))


async def test_a_session_is_no_key(door: Installation) -> None:
    ana = await signed_up(door)
    token = ana.tokens["access_token"]
    for method, path in routes("APIKeyHeader"):
        for credential in (bearer(token), {"Cookie": cookie(access=token)}, {"X-API-Key": token}):
            answer = await door.stranger.request(method, path, headers=credential)
            assert UNAUTHORIZED == outcome(answer), (method, path)
            assert FOR_KEYS == answer.headers["WWW-Authenticate"]


async def test_key_together_with_a_session_does_no_harm(door: Installation) -> None:
    ana = await signed_up(door)

    combined = await me(door, X_API_Key=door.secret, **ana.headers)
    key = await door.stranger.get("/v1/key", headers={"X-API-Key": door.secret, **ana.headers})

    assert ana.user_id == combined.json()["user"]["id"]
    assert 200 == key.status_code


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_scheme_is_taken_in_any_case(door: Installation, scheme: str) -> None:
    ana = await signed_up(door)
    token = ana.tokens["access_token"]

    assert 200 == (await me(door, Authorization=f"{scheme} {token}")).status_code
    # RFC 9110, 11.4: one or more spaces.
    assert 200 == (await me(door, Authorization=f"{scheme}  {token}")).status_code


@pytest.mark.parametrize(
    "header",
    [
        *("", " ", "Bearer", "Bearer ", "Bearer null", "Bearer a.b.c", "{token}", "Token {token}"),
        *("Basic {token}", "Bearer: {token}", "Bearer {token}, Bearer {token}", "Bearer {token}x"),
        *("Bearer {token} {token}", "Bearer\t{token}", 'Bearer "{token}"', "Basic YTpi"),
        "Bearer " + "a" * 10_000,
        "Bearer é",
    ],
)
async def test_bad_header_takes_precedence_over_a_good_cookie(
    door: Installation, header: str
) -> None:
    ana = await signed_up(door)
    token = ana.tokens["access_token"]
    shown = header.format(token=token).encode("latin-1")
    headers = {b"Authorization": shown, b"Cookie": cookie(access=token).encode()}

    answer = await door.stranger.get("/v1/auth/me", headers=list(headers.items()))

    assert UNAUTHORIZED == outcome(answer)
    assert FOR_SESSIONS == answer.headers["WWW-Authenticate"]


async def test_header_takes_precedence_over_the_cookie(door: Installation) -> None:
    ana, bea = await signed_up(door), await signed_up(door, email="bea@people.test")
    shown = cookie(access=ana.tokens["access_token"])

    assert ana.user_id == (await me(door, Cookie=shown)).json()["user"]["id"]
    assert bea.user_id == (await me(door, Cookie=shown, **bea.headers)).json()["user"]["id"]


async def test_access_token_lives_15_minutes(door: Installation) -> None:
    ana = await signed_up(door)
    with clock.moved(900 * SECOND - 5 * SECOND):
        assert 200 == (await me(door, **ana.headers)).status_code
    with clock.moved(901 * SECOND):
        assert UNAUTHORIZED == outcome(await me(door, **ana.headers))


CHANGES: list[dict[str, Any]] = [
    {"sub": 1},
    {"sub": ""},
    {"sub": "usr_1"},
    {"sub": ["usr_1"]},
    {"sid": None},
    {"sid": 1},
    {"org": ["org_1"]},
    {"org": {}},
    {"org": "org_1"},
    {"org": 1},
    {"epoch": "0"},
    {"epoch": None},
    {"epoch": 1},
    {"epoch": True},
    {"epoch": 10**30},
    {"type": "refresh"},
    {"type": None},
    {"exp": "tomorrow"},
    {"exp": None},
    {"exp": 0},
    {"exp": -1},
    {"exp": []},
    {"iat": None},
    {"jti": 1},
    {"pending": "no"},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
async def test_claims_of_other_types_or_values_are_401(
    door: Installation, changes: dict[str, Any]
) -> None:
    ana = await signed_up(door)
    access = claims_of(ana) | changes
    refresh = claims_of(ana, "refresh_token") | changes
    try:
        shown = keyring(door).sign(access, audience="recibo:access")
        kept = keyring(door).sign(refresh, audience="recibo:refresh")
    except TypeError:
        # Such a token the library does not even make.
        return

    assert UNAUTHORIZED == outcome(await me(door, **bearer(shown)))
    if changes.keys() & {"epoch", "exp", "jti", "type"} and changes != {"type": "refresh"}:
        answer = await ask(door, "/refresh", {"refresh_token": kept})
        assert (401, "authentication_failed") == outcome(answer)


@pytest.mark.parametrize("missing", ["sub", "sid", "org", "epoch", "type", "exp", "iat", "jti"])
async def test_claims_that_are_missing_are_401(door: Installation, missing: str) -> None:
    ana = await signed_up(door)
    for kind, audience in (("access_token", "recibo:access"), ("refresh_token", "recibo:refresh")):
        claims = {name: one for name, one in claims_of(ana, kind).items() if name != missing}
        token = keyring(door).sign(claims, audience=audience)
        if missing == "org":
            # Read as none: the user's own session outside of any org.
            continue
        assert UNAUTHORIZED == outcome(await me(door, **bearer(token)))
        refresh = await ask(door, "/refresh", {"refresh_token": token})
        assert (401, "authentication_failed") == outcome(refresh)


async def test_tokens_that_we_did_not_sign_are_401(door: Installation) -> None:
    ana = await signed_up(door)
    claims = claims_of(ana)
    good = ana.tokens["access_token"]
    head, body, signature = good.split(".")
    kid = jwt.get_unverified_header(good)["kid"]
    forged = [
        jwt.encode(claims, "", algorithm="none"),
        jwt.encode(claims, "", algorithm="none", headers={"kid": kid}),
        jwt.encode(claims, "k" * 64, algorithm="HS256", headers={"kid": kid}),
        jwt.encode(claims, "k" * 64, algorithm="HS512", headers={"kid": kid}),
        jwt.encode(claims, "k" * 64, algorithm="HS256", headers={"kid": "../../dev/null"}),
        jwt.encode(claims, "k" * 64, algorithm="HS256"),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body}.{signature[:-2]}",
        f"{head}.{body[:-2]}.{signature}",
        f"{head}.{body}.{signature}.{signature}",
    ]

    for token in forged:
        assert UNAUTHORIZED == outcome(await me(door, **bearer(token)))
        assert UNAUTHORIZED == outcome(await me(door, Cookie=cookie(access=token)))
        answer = await ask(door, "/refresh", {"refresh_token": token})
        assert (401, "authentication_failed") == outcome(answer)


async def test_a_changed_secret_keeps_tokens_good_while_the_old_one_is_named(
    database_url: str, tmp_path: Path
) -> None:
    old, new = "o" * 40, "n" * 40
    async with installation.start(database_url, tmp_path, with_worker=False, secret_key=old) as i:
        ana = await signed_up(i)
    refresh = {"refresh_token": ana.tokens["refresh_token"]}
    async with installation.start(database_url, tmp_path, with_worker=False, secret_key=new) as i:
        assert UNAUTHORIZED == outcome(await me(i, **ana.headers))
        answer = await ask(i, "/refresh", refresh)
        assert (401, "authentication_failed") == outcome(answer)
    settings: dict[str, Any] = {"secret_key": new, "previous_secret_keys": f"{'x' * 40}, {old}"}
    async with installation.start(database_url, tmp_path, with_worker=False, **settings) as i:
        assert 200 == (await me(i, **ana.headers)).status_code
        fresh = await session_of(i, await ask(i, "/refresh", refresh))
    async with installation.start(database_url, tmp_path, with_worker=False, secret_key=new) as i:
        # What was signed since then needs the old one no more.
        assert 200 == (await me(i, **fresh.headers)).status_code
