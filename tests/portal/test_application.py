"""What holds for every page."""

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from recibo.portal import application as doors
from recibo.schemas.plans import SOLD
from tests.installation import Installation, client_of
from tests.portal import pages

if TYPE_CHECKING:
    from recibo.web.services import Services


def paths(method: str) -> list[str]:
    """Return the paths of pages that take a method."""
    # The routes depend on no service, only on whether plans are sold.
    services = SimpleNamespace(identity=SimpleNamespace(plans=SOLD))
    described = doors.create_app(cast("Services", services)).openapi()["paths"]
    return [path for path, operations in described.items() if method in operations]


FOREIGN = {
    "another site": {"Origin": "https://evil.example"},
    "a page without an origin": {"Origin": "null"},
    "another port": {"Origin": "http://recibo.test:8080"},
    "another scheme": {"Origin": "https://recibo.test"},
    "by fetch metadata": {"Sec-Fetch-Site": "cross-site"},
    "a header that exempts from the rule elsewhere": {
        "Origin": "https://evil.example",
        "Authorization": "Bearer x",
    },
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_forms_from_other_sites_are_refused(
    sqlite_service: Installation, headers: Mapping[str, str]
) -> None:
    assert len(paths("post")) > 9
    for path in paths("post"):
        answer = await sqlite_service.stranger.post(path, data={"token": "x"}, headers=headers)

        assert 403 == answer.status_code, path
        assert "another site" in pages.parse(answer).text
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://recibo.test", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {},
    ],
    ids=["of our own", "typed by hand", "from no browser"],
)
async def test_forms_from_our_own_pages_are_accepted(
    sqlite_service: Installation, headers: Mapping[str, str]
) -> None:
    answer = await sqlite_service.stranger.post("/portal/sign-out", headers=headers)

    assert (303, "/portal/sign-in?notice=signed-out") == (
        answer.status_code,
        answer.headers["location"],
    )


async def test_every_response_has_security_headers(sqlite_service: Installation) -> None:
    client = sqlite_service.stranger
    answers = [
        *[await client.get(path) for path in ("/", "/portal/", *paths("get"))],
        await client.get("/portal/nowhere"),
        await client.get("/portal/sign-out"),
        await client.get("/portal/static/nothing.css"),
        await client.post("/portal/sign-in", data={}),
        await client.post("/portal/sign-in", headers={"Origin": "null"}),
    ]

    assert {200, 303, 400, 403, 404, 405} == {answer.status_code for answer in answers}
    for answer in answers:
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} <= set(policy)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "no-store" == answer.headers["cache-control"]
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert "strict-origin" == answer.headers["referrer-policy"]
        assert answer.headers["x-request-id"]


async def test_pages_have_no_inline_script_or_style(sqlite_service: Installation) -> None:
    for path in paths("get"):
        text = (await sqlite_service.stranger.get(path, params={"token": "x"})).text

        assert None is re.search(r"<script(?! src=\"/portal/static/)", text)
        assert "<style" not in text
        assert " style=" not in text
        assert "://" not in text, "nothing is loaded from afar"


async def test_every_field_has_a_label_and_autocomplete(
    sqlite_service: Installation,
) -> None:
    # The style page shows groups of choices, whose labels belong to values.
    for path in set(paths("get")) - {"/portal/style"}:
        answer = await sqlite_service.stranger.get(path)
        if answer.status_code == 200:
            page = pages.parse(answer)
            seen = {name for name, one in page.inputs.items() if one.get("type") != "hidden"}
            assert seen == set(page.labels)
            assert all(page.inputs[name]["autocomplete"] for name in seen)


async def test_root_redirects_to_the_portal(sqlite_service: Installation) -> None:
    answers = [await sqlite_service.stranger.get(path) for path in ("/", "/portal/")]

    assert [(303, "/portal")] * 2 == [
        (answer.status_code, answer.headers["location"]) for answer in answers
    ]


async def test_head_is_answered_like_get_without_a_body(sqlite_service: Installation) -> None:
    got = await sqlite_service.stranger.get("/portal/sign-in")
    asked = await sqlite_service.stranger.head("/portal/sign-in")

    assert 200 == asked.status_code
    assert b"" == asked.content
    assert got.headers["content-length"] == asked.headers["content-length"]


