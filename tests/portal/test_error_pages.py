"""Pages of errors: they speak to people, and who is signed in keeps the ways on."""

import pytest

from recibo.errors import (
    Conflict,
    CrossSiteRequest,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    ServerError,
    ServiceError,
    ValidationFailed,
)
from recibo.portal import error_messages
from recibo.schemas.states import Role
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
        (InsufficientScope.lacking("permission", "x:y"), "Your role does not allow this."),
        (RateLimitExceeded(retry_after=30), "Too many attempts. Try again in a minute."),
        (RateLimitExceeded(retry_after=600), "Too many attempts. Try again in 10 minutes."),
        (RateLimitExceeded(retry_after=36_000), "Too many attempts. Try again in 10 hours."),
        (RateLimitExceeded(retry_after=864_000), "Too many attempts. Try again in 10 days."),
        (RateLimitExceeded("The quota is used up."), "The quota is used up."),
        (Conflict("Revoke a key first."), "Revoke a key first."),
    ],
)
def test_sentence_of_an_error(error: ServiceError, said: str) -> None:
    assert said == error_messages.sentence(error)


@pytest.mark.parametrize(
    "kind", [CrossSiteRequest, MethodNotAllowed, ServerError, Overloaded, ValidationFailed]
)
def test_every_error_has_a_sentence_for_people(kind: type[ServiceError]) -> None:
    assert error_messages.sentence(kind()) != kind.__doc__
