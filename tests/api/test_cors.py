"""Which answers a page of another origin may read."""

import httpx
import pytest

from recibo.schemas.ids import OrgId
from tests import make
from tests.installation import Installation

ORIGIN = {"Origin": "https://shop.example"}
OPEN = ["/v1/extract", "/v1/receipts", "/v1/receipts/rcp_x", "/v1/receipts/rcp_x/file"]
OWN_ORIGIN_ONLY = ["/v1/key", "/v1/api-keys", "/v1/audit", "/v1/auth/login", "/v1/auth/me",
                   "/v1/org", "/v1/receiptsx", "/v1/receipt", "/v1/nothing", "/healthz",
                   "/openapi.json", "/docs", "/portal", "/"]  # fmt: skip
READABLE = {"X-Session-Token", "X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining",
            "X-RateLimit-Reset", "Retry-After"}  # fmt: skip
ASKED = "x-api-key, x-session-token, idempotency-key, content-type"


def is_open(answer: httpx.Response) -> bool:
    """Return whether any page may read an answer and its headers."""
    headers = answer.headers
    return (
        headers.get("Access-Control-Allow-Origin") == "*"
        and "Access-Control-Allow-Credentials" not in headers
        and set(headers["Access-Control-Expose-Headers"].split(", ")) >= READABLE
        and "X-Request-ID" in headers
    )


def is_silent(answer: httpx.Response) -> bool:
    """Return whether an answer says nothing to pages of other origins."""
    return not any(name.startswith("access-control-") for name in answer.headers)


async def preflight(i: Installation, path: str, method: str, **more: str) -> httpx.Response:
    """Ask as a browser does before it sends what is no plain form."""
    headers = {**ORIGIN, "Access-Control-Request-Method": method, **more}
    return await i.stranger.options(path, headers=headers)


async def test_good_answers_are_open(reading_door: Installation) -> None:
    org_id = OrgId((await reading_door.get("/key")).json()["org_id"])
    secret = await make.publishable_key(reading_door.database, org_id)
    for key in (reading_door.secret, secret):
        reading_door.client.headers.update({"X-API-Key": key, **ORIGIN})
        receipt = await reading_door.extract(make.jpeg(key), secret=key)
        path = f"/v1/receipts/{receipt.json()['id']}"
        answers = [
            receipt,
            await reading_door.client.get(path),
            await reading_door.client.get(f"{path}/file"),
            await reading_door.client.get("/v1/receipts"),
        ]

        assert [200] * 4 == [answer.status_code for answer in answers]
        assert all(is_open(answer) for answer in answers)


async def test_refusals_are_open(door: Installation) -> None:
    secret = await make.publishable_key(door.database, await make.org(door.database))
    key = {"X-API-Key": secret, **ORIGIN}
    answers = [
        await door.stranger.post("/v1/extract", headers=ORIGIN),
        await door.stranger.get("/v1/receipts", headers=ORIGIN),
        await door.stranger.post("/v1/extract", headers=key),
        await door.stranger.delete("/v1/receipts/rcp_x", headers=key),
        await door.stranger.get("/v1/receipts/rcp_x", headers=key),
        await door.stranger.get("/v1/receipts/rcp_x/nothing", headers=key),
        await door.stranger.put("/v1/extract", headers=key),
        await door.stranger.post("/v1/receipts", headers=key),
    ]

    assert [401, 401, 400, 403, 404, 404, 405, 405] == [one.status_code for one in answers]
    assert all(is_open(answer) for answer in answers)


@pytest.mark.parametrize("path", ["/v1/extract", "/v1/receipts"])
async def test_crash_is_open_too(
    door: Installation, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    async def crash(*_: object, **__: object) -> None:
        message = "no database"
        raise OSError(message)

    monkeypatch.setattr("recibo.services.identity.keys.authenticate", crash)
    method = "POST" if path == "/v1/extract" else "GET"

    answer = await door.client.request(method, path, headers=ORIGIN)

    assert (500, "server_error") == (answer.status_code, answer.json()["error"]["code"])
    assert is_open(answer)


async def test_the_rest_is_for_its_own_origin_only(door: Installation) -> None:
    for path in OWN_ORIGIN_ONLY:
        assert is_silent(await door.client.get(path, headers=ORIGIN)), path
        asked = await preflight(door, path, "POST")
        assert is_silent(asked), path
        assert not asked.is_success, path


@pytest.mark.parametrize("path", OPEN)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_preflight_names_what_may_be_sent(door: Installation, path: str, method: str) -> None:
    answer = await preflight(door, path, method, **{"Access-Control-Request-Headers": ASKED})

    assert 204 == answer.status_code
    assert is_open(answer)
    allowed = answer.headers["Access-Control-Allow-Methods"].split(", ")
    assert {"GET", "POST", "DELETE"} == set(allowed)
    named = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert set(ASKED.split(", ")) <= set(named)
    assert "authorization" not in named
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    assert b"" == answer.content


async def test_preflight_needs_no_key_and_asks_for_no_more_than_it_gets(
    door: Installation,
) -> None:
    """Browsers judge the lists by themselves; a page must hear of no key to be refused."""
    more = {"Access-Control-Request-Headers": "authorization, x-other"}

    answer = await preflight(door, "/v1/extract", "PUT", **more)

    assert 204 == answer.status_code
    assert "PUT" not in answer.headers["Access-Control-Allow-Methods"]
    assert "x-other" not in answer.headers["Access-Control-Allow-Headers"]


async def test_options_that_is_no_preflight_is_405(door: Installation) -> None:
    for path in OPEN:
        answer = await door.stranger.options(path, headers=ORIGIN)
        assert (405, "method_not_allowed") == (answer.status_code, answer.json()["error"]["code"])
        assert is_open(answer)


async def test_request_id_of_the_caller_is_kept_on_preflights(door: Installation) -> None:
    answer = await preflight(door, "/v1/receipts", "GET", **{"X-Request-ID": "mine-1"})

    assert "mine-1" == answer.headers["X-Request-ID"]