async def test_wrong_method_gets_the_allowed_methods(sqlite_service: Installation) -> None:
    answers = [
        await sqlite_service.stranger.put(path) for path in ("/portal/sign-in", "/portal/sign-out")
    ]

    assert [(405, "GET, POST"), (405, "POST")] == [
        (answer.status_code, answer.headers["allow"]) for answer in answers
    ]


async def test_unknown_pages_are_pages_and_unknown_paths_of_the_api_are_json(
    sqlite_service: Installation,
) -> None:
    page = await sqlite_service.stranger.get("/portal/nowhere")
    other = await sqlite_service.stranger.get("/portalx")

    assert 404 == page.status_code
    assert "Page not found · Recibo" == pages.parse(page).title
    assert (404, "not_found") == (other.status_code, other.json()["error"]["code"])


async def test_static_files_are_cacheable_under_a_content_hash(
    sqlite_service: Installation,
) -> None:
    page = (await sqlite_service.stranger.get("/portal/sign-in")).text
    address = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    answer = await sqlite_service.stranger.get(address)

    assert "?v=" in address
    assert (200, "text/css; charset=utf-8") == (answer.status_code, answer.headers["content-type"])
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b'{"email": "ana@people.test"}', "application/json"),
        (b"email=ana%40people.test", "text/plain"),
        (b"--b\r\n\r\n--b--", "multipart/form-data; boundary=b"),
        (b"email=a&password=" + b"x" * 64 * 1024, "application/x-www-form-urlencoded"),
        (b"email=%00", "application/x-www-form-urlencoded"),
        (b"%00=x", "application/x-www-form-urlencoded"),
        (b"email=%ED%A0%80", "application/x-www-form-urlencoded"),
        (b"email=%FF", "application/x-www-form-urlencoded"),
        ("email=ä".encode(), "application/x-www-form-urlencoded"),
        (b"&".join([b"a=b"] * 121), "application/x-www-form-urlencoded"),
    ],
    ids=[
        "JSON", "text", "multipart", "too large", "NUL", "NUL in a name", "half of a surrogate",
        "no UTF-8", "not encoded", "too many fields",
    ],
)  # fmt: skip
async def test_malformed_form_is_refused(
    sqlite_service: Installation, body: bytes, media_type: str
) -> None:
    answer = await sqlite_service.stranger.post(
        "/portal/sign-in", content=body, headers={"Content-Type": media_type}
    )

    assert 400 == answer.status_code
    assert "That did not work · Recibo" == pages.parse(answer).title


async def test_unexpected_error_page_has_the_request_id(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "SELECT secret FROM /etc/passwd"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("recibo.services.identity.password_auth.sign_in", fail)
    form = {"email": "ana@people.test", "password": "x"}

    answer = await sqlite_service.stranger.post("/portal/sign-in", data=form)

    assert 500 == answer.status_code
    assert answer.headers["x-request-id"] in pages.parse(answer).text
    assert "passwd" not in answer.text
    assert "no-store" == answer.headers["cache-control"]
    assert any(line["event"] == "request failed" for line in sqlite_service.logs)


async def test_submitted_values_are_escaped(sqlite_service: Installation) -> None:
    """Whatever was typed comes back on the form that is refused."""
    hostile = "\"><script>alert(1)</script><img src=x onerror='x'>"
    answer = await sqlite_service.stranger.post("/portal/sign-up", data={"org_name": hostile})

    assert hostile == pages.parse(answer).inputs["org_name"]["value"]
    assert "<script" not in answer.text


async def test_cookies_are_those_of_the_api_and_secure(
    sqlite_service: Installation,
) -> None:
    form = {"email": "ana@people.test", "password": "long enough", "org_name": "Aurora"}
    async with client_of(sqlite_service.asgi) as client:
        client.base_url = "https://recibo.test"
        answer = await client.post("/portal/sign-up", data=form)

    cookies = answer.headers.get_list("set-cookie")
    assert ["service_access", "service_refresh"] == [one.partition("=")[0] for one in cookies]
    for cookie in cookies:
        assert {"HttpOnly", "SameSite=Lax", "Path=/", "Secure"} <= set(cookie.split("; "))
