"""Links in mails: pages that change nothing until their button is pressed."""

import pytest

from recibo.schemas.states import MailTokenKind
from tests.databases import ON_SQLITE
from tests.installation import Installation, client_of
from tests.portal import accounts, pages
from tests.portal.accounts import EMAIL

pytestmark = ON_SQLITE

OTHER = "another long password"
PAGES = {
    "magic-link": MailTokenKind.MAGIC_LINK,
    "verify-email": MailTokenKind.VERIFY_EMAIL,
    "reset-password": MailTokenKind.PASSWORD_RESET,
}
BROWSER = {"User-Agent": "browser"}


async def user_id(i: Installation) -> str:
    """Sign a user up and return the id; the client keeps no session."""
    await accounts.sign_up(i.stranger)
    me = await i.stranger.get("/v1/auth/me")
    i.stranger.cookies.clear()
    return str(me.json()["user"]["id"])


@pytest.mark.parametrize("page", PAGES)
async def test_opening_a_link_does_not_use_it_up(service: Installation, page: str) -> None:
    """Programs that look for harmful mail open every link, some of them in a browser."""
    token = await accounts.mint_token(service, PAGES[page], await user_id(service))
    path = f"/portal/{page}"
    async with client_of(service.asgi, address="192.0.2.1") as scanner:
        seen = [await scanner.get(path, params={"token": token}) for _ in range(3)]
        await scanner.head(path, params={"token": token})
        kept = dict(scanner.cookies)
    page_before = pages.parse(seen[0])

    answer = await service.stranger.post(path, data={"token": token, "new_password": OTHER})

    assert {200} == {one.status_code for one in seen}
    assert {} == kept
    assert [("post", path)] == page_before.forms
    assert ("hidden", token) == tuple(
        page_before.inputs["token"][name] for name in ("type", "value")
    )
    assert answer.status_code in (200, 303)


@pytest.mark.parametrize("page", PAGES)
async def test_link_works_once(service: Installation, page: str) -> None:
    token = await accounts.mint_token(service, PAGES[page], await user_id(service))
    form = {"token": token, "new_password": OTHER}
    first = await service.stranger.post(f"/portal/{page}", data=form)
    service.stranger.cookies.clear()

    second = await service.stranger.post(f"/portal/{page}", data=form)

    error = pages.parse(second)
    assert first.status_code in (200, 303)
    assert 400 == second.status_code
    assert error.alert == "The link is unknown, was used or has expired; ask for a new one."
    # Another one can be put in its place.
    assert ("text", "") == (error.inputs["token"]["type"], error.inputs["token"]["value"])
    assert {} == dict(service.stranger.cookies)


@pytest.mark.parametrize("page", [*PAGES, "accept-invite"])
async def test_token_can_be_pasted_without_a_link(sqlite_service: Installation, page: str) -> None:
    page_before = pages.parse(await sqlite_service.stranger.get(f"/portal/{page}"))
    form = {"token": " ", "new_password": OTHER}
    refused = await sqlite_service.stranger.post(f"/portal/{page}", data=form)

    assert "Code from the email" == page_before.labels["token"]
    assert 400 == refused.status_code
    assert "Code from the email is required." == pages.parse(refused).error("token")


async def test_magic_link_signs_in(service: Installation) -> None:
    token = await accounts.mint_token(service, MailTokenKind.MAGIC_LINK, await user_id(service))

    answer = await service.stranger.post("/portal/magic-link", data={"token": f" {token} "})

    page = await accounts.home(service.stranger)
    assert "/portal" == accounts.redirect_target(answer)
    assert page is not None
    assert "Please confirm your email address" not in page.text


async def test_invalid_magic_link_keeps_the_session(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)

    await service.stranger.post("/portal/magic-link", data={"token": "x" * 32})

    assert await accounts.home(service.stranger) is not None


@pytest.mark.parametrize("path", ["/portal/magic-link/request", "/portal/forgot-password"])
async def test_requesting_a_link_does_not_reveal_accounts(service: Installation, path: str) -> None:
    await user_id(service)
    answers = [
        await service.stranger.post(path, data={"email": email, "password": ""})
        for email in (EMAIL, "bob@people.test")
    ]

    known, unknown = (pages.parse(answer).text for answer in answers)
    assert [202, 202] == [answer.status_code for answer in answers]
    assert f"If there is an account for {EMAIL}, we sent it a link." in known
    assert known.replace(EMAIL, "bob@people.test") == unknown


