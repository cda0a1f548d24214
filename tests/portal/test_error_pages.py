"""Pages of errors: they speak to people, and who is signed in keeps the ways on."""

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from recibo.errors import (
    Conflict,
    CrossSiteRequest,
    HeadersTooLarge,
    InsufficientScope,
    LowConfidence,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    RequestTimeout,
    ServerError,
    ServiceError,
    ValidationFailed,
)
from recibo.portal import error_messages
from recibo.schemas.states import Role
from recibo.web.http_protocol import REFUSAL
from tests import people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

CROSS_SITE = {"Origin": "https://elsewhere.test"}
# Words of requests, not of pages.
TECHNICAL = ("multipart", "retry_after", "`", "user_id", "Content-Type", "scope ", "cursor", "POST")


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/portal/nowhere", {}, 404),
        ("GET", "/portal/receipts/rcp_0", {}, 404),
        ("GET", "/portal/analytics?from=soon", {}, 400),
        ("DELETE", "/portal/receipts", {}, 405),
        ("POST", "/portal/security/end-sessions", CROSS_SITE, 403),
    ],
)
async def test_error_pages_keep_navigation_and_sign_out(
    sqlite_service: Installation, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    await accounts.sign_up(sqlite_service.stranger)
    answer = await sqlite_service.stranger.request(method, path, headers=headers)

    page = pages.parse(answer)
    assert status == answer.status_code
    assert ("post", "/portal/sign-out") in page.forms
    assert "/portal/receipts" in page.links
    assert not [word for word in TECHNICAL if word in page.text]


async def test_page_for_a_refused_role_keeps_navigation(sqlite_service: Installation) -> None:
    viewer = await people.joined(
        sqlite_service, await people.signed_up(sqlite_service), Role.VIEWER
    )
    client = await forms.sign_in_as(sqlite_service, viewer)
    answer = await client.get("/portal/keys")

    page = pages.parse(answer)
    assert 403 == answer.status_code
    assert ("post", "/portal/sign-out") in page.forms
    assert "/portal/keys" not in page.links


async def test_page_of_an_unexpected_error_keeps_navigation(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        message = "unexpected"
        raise RuntimeError(message)

    await accounts.sign_up(sqlite_service.stranger)
    monkeypatch.setattr("recibo.services.identity.members.in_join_order", broken)
    answer = await sqlite_service.stranger.get("/portal/members")

    assert 500 == answer.status_code
    assert ("post", "/portal/sign-out") in pages.parse(answer).forms


async def test_anonymous_users_see_no_navigation(sqlite_service: Installation) -> None:
    page = pages.parse(await sqlite_service.stranger.get("/portal/nowhere"))

    assert [] == page.forms
    assert "/portal/receipts" not in page.links


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NotFound(), "This page does not exist or was removed."),
        (NotFound("There is no receipt with this id."), "There is no receipt with this id."),
        (
            ValidationFailed.of("days", "is one of 7, 30"),
            "The number of days must be one of 7, 30.",
        ),
        (ValidationFailed.of("name", "has 1 to 9 characters"), "Name must have 1 to 9 characters."),
        (ValidationFailed.of("file", "Choose a file."), "Choose a file."),
        (InsufficientScope.lacking("role", "owner"), "Only an owner can do this."),
        (
            InsufficientScope.lacking("permission", "x:y"),
            "Your role does not allow this. Ask an owner or admin of your organization.",
        ),
        (RateLimitExceeded(retry_after=1), "Too many attempts. Try again in 1 second."),
        (RateLimitExceeded(retry_after=60), "Too many attempts. Try again in a minute."),
        (RateLimitExceeded(retry_after=600), "Too many attempts. Try again in 10 minutes."),
        (RateLimitExceeded(retry_after=36_000), "Too many attempts. Try again in 10 hours."),
        (RateLimitExceeded(retry_after=864_000), "Too many attempts. Try again in 10 days."),
        (RateLimitExceeded("The quota is used up."), "The quota is used up."),
        (Overloaded(retry_after=5), "The service is busy. Try again in 5 seconds."),
        (Conflict("Revoke a key first."), "Revoke a key first."),
    ],
)
def test_sentence_of_an_error(error: ServiceError, said: str) -> None:
    assert said == error_messages.sentence(error)


@pytest.mark.parametrize(
    "kind",
    [
        CrossSiteRequest,
        HeadersTooLarge,
        MethodNotAllowed,
        Overloaded,
        RequestTimeout,
        ServerError,
        ValidationFailed,
    ],
)
def test_every_error_has_a_sentence_for_people(kind: type[ServiceError]) -> None:
    assert error_messages.sentence(kind()) != kind.__doc__


@pytest.mark.parametrize(
    ("language", "title", "said"),
    [
        ("en", "That did not work", "Delete the cookies of this site and try again."),
        ("pt-BR", "Não deu certo", "Exclua os cookies deste site e tente de novo."),
    ],
)
async def test_what_the_server_refuses_itself_is_a_page_too(
    sqlite_service: Installation, language: str, title: str, said: str
) -> None:
    headers = {"X-Long": "a" * 70_000, "Accept-Language": language}
    answer = await sqlite_service.stranger.get("/portal/sign-in", headers=headers)
    of_api = await sqlite_service.stranger.get("/v1/key", headers=headers)

    page = pages.parse(answer)
    assert [431, 431] == [answer.status_code, of_api.status_code]
    assert f"{title} · Recibo" == page.title
    assert said in page.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "headers_too_large" == of_api.json()["error"]["code"]


async def test_page_of_a_surplus_connection_says_when_to_try_again(
    sqlite_service: Installation,
) -> None:
    async def crowded(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {REFUSAL: Overloaded(retry_after=1)}
        await sqlite_service.asgi(scope, receive, send)

    transport = httpx.ASGITransport(app=crowded)
    async with httpx.AsyncClient(transport=transport, base_url="http://recibo.test") as client:
        answer = await client.get("/portal/receipts?x=1")
        of_api = await client.get("/v1/key")

    page = pages.parse(answer)
    assert [503, 503] == [answer.status_code, of_api.status_code]
    assert "Not available at the moment · Recibo" == page.title
    assert "The service is busy. Try again in 1 second." in page.text
    assert "/portal/receipts?x=1" in page.links
    assert ["1", "1"] == [one.headers["Retry-After"] for one in (answer, of_api)]
    assert "server_error" == of_api.json()["error"]["code"]


FAILURES = {
    "busy": (Overloaded(retry_after=5), 503, "Not available at the moment", "in 5 seconds"),
    "broken": (RuntimeError("unexpected"), 500, "Something went wrong", "in a moment"),
    "unreadable": (LowConfidence(), 422, "The document cannot be read", "sharper"),
    "conflict": (Conflict("Revoke a key first."), 409, "That did not work", "Revoke a key first."),
}


@pytest.mark.parametrize("kind", FAILURES)
async def test_page_of_a_failure_says_what_happened_and_what_may_pass_is_tried_again(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    error, status, title, said = FAILURES[kind]

    async def fail(*_: object, **__: object) -> None:
        raise error

    await accounts.sign_up(sqlite_service.stranger)
    monkeypatch.setattr("recibo.services.identity.members.in_join_order", fail)
    answer = await sqlite_service.stranger.get("/portal/members?x=1")

    page = pages.parse(answer)
    assert status == answer.status_code
    assert f"{title} · Recibo" == page.title
    assert said in page.text
    assert (status >= 500) == ("/portal/members?x=1" in page.links)
    assert ("5" if kind == "busy" else None) == answer.headers.get("Retry-After")
