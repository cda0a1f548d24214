"""Signing up, in and out on pages."""

import datetime as dt

import httpx
import pytest

from recibo.lib import clock
from recibo.portal import next_paths
from tests.databases import ON_SQLITE
from tests.installation import Installation, client_of
from tests.people import PASSWORD
from tests.portal import accounts, pages
from tests.portal.accounts import EMAIL, SIGNUP

pytestmark = ON_SQLITE

WRONG = "wrong password"
ACCESS_LIFE = dt.timedelta(minutes=16)
REFRESH_LIFE = dt.timedelta(days=31)


async def test_sign_up_redirects_to_the_home_page_with_the_user(service: Installation) -> None:
    answer = await accounts.sign_up(service.stranger)
    page = await accounts.home(service.stranger)

    assert "/portal" == answer.headers["location"]
    assert page is not None
    assert "Welcome, Ana Lima" in page.text
    assert "Signed in as ana@people.test" in page.text
    assert "Owner of Aurora" in page.text
    assert "Please confirm your email address" in page.text
    assert {"/docs", "/portal/webhooks"} <= set(page.links)


async def test_portal_session_works_for_the_api(service: Installation) -> None:
    await accounts.sign_up(service.stranger)

    me = await service.stranger.get("/v1/auth/me")

    assert (200, EMAIL) == (me.status_code, me.json()["user"]["email"])


async def test_pages_use_the_cookie_and_ignore_the_authorization_header(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)
    token = service.stranger.cookies["service_access"]
    basic = {"Authorization": "Basic YW5hOnNlY3JldA=="}
    with_cookie = await service.stranger.get("/portal", headers=basic)
    service.stranger.cookies.clear()
    alone = await service.stranger.get("/portal", headers={"Authorization": f"Bearer {token}"})

    assert 200 == with_cookie.status_code
    assert f"Signed in as {EMAIL}" in pages.parse(with_cookie).text
    assert accounts.redirect_target(alone).startswith("/portal/sign-in")


