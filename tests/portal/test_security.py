"""The page of the own account: name, password, second factor, sessions."""

import re

import httpx

from tests import people, second_factors
from tests.installation import Installation
from tests.people import PASSWORD
from tests.portal import accounts, forms, pages

PATH = "/portal/security"
OTHER = "another long password"
HOSTILE = "</p><script>alert(1)</script>"


async def signed_up(i: Installation) -> None:
    """Sign the browser up and keep its session, cookies and all."""
    await accounts.sign_up(i.stranger)


async def enrolled(i: Installation) -> tuple[str, list[str]]:
    """Switch the second factor on, and return its secret and the recovery codes."""
    answer = await i.stranger.post(f"{PATH}/two-factor/enroll")
    secret = secret_on(answer)
    code = second_factors.code_of(secret)
    done = await i.stranger.post(f"{PATH}/two-factor/confirm", data={"code": code})
    assert done.status_code == 200, done.text
    return secret, re.findall(r"<li><code>([\w-]+)</code>", done.text)


def secret_on(answer: httpx.Response) -> str:
    """Return the secret that a page of enrolment shows."""
    (secret,) = re.findall(r'<code class="secret">([A-Z2-7]{32})</code>', answer.text)
    return str(secret)


async def test_second_factor_is_set_up_used_and_switched_off(service: Installation) -> None:
    await signed_up(service)
    secret, codes = await enrolled(service)
    on = await forms.get_page(service, PATH)
    page = await service.stranger.get(PATH)
    with second_factors.new_step():
        code = second_factors.code_of(secret)
        said = await forms.submit(service, f"{PATH}/two-factor/disable", code=code)

    assert 10 == len(set(codes))
    assert "10 of 10 recovery codes are unused" in on.text
    assert not any(one in page.text for one in (secret, *codes))
    assert "Two-factor authentication is off." in said.by_role["status"]
    assert {f"{PATH}/two-factor/enroll"} == forms.form_actions(said, f"{PATH}/two-factor")


async def test_wrong_first_code_keeps_the_secret(
    sqlite_service: Installation,
) -> None:
    await signed_up(sqlite_service)
    first = await sqlite_service.stranger.post(f"{PATH}/two-factor/enroll")
    wrong = await sqlite_service.stranger.post(f"{PATH}/two-factor/confirm", data={"code": "12 34"})

    assert "no-store" == first.headers["cache-control"]
    assert f"secret={secret_on(first)}" in next(
        link for link in pages.parse(first).links if link.startswith("otpauth:")
    )
    assert 401 == wrong.status_code
    assert "The code is wrong" in pages.parse(wrong).alert
    assert secret_on(first) == secret_on(wrong)
    assert re.findall("<svg.*?</svg>", first.text) == re.findall("<svg.*?</svg>", wrong.text)


async def test_two_factor_changes_follow_the_rules_of_the_api(
    sqlite_service: Installation,
) -> None:
    await signed_up(sqlite_service)
    early = await forms.submit_refused(
        sqlite_service, f"{PATH}/two-factor/confirm", 400, code="123456"
    )
    off = await forms.submit_refused(
        sqlite_service, f"{PATH}/two-factor/disable", 400, code="123456"
    )
    _, codes = await enrolled(sqlite_service)
    twice = await forms.submit_refused(sqlite_service, f"{PATH}/two-factor/enroll", 409)
    recovery = await forms.submit_refused(
        sqlite_service, f"{PATH}/two-factor/disable", 401, code=codes[0]
    )

    assert "Start over." in early.alert
    assert "is off" in off.alert
    assert "is on already" in twice.alert
    assert "wrong" in recovery.alert
    assert "10 of 10" in recovery.text


async def test_changing_the_password_requires_the_current_one(service: Installation) -> None:
    await signed_up(service)
    form = {"current_password": OTHER, "new_password": OTHER}
    wrong = await service.stranger.post(f"{PATH}/password", data=form)
    missing = await forms.submit_refused(service, f"{PATH}/password", 400, new_password=OTHER)
    form = {"current_password": PASSWORD, "new_password": "short"}
    short = await forms.submit_refused(service, f"{PATH}/password", 400, **form)
    before = service.stranger.cookies["service_access"]
    form = {"current_password": PASSWORD, "new_password": OTHER}
    said = await forms.submit(service, f"{PATH}/password", **form)
    old = await service.stranger.get("/v1/auth/me", headers=people.bearer(before))
    service.stranger.cookies.clear()

    assert 401 == wrong.status_code
    assert OTHER not in wrong.text
    assert "is required" in missing.error("current_password")
    assert "8" in short.error("new_password")
    assert "Your password is set." in said.by_role["status"]
    assert 401 == old.status_code
    assert 303 == (await accounts.sign_in(service.stranger, password=OTHER)).status_code


async def test_all_other_sessions_end(service: Installation) -> None:
    await signed_up(service)
    before = service.stranger.cookies["service_access"]
    said = await forms.submit(service, f"{PATH}/end-sessions")
    old = await service.stranger.get("/v1/auth/me", headers=people.bearer(before))

    assert "have ended" in said.by_role["status"]
    assert 401 == old.status_code


async def test_name_is_changed_and_removed(sqlite_service: Installation) -> None:
    await signed_up(sqlite_service)
    named = await forms.submit(sqlite_service, f"{PATH}/name", name=HOSTILE)
    long = await forms.submit_refused(sqlite_service, f"{PATH}/name", 400, name="x" * 256)
    nameless = await forms.submit(sqlite_service, f"{PATH}/name", name=" ")

    assert HOSTILE == named.inputs["name"]["value"]
    assert "at most 255 characters" in long.error("name")
    assert "" == nameless.inputs["name"]["value"]


async def test_invitation_session_may_not_change_the_account(service: Installation) -> None:
    ana = await people.signed_up(service)
    await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await forms.sign_in_as(
        service, await people.join_by_invitation(service, ana, "bea@people.test")
    )
    page = await forms.get_page(service, PATH)

    assert "sign in with your password or an email link" in page.text
    assert {f"{PATH}/name"} == forms.form_actions(page, PATH)
    for path in ("password", "end-sessions", "two-factor/enroll"):
        form = {"new_password": OTHER, "current_password": PASSWORD}
        await forms.submit_refused(service, f"{PATH}/{path}", 403, **form)


async def test_first_password_needs_no_current_one(sqlite_service: Installation) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, owner))
    before = await forms.get_page(sqlite_service, PATH)
    after = await forms.submit(sqlite_service, f"{PATH}/password", new_password=OTHER)

    assert "current_password" not in before.inputs
    assert "Set password" in before.buttons
    assert "current_password" in after.inputs
