"""The second factor on pages."""

import datetime as dt

import pytest

from recibo.lib import clock
from tests import second_factors
from tests.databases import ON_SQLITE
from tests.installation import Installation
from tests.portal import accounts, pages
from tests.second_factors import TwoFactorUser

pytestmark = ON_SQLITE

PENDING = dt.timedelta(minutes=6)
CODE = "/portal/second-factor"
RECOVERY = "/portal/second-factor/recovery"


async def half_in(i: Installation, **form: str) -> TwoFactorUser:
    """Sign a user in by password whose second factor is still pending."""
    who = await second_factors.two_factor_user(i)
    answer = await accounts.sign_in(i.stranger, **form)
    assert accounts.redirect_target(answer).startswith(CODE)
    return who


async def test_code_completes_the_sign_in_and_redirects(service: Installation) -> None:
    who = await half_in(service, next="/docs?a=b")
    page = pages.parse(await service.stranger.get(f"{CODE}?next=/docs%3Fa%3Db"))
    before = await accounts.home(service.stranger)

    form = {"code": who.code, "next": page.inputs["next"]["value"] or ""}
    answer = await service.stranger.post(CODE, data=form)

    assert before is None
    assert "one-time-code" == page.inputs["code"]["autocomplete"]
    assert "/docs?a=b" == accounts.redirect_target(answer)
    assert await accounts.home(service.stranger) is not None


async def test_code_may_contain_spaces(service: Installation) -> None:
    who = await half_in(service)

    answer = await service.stranger.post(CODE, data={"code": f" {who.code[:3]} {who.code[3:]} "})

    assert "/portal" == accounts.redirect_target(answer)


@pytest.mark.parametrize("path", [CODE, RECOVERY])
async def test_wrong_code_shows_an_error_on_the_form(service: Installation, path: str) -> None:
    who = await half_in(service)

    answer = await service.stranger.post(path, data={"code": who.wrong_code, "next": "/docs"})

    page = pages.parse(answer)
    assert 401 == answer.status_code
    assert page.alert
    assert ("", "/docs") == (page.inputs["code"]["value"], page.inputs["next"]["value"])
    assert await accounts.home(service.stranger) is None


async def test_sixth_wrong_code_says_when_to_retry(service: Installation) -> None:
    who = await half_in(service)
    for _ in range(5):
        assert 401 == (
            await service.stranger.post(CODE, data={"code": who.wrong_code})
        ).status_code  # fmt: skip

    answer = await service.stranger.post(CODE, data={"code": who.code})

    assert 429 == answer.status_code
    assert pages.parse(answer).alert.startswith("Too many attempts.")
    assert await accounts.home(service.stranger) is None


async def test_recovery_code_completes_the_sign_in_once(service: Installation) -> None:
    who = await half_in(service)
    form = {"code": who.recovery_codes[0].lower()}
    first = await service.stranger.post(RECOVERY, data=form)
    is_in = await accounts.home(service.stranger) is not None
    service.stranger.cookies.clear()
    await accounts.sign_in(service.stranger)

    second = await service.stranger.post(RECOVERY, data=form)

    assert "/portal" == accounts.redirect_target(first)
    assert is_in
    assert 401 == second.status_code


async def test_every_page_redirects_pending_sessions_to_the_code_and_back(
    service: Installation,
) -> None:
    await half_in(service)

    answer = await service.stranger.get("/portal/set-password")

    assert f"{CODE}?next=/portal/set-password" == accounts.redirect_target(answer)


async def test_pending_session_may_start_over(service: Installation) -> None:
    await half_in(service)

    answer = await service.stranger.get("/portal/sign-in")

    assert "Sign in · Recibo" == pages.parse(answer).title


@pytest.mark.parametrize("path", [CODE, RECOVERY])
async def test_code_form_redirects_requests_without_a_pending_session(
    service: Installation, path: str
) -> None:
    anonymous = [
        await service.stranger.get(f"{path}?next=/docs"),
        await service.stranger.post(path, data={"code": "000000"}),
    ]
    await accounts.sign_up(service.stranger)
    user = [
        await service.stranger.get(f"{path}?next=/docs"),
        await service.stranger.post(path, data={"code": "000000"}),
    ]

    assert ["/portal/sign-in?next=/docs", "/portal/sign-in"] == [
        *map(accounts.redirect_target, anonymous)
    ]
    assert ["/docs", "/portal"] == [*map(accounts.redirect_target, user)]


async def test_code_is_refused_after_five_minutes(service: Installation) -> None:
    who = await half_in(service)
    with clock.moved(PENDING):
        answer = await service.stranger.post(CODE, data={"code": who.code})
        page = pages.parse(answer)

    assert 401 == answer.status_code
    assert "sign in again" in page.alert
    assert "/portal/sign-in" in page.links