async def test_signing_out_removes_the_session_from_the_browser(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    answer = await service.stranger.post("/portal/sign-out")
    page = pages.parse(await service.stranger.get(accounts.redirect_target(answer)))

    assert "You are signed out." == page.by_role["status"]
    assert {} == dict(service.stranger.cookies)
    assert await accounts.home(service.stranger) is None


async def test_get_cannot_sign_out(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    answer = await service.stranger.get("/portal/sign-out")

    assert 405 == answer.status_code
    assert await accounts.home(service.stranger) is not None


async def test_signing_in_by_password(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    service.stranger.cookies.clear()

    answer = await accounts.sign_in(service.stranger, email=" Ana@People.test ")

    assert "/portal" == accounts.redirect_target(answer)
    assert await accounts.home(service.stranger) is not None


async def test_wrong_password_shows_an_error_and_is_not_rendered_again(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)
    service.stranger.cookies.clear()

    answer = await accounts.sign_in(service.stranger, password=WRONG, next="/docs")

    page = pages.parse(answer)
    assert 401 == answer.status_code
    assert "www-authenticate" in answer.headers
    assert "The e-mail address or the password is wrong." == page.alert
    assert (EMAIL, "/docs") == (page.inputs["email"]["value"], page.inputs["next"]["value"])
    assert WRONG not in answer.text
    assert {} == dict(service.stranger.cookies)
    assert page.title.startswith("Error: ")


async def test_too_many_wrong_passwords_say_when_to_retry(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    for _ in range(10):
        answer = await accounts.sign_in(service.stranger, password=WRONG)
        assert 401 == answer.status_code

    answer = await accounts.sign_in(service.stranger)

    assert 429 == answer.status_code
    assert "Too many attempts. Try again in 15 minutes." == pages.parse(answer).alert
    assert 0 < int(answer.headers["retry-after"]) <= 15 * 60


async def test_each_invalid_field_has_its_error(sqlite_service: Installation) -> None:
    form = {"email": " ", "password": "short", "full_name": "x" * 256, "org_name": ""}
    answer = await sqlite_service.stranger.post("/portal/sign-up", data=form)

    page = pages.parse(answer)
    assert 400 == answer.status_code
    assert "Email is required." == page.error("email")
    assert "Password needs at least 8 characters." == page.error("password")
    assert "Your name may have at most 255 characters." == page.error("full_name")
    assert "Organization is required." == page.error("org_name")
    assert "Please correct the fields marked below." == page.alert
    assert "x" * 256 == page.inputs["full_name"]["value"]
    assert "" == page.inputs["password"]["value"]


@pytest.mark.parametrize(
    ("email", "said"),
    [
        ("ana", "An email address must have an @-sign."),
        ("ana@tempmail.com", "Email is on a disposable domain; use a lasting address."),
    ],
)
async def test_errors_of_services_are_shown_at_their_field(
    sqlite_service: Installation, email: str, said: str
) -> None:
    answer = await sqlite_service.stranger.post("/portal/sign-up", data={**SIGNUP, "email": email})

    assert 400 == answer.status_code
    assert said == pages.parse(answer).error("email")


async def test_registered_address_shows_an_error(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    answer = await service.stranger.post("/portal/sign-up", data=SIGNUP)

    assert 409 == answer.status_code
    assert "registered already" in pages.parse(answer).alert


async def test_empty_form_has_an_error_at_each_field(
    sqlite_service: Installation,
) -> None:
    page = pages.parse(await sqlite_service.stranger.post("/portal/sign-in", data={"email": ""}))

    assert "Email is required." == page.error("email")
    assert "Password is required." == page.error("password")


async def test_signed_in_users_are_redirected_from_the_forms(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    answers = [
        await service.stranger.get(f"/portal/{page}?next={wanted}")
        for page in ("sign-in", "sign-up")
        for wanted in ("", "/docs", "//evil.example")
    ]

    assert ["/portal", "/docs", "/portal"] * 2 == [
        accounts.redirect_target(answer) for answer in answers
    ]


async def test_pages_redirect_anonymous_users_to_sign_in_and_back(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    service.stranger.cookies.clear()
    asked = accounts.redirect_target(await service.stranger.get("/portal/set-password?a=b&c=/d"))
    page = pages.parse(await service.stranger.get(asked))
    wanted = page.inputs["next"]["value"] or ""

    answer = await accounts.sign_in(service.stranger, next=wanted)

    assert "/portal/set-password?a=b&c=/d" == wanted == accounts.redirect_target(answer)


async def test_forms_redirect_anonymous_users_to_sign_in(sqlite_service: Installation) -> None:
    answers = [
        await sqlite_service.stranger.post(path, data={"new_password": PASSWORD})
        for path in ("/portal/set-password", "/portal/verify-email/resend")
    ]

    assert ["/portal/sign-in"] * 2 == [accounts.redirect_target(answer) for answer in answers]


ELSEWHERE = [
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "//[",
    "https:evil.example", "https://evil.example", "javascript:alert(1)", "data:text/html,x", "evil",
    "/\t/evil.example", "/\n/evil.example", "\t//evil.example", " //evil.example",
    "/ /evil.example", "?next=/", "", "/portal\r\nSet-Cookie: a=b",
    "/\u2028/evil.example", "/" + "x" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_unsafe_paths_become_the_home_page(wanted: str) -> None:
    assert "/portal" == next_paths.of(wanted)


@pytest.mark.parametrize("wanted", ["/", "/docs", "/portal/a?b=c&d=%2F%2Fe#f", "/é", "/a//b"])
def test_local_paths_are_kept(wanted: str) -> None:
    assert wanted == next_paths.of(wanted)


@pytest.mark.parametrize("wanted", ["//evil.example", "/\\evil.example", "https:evil.example"])
async def test_sign_in_never_redirects_to_another_site(service: Installation, wanted: str) -> None:
    answers = [
        await accounts.sign_up(service.stranger, next=wanted),
        await accounts.sign_in(service.stranger, next=wanted),
        await service.stranger.get("/portal/sign-in", params={"next": wanted}),
    ]

    assert ["/portal"] * 3 == [accounts.redirect_target(answer) for answer in answers]


async def test_session_continues_after_its_access_token_expires(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    before = dict(service.stranger.cookies)
    with clock.moved(ACCESS_LIFE):
        page = await accounts.home(service.stranger)
        after = dict(service.stranger.cookies)

    assert page is not None
    assert before.keys() == after.keys() == {"service_access", "service_refresh"}
    assert before["service_access"] != after["service_access"]
    assert before["service_refresh"] != after["service_refresh"]


async def test_session_continues_from_a_form_without_the_access_cookie(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)
    del service.stranger.cookies["service_access"]

    answer = await service.stranger.post("/portal/verify-email/resend")

    assert 202 == answer.status_code
    assert EMAIL in pages.parse(answer).text
    assert "service_access" in service.stranger.cookies


async def test_two_tabs_can_refresh_with_one_cookie(
    service: Installation,
) -> None:
    await accounts.sign_up(service.stranger)
    refresh = {"Cookie": f"service_refresh={service.stranger.cookies['service_refresh']}"}
    async with client_of(service.asgi, headers=refresh) as tab:
        answers = [await _get_home(tab), await _get_home(tab)]

    assert [200, 200] == [answer.status_code for answer in answers]


async def _get_home(client: httpx.AsyncClient) -> httpx.Response:
    client.cookies.clear()
    return await client.get("/portal")


@pytest.mark.parametrize("name", ["service_access", "service_refresh"])
async def test_invalid_cookies_are_no_session(sqlite_service: Installation, name: str) -> None:
    sqlite_service.stranger.cookies.set(name, "not.a.token")

    assert "/portal/sign-in" == accounts.redirect_target(
        await sqlite_service.stranger.get("/portal")
    )


async def test_expired_session_redirects_to_sign_in(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    with clock.moved(REFRESH_LIFE):
        answer = await service.stranger.get("/portal")

    assert "/portal/sign-in" == accounts.redirect_target(answer)
