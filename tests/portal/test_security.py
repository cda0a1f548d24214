"""The page of the own account: name, password, second factor, sessions."""

import re

import httpx
from sqlalchemy import update

from recibo.lib import clock
from recibo.schemas.states import AuditAction
from recibo.store import tables
from tests import people, second_factors
from tests.installation import Installation, client_of
from tests.people import PASSWORD
from tests.portal import accounts, forms, pages

PATH = "/portal/security"
OTHER = "another long password"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1"
)
LAPTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
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
    (secret,) = re.findall(r"<code [^>]*>([A-Z2-7]{32})</code>", answer.text)
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
    assert re.findall(r'<path d="M0.*?"/>', first.text) == re.findall(
        r'<path d="M0.*?"/>', wrong.text
    )


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


async def signed_in_on(i: Installation, agent: str, address: str = "198.51.100.7") -> str:
    """Sign the user in on another device and return its access token."""
    async with client_of(i.asgi, address=address, headers={"User-Agent": agent}) as other:
        await accounts.sign_in(other)
        return str(other.cookies["service_access"])


async def test_one_device_is_signed_out_and_the_others_stay(service: Installation) -> None:
    await signed_up(service)
    phone = await signed_in_on(service, PHONE)
    laptop = await signed_in_on(service, LAPTOP, "203.0.113.9")
    before = await forms.get_page(service, PATH)
    [of_phone] = [one for one in await service.rows(tables.UserSession) if one.user_agent == PHONE]
    after = await forms.submit(service, f"{PATH}/sessions/{of_phone.id}/end")
    again = await service.stranger.post(f"{PATH}/sessions/{of_phone.id}/end")
    me = {
        name: (await service.stranger.get("/v1/auth/me", headers=people.bearer(token))).status_code
        for name, token in (("phone", phone), ("laptop", laptop))
    }
    [entry] = [
        one
        for one in await service.rows(tables.AuditEvent)
        if one.action == AuditAction.USER_SESSION_ENDED
    ]

    assert "Safari on iPhone 198.51.100.7" in before.text
    assert "Firefox on Linux 203.0.113.9" in before.text
    assert 1 == before.text.count("This device")
    assert "That device is signed out." in after.by_role["status"]
    assert "Safari on iPhone" not in after.text
    assert "Firefox on Linux" in after.text
    assert 404 == again.status_code
    assert {"phone": 401, "laptop": 200} == me
    assert {"session_id": of_phone.id, "ip_address": "198.51.100.7", "user_agent": PHONE} == (
        entry.before
    )


async def test_only_own_other_sessions_are_signed_out(sqlite_service: Installation) -> None:
    bea = await people.signed_up(sqlite_service, email="bea@people.test", org="Loja Bea")
    await signed_up(sqlite_service)
    before = await sqlite_service.rows(tables.UserSession)
    for row in before:
        await forms.submit_refused(sqlite_service, f"{PATH}/sessions/{row.id}/end", 404)
    await forms.submit_refused(sqlite_service, f"{PATH}/sessions/ses_unknown/end", 404)

    assert bea.user_id in {row.user_id for row in before}
    assert {None} == {row.ended_at for row in await sqlite_service.rows(tables.UserSession)}


async def test_sessions_that_cannot_be_used_are_not_listed(service: Installation) -> None:
    await signed_up(service)
    await signed_in_on(service, PHONE)
    await signed_in_on(service, LAPTOP)
    async with service.database.write() as session:
        gone = update(tables.UserSession).where(tables.UserSession.user_agent == PHONE)
        await session.execute(gone.values(ended_at=clock.now()))
        over = update(tables.UserSession).where(tables.UserSession.user_agent == LAPTOP)
        await session.execute(over.values(expires_at=clock.now()))
    page = await forms.get_page(service, PATH)

    assert "on iPhone" not in page.text
    assert "on Linux" not in page.text
    assert "Sign out everywhere else" not in page.buttons


async def test_refreshing_notes_when_and_where_a_session_was_seen(service: Installation) -> None:
    await signed_up(service)
    long_ago = clock.now() - 3 * accounts.DAY
    async with service.database.write() as session:
        await session.execute(update(tables.UserSession).values(last_seen_at=long_ago))
    before = service.stranger.cookies["service_access"]
    service.stranger.cookies.delete("service_access")
    page = await forms.get_page(service, PATH)
    [row] = await service.rows(tables.UserSession)

    assert before != service.stranger.cookies["service_access"]
    assert row.last_seen_at is not None
    assert row.last_seen_at > long_ago
    assert "127.0.0.1" == row.last_ip_address
    assert "active now" in page.text


async def test_signing_out_ends_the_session(service: Installation) -> None:
    await signed_up(service)
    token = service.stranger.cookies["service_access"]
    await service.stranger.post("/portal/sign-out")
    answer = await service.stranger.get("/v1/auth/me", headers=people.bearer(token))

    assert 401 == answer.status_code


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
    for path in ("password", "end-sessions", "sessions/ses_1/end", "two-factor/enroll"):
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