@pytest.mark.parametrize("path", ["/portal/magic-link/request", "/portal/forgot-password"])
async def test_requesting_a_link_for_an_invalid_address_is_refused(
    sqlite_service: Installation, path: str
) -> None:
    answer = await sqlite_service.stranger.post(path, data={"email": "invalid"})

    assert 400 == answer.status_code
    assert "must have an @-sign" in pages.parse(answer).error("email")


async def test_address_is_verified_and_shown(service: Installation) -> None:
    token = await accounts.mint_token(service, MailTokenKind.VERIFY_EMAIL, await user_id(service))

    answer = await service.stranger.post("/portal/verify-email", data={"token": token})

    await accounts.sign_in(service.stranger)
    page = await accounts.home(service.stranger)
    assert f"{EMAIL} is confirmed." in pages.parse(answer).text
    assert page is not None
    assert "Please confirm your email address" not in page.text


async def test_reset_sets_the_password_without_signing_in(service: Installation) -> None:
    token = await accounts.mint_token(service, MailTokenKind.PASSWORD_RESET, await user_id(service))
    form = {"token": token, "new_password": OTHER}

    answer = await service.stranger.post("/portal/reset-password", data=form)

    assert "Your new password is set" in pages.parse(answer).text
    assert await accounts.home(service.stranger) is None
    assert 401 == (await accounts.sign_in(service.stranger)).status_code
    assert 303 == (await accounts.sign_in(service.stranger, password=OTHER)).status_code


async def test_reset_shows_the_account_for_people_and_password_managers(
    service: Installation,
) -> None:
    token = await accounts.mint_token(service, MailTokenKind.PASSWORD_RESET, await user_id(service))
    asked = pages.parse(
        await service.stranger.get("/portal/reset-password", params={"token": token})
    )
    form = {"token": token, "new_password": "short", "username": EMAIL}
    again = pages.parse(await service.stranger.post("/portal/reset-password", data=form))

    for page in (asked, again):
        field = page.inputs["username"]
        assert (EMAIL, "username") == (field["value"], field["autocomplete"])
        assert "hidden" in field
        assert f"For {EMAIL}." in page.text


async def test_invalid_reset_link_shows_an_error_before_the_form(
    service: Installation,
) -> None:
    token = await accounts.mint_token(service, MailTokenKind.PASSWORD_RESET, await user_id(service))
    form = {"token": token, "new_password": OTHER}
    await service.stranger.post("/portal/reset-password", data=form)

    answer = await service.stranger.get("/portal/reset-password", params={"token": token})

    page = pages.parse(answer)
    assert 400 == answer.status_code
    assert "ask for a new one" in page.alert
    assert EMAIL not in page.text


async def test_reset_keeps_the_current_session_and_ends_the_others(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)
    me = await service.stranger.get("/v1/auth/me")
    token = await accounts.mint_token(
        service, MailTokenKind.PASSWORD_RESET, me.json()["user"]["id"]
    )
    async with client_of(service.asgi) as elsewhere:
        await accounts.sign_in(elsewhere)
        before = await accounts.home(elsewhere)
        form = {"token": token, "new_password": OTHER}
        answer = await service.stranger.post("/portal/reset-password", data=form)
        after = await accounts.home(elsewhere)

    assert "/portal" == accounts.redirect_target(answer)
    assert await accounts.home(service.stranger) is not None
    assert (True, False) == (before is not None, after is not None)


async def test_short_password_keeps_the_link_valid_and_the_token_on_the_form(
    service: Installation,
) -> None:
    token = await accounts.mint_token(service, MailTokenKind.PASSWORD_RESET, await user_id(service))
    short = await service.stranger.post(
        "/portal/reset-password", data={"token": token, "new_password": "short"}
    )
    page = pages.parse(short)
    again = {"token": page.inputs["token"]["value"] or "", "new_password": OTHER}

    answer = await service.stranger.post("/portal/reset-password", data=again)

    assert "New password needs at least 8 characters." == page.error("new_password")
    assert "hidden" == page.inputs["token"]["type"]
    assert "short" not in short.text
    assert 200 == answer.status_code


async def test_disabled_account_has_an_error_on_the_form(service: Installation) -> None:
    token = await accounts.mint_token(service, MailTokenKind.MAGIC_LINK, await user_id(service))
    await accounts.disable_user(service, EMAIL)

    answer = await service.stranger.post("/portal/magic-link", data={"token": token})

    assert (401, "This account is disabled.") == (
        answer.status_code, pages.parse(answer).alert
    )  # fmt: skip
