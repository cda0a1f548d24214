"""JSON bodies: whatever comes is taken, refused with 400, and never a 500."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.installation import Installation, document
from tests.people import PASSWORD, Session, signed_up
from tests.sign_ins import outcome

INVALID = (400, "validation_error")
MEGABYTE = 1024 * 1024
TOKEN = "0" * 32
# Of each route the body that it would take.
BODIES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("POST", "/v1/auth/signup"): {
        "email": "bea@people.test", "password": PASSWORD, "full_name": "Bea", "org_name": "Bea"
    },
    ("POST", "/v1/auth/login"): {"email": "bea@people.test", "password": PASSWORD},
    ("POST", "/v1/auth/refresh"): {"refresh_token": "token"},
    ("POST", "/v1/auth/magic-link"): {"email": "bea@people.test"},
    ("POST", "/v1/auth/magic-link/verify"): {"token": TOKEN},
    ("POST", "/v1/auth/accept-invite"): {"token": TOKEN},
    ("POST", "/v1/auth/password/forgot"): {"email": "bea@people.test"},
    ("POST", "/v1/auth/password/reset"): {"token": TOKEN, "new_password": PASSWORD},
    ("POST", "/v1/auth/password"): {"new_password": PASSWORD, "current_password": "wrong"},
    ("POST", "/v1/auth/switch-org"): {"org_id": "org_" + TOKEN},
    ("PATCH", "/v1/auth/me"): {"name": "Bea"},
    ("POST", "/v1/auth/2fa/enroll/verify"): {"code": "123456"},
    ("POST", "/v1/auth/2fa/verify"): {"user_id": "usr_" + TOKEN, "code": "123456"},
    ("POST", "/v1/auth/2fa/disable"): {"code": "123456"},
    ("POST", "/v1/auth/2fa/recovery/use"): {"user_id": "usr_" + TOKEN, "code": "123456"},
    ("POST", "/v1/org/members"): {"email": "bea@people.test", "role": "viewer"},
    ("PATCH", "/v1/org/members/{user_id}"): {"role": "viewer"},
    ("PATCH", "/v1/org"): {"name": "Bea", "logo_url": None, "billing_email": "bea@people.test"},
    ("POST", "/v1/billing/checkout-session"): {
        "plan": "indie", "success_url": "https://a.test", "cancel_url": "https://a.test"
    },
    ("POST", "/v1/billing/portal-session"): {"return_url": "https://a.test"},
    ("POST", "/v1/api-keys"): {"name": "key", "scopes": ["read"], "kind": "secret"},
}  # fmt: skip
ROUTES = pytest.mark.parametrize("route", BODIES, ids=" ".join)
Route = tuple[str, str]


async def send(
    i: Installation, route: Route, content: bytes, ana: Session, media_type: str | None = None
) -> httpx.Response:
    """Send a body as it is; no cookie is kept."""
    headers = {"Content-Type": media_type or "application/json", **ana.headers}
    answer = await i.stranger.request(*route, content=content, headers=headers)
    i.stranger.cookies.clear()
    return answer


def test_every_route_with_a_body_is_here() -> None:
    paths = document()["paths"]
    known = {
        (method.upper(), path)
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }

    # This one takes an API key: see below.
    assert BODIES.keys() | {("PATCH", "/v1/receipts/{receipt_id}")} == known


async def test_change_of_a_receipt_that_is_no_json_object_is_400(door: Installation) -> None:
    unknown = "/v1/receipts/rcp_" + "0" * 32
    headers = {"Content-Type": "application/json"}
    for name, content in bad_bodies().items():
        answer = await door.client.patch(unknown, content=content, headers=headers)
        assert INVALID == outcome(answer), name


def bad_bodies() -> dict[str, bytes]:
    """Return what is no JSON object."""
    deep = 100_000
    return {
        "nothing but spaces": b" \n",
        "broken": b'{"email": "a',
        "no JSON": b"email=bea@people.test",
        "array": b"[]",
        "array of objects": b"[{}]",
        "number": b"1",
        "string": b'"text"',
        "null": b"null",
        "true": b"true",
        "not a number": b'{"a": NaN}',
        "infinity": b'{"a": -Infinity}',
        "two": b"{} {}",
        "comment": b"{} // comment",
        "no UTF-8": b'{"a": "\xff"}',
        "UTF-16": json.dumps({"a": "b"}).encode("utf-16"),
        "byte order mark": b"\xef\xbb\xbf{}",
        "raw NUL": b'{"a": "\0"}',
        "NUL after it": b"{}\0",
        "escaped NUL": b'{"a": "\\u0000"}',
        "NUL deep in it": b'{"a": [{"b": ["\\u0000"]}]}',
        "NUL in a key": b'{"\\u0000": 1}',
        "NUL in a key deep in it": b'{"a": [{"\\u0000": 1}]}',
        "half of a pair": b'{"a": "\\ud800"}',
        "other half": b'{"a": "\\udfff x"}',
        "half of a pair in a key": b'{"a": {"\\ud83d": 1}}',
        "brackets": b"[" * deep + b"]" * deep,
        "open brackets": b"[" * deep,
        "objects": b'{"a":' * deep + b"1" + b"}" * deep,
        "digits": b'{"a": ' + b"1" * 10_000 + b"}",
        "over a megabyte": b'{"a": "' + b"a" * MEGABYTE + b'"}',
    }


@ROUTES
async def test_what_is_no_json_object_is_400(door: Installation, route: Route) -> None:
    ana = await signed_up(door)
    for name, content in bad_bodies().items():
        answer = await send(door, route, content, ana)
        if name == "nothing but spaces" and route[1].endswith("/refresh"):
            # The one body that may be missing.
            assert (401, "authentication_failed") == outcome(answer)
            continue
        assert INVALID == outcome(answer), (route, name)
        assert answer.json()["error"]["details"]


@ROUTES
async def test_other_media_types_are_400(door: Installation, route: Route) -> None:
    ana = await signed_up(door)
    content = json.dumps(BODIES[route]).encode()
    for media_type in (
        *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "a"),
        *("application/jsonp", "text/json", " ", "application/json/x", "application/*"),
    ):
        assert INVALID == outcome(await send(door, route, content, ana, media_type)), media_type
    for media_type in ("application/json; charset=utf-8", "Application/JSON", "application/json;"):
        answer = await send(door, route, content, ana, media_type)
        # None of the bodies lacks anything; what is refused, is for what it says.
        assert "Content-Type" not in answer.text


@ROUTES
async def test_fields_of_any_type_and_length_are_no_500(door: Installation, route: Route) -> None:
    ana = await signed_up(door)
    values: list[object] = [
        *(None, True, 0, -1, 1.5, 10**30, [], {}, [[]], [None], {"a": "b"}, ""),
        *(" ", "a" * 1_000_000, "é" * 400_000, "\u202e", "\N{GRINNING FACE}" * 250_000, "'; --"),
        *("a@" * 400_000, "1" * 900_000, "%00", "../..", "\x7f\x01\x1b", "[" * 900_000),
    ]
    for name in BODIES[route]:
        for value in values:
            content = json.dumps({**BODIES[route], name: value}, ensure_ascii=False).encode()
            answer = await send(door, route, content, ana)
            assert answer.status_code < 500, (name, str(value)[:20], answer.text)
            assert answer.status_code != 422, (name, str(value)[:20])


@ROUTES
async def test_a_field_given_twice_is_no_500(door: Installation, route: Route) -> None:
    ana = await signed_up(door)
    name = next(iter(BODIES[route]))
    content = json.dumps(BODIES[route])[:-1] + f', "{name}": [1]}}'

    # The last one counts, as in every browser.
    assert INVALID == outcome(await send(door, route, content.encode(), ana))


@ROUTES
async def test_unknown_fields_are_ignored(door: Installation, route: Route) -> None:
    ana = await signed_up(door)
    content = json.dumps({**BODIES[route], "nobody_knows": {"a": [None]}, "": 1}).encode()
    without = await send(door, route, json.dumps(BODIES[route]).encode(), ana)

    answer = await send(door, route, content, ana)

    assert "nobody_knows" not in answer.text
    if route[1] not in {"/v1/auth/signup", "/v1/auth/2fa/verify"}:
        assert without.status_code == answer.status_code


async def test_details_do_not_repeat_what_was_sent(door: Installation) -> None:
    body = {"email": "bea@people.test", "password": "short", "org_name": ""}
    answer = await door.stranger.post("/v1/auth/signup", json=body)

    assert INVALID == outcome(answer)
    assert {"password", "org_name"} == {one["field"] for one in answer.json()["error"]["details"]}
    assert "short" not in answer.text.replace("shorter", "")


async def test_a_megabyte_passes(door: Installation) -> None:
    body = json.dumps({"email": "bea@people.test", "password": "x"})
    # Spaces are JSON, too.
    content = body.ljust(MEGABYTE)

    answer = await door.stranger.post(
        "/v1/auth/login", content=content, headers={"Content-Type": "application/json"}
    )

    assert (401, "authentication_failed") == outcome(answer)


async def test_few_large_bodies_arrive_at_once(door: Installation) -> None:
    """A slow megabyte on each of many connections would fill the memory."""
    large, small = {"email": 70_000 * "x"}, {"email": "a@recibo.test"}
    for _ in range(32):
        await door.services.large_bodies.acquire()
    refused = await door.stranger.post("/v1/auth/magic-link", json=large)
    passed = await door.stranger.post("/v1/auth/magic-link", json=small)
    door.services.large_bodies.release()
    judged = [await door.stranger.post("/v1/auth/magic-link", json=large) for _ in range(2)]

    assert (503, "1") == (refused.status_code, refused.headers["Retry-After"])
    assert 202 == passed.status_code
    assert [400, 400] == [answer.status_code for answer in judged]
