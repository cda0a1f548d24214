"""Signing in with a second factor: which session a code completes, and what it spends."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from recibo.lib import clock
from recibo.schemas.ids import UserId
from recibo.schemas.states import MailTokenKind
from recibo.services.identity import email_tokens, operators
from recibo.services.identity.sessions import read_access_token
from tests import installation, people, second_factors
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.second_factors import (
    ELSEWHERE,
    HERE,
    STEP,
    TwoFactorUser,
    audit_log,
    code_of,
    error_of,
    log_in,
    me,
    post,
    recover,
    refreshed,
    session_headers,
    status_and_body,
    two_factor_user,
    verify,
)

pytestmark = ON_SQLITE

FAILED = (401, "authentication_failed")
OK = {"ok": True}
HERE_ONLY = {"User-Agent": HERE}
TOKENS = {"access_token", "refresh_token", "token_type", "expires_in", "user_id", "org_id"}


@pytest.fixture
def service(idle_service: Installation) -> Installation:
    """A service without a worker: no test here uploads."""
    return idle_service


@pytest.fixture(autouse=True)
def _new_step() -> Iterator[None]:
    with second_factors.new_step():
        yield


async def test_pending_pair_is_refused_everywhere(service: Installation) -> None:
    who = await two_factor_user(service)
    tokens = await log_in(service, who)
    headers = session_headers(tokens)

    answers = [
        await service.stranger.get("/v1/auth/me", headers=headers),
        await service.stranger.get("/v1/org", headers=headers),
        await service.stranger.get("/v1/audit", headers=headers),
        await service.stranger.get("/v1/auth/2fa/recovery", headers=headers),
        await service.stranger.post("/v1/auth/logout-all", headers=headers),
        await post(service, "/enroll", headers),
        await post(service, "/disable", headers, code=who.code),
        await refreshed(service, tokens),
        await service.stranger.post(
            "/v1/auth/refresh", headers={"Cookie": f"service_refresh={tokens['refresh_token']}"}
        ),
    ]

    assert [FAILED] * len(answers) == [error_of(one) for one in answers]


async def test_caller_that_shows_the_pending_session_gets_tokens(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    answer = await verify(service, who, session_headers(pending))

    given = answer.json()
    assert (200, TOKENS | {"ok"}) == (answer.status_code, set(given))
    assert (True, "Bearer", who.user_id, who.session.org_id) == (
        given["ok"],
        given["token_type"],
        given["user_id"],
        given["org_id"],
    )
    assert given["access_token"] == answer.cookies["service_access"]
    assert given["refresh_token"] == answer.cookies["service_refresh"]
    assert 200 == (await me(service, given)).status_code
    assert 200 == (await refreshed(service, given)).status_code


@ON_BOTH
async def test_pair_of_the_login_works_once_completed(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    # Trying too early does not use it up.
    assert FAILED == error_of(await refreshed(service, pending))

    answer = await verify(service, who, session_headers(pending))

    assert 200 == (await me(service, pending)).status_code
    next_pair = await refreshed(service, pending)
    assert 200 == next_pair.status_code
    assert "two_factor_required" not in next_pair.json()
    assert 200 == (await me(service, next_pair.json())).status_code
    # Families of their own: what ends one leaves the other.
    assert _family(service, answer.json()) != _family(service, pending)
    with clock.moved(dt.timedelta(minutes=1)):
        assert 401 == (await refreshed(service, pending)).status_code
        assert 401 == (await refreshed(service, next_pair.json())).status_code
        assert 200 == (await refreshed(service, answer.json())).status_code


async def test_browser_shows_it_by_cookie(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    # From another address than the login, so that only the cookie identifies the session.
    headers = {**_cookie(pending), "User-Agent": ELSEWHERE}

    answer = await verify(service, who, headers)

    assert TOKENS <= set(answer.json())
    assert {"service_access", "service_refresh"} == set(answer.cookies)


async def test_bare_call_completes_and_mints_nothing(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    answer = await verify(service, who, HERE_ONLY)

    assert (200, OK) == status_and_body(answer)
    assert [] == answer.headers.get_list("set-cookie")
    assert 200 == (await me(service, pending)).status_code
    assert 200 == (await refreshed(service, pending)).status_code


@pytest.mark.parametrize("authorization", ["Bearer nonsense", "Bearer ", "Basic YTpi", ""])
async def test_bad_authorization_header_takes_precedence_over_the_cookie(
    service: Installation, authorization: str
) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    headers = {**_cookie(pending), **HERE_ONLY, "Authorization": authorization}

    answer = await verify(service, who, headers)

    assert (200, OK) == status_and_body(answer)
    assert [] == answer.headers.get_list("set-cookie")
    assert 200 == (await me(service, pending)).status_code


async def test_bare_call_from_another_place_only_checks(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    other_agent = await verify(service, who, {"User-Agent": ELSEWHERE})
    async with installation.client_of(service.asgi, address="203.0.113.9") as client:
        other_ip = await verify(service, who, HERE_ONLY, client=client)

    assert [OK, OK] == [other_agent.json(), other_ip.json()]
    assert FAILED == error_of(await me(service, pending))
    # Nothing was spent by that.
    assert TOKENS <= set((await verify(service, who, session_headers(pending))).json())


async def test_login_is_completed_from_another_place_by_showing_it(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    async with installation.client_of(service.asgi, address="203.0.113.9") as client:
        headers = session_headers(pending, agent=ELSEWHERE)
        answer = await verify(service, who, headers, client=client)

    assert TOKENS <= set(answer.json())


@ON_BOTH
async def test_new_pending_login_ends_earlier_ones_from_the_same_place(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    first, elsewhere = await log_in(service, who), await log_in(service, who, agent=ELSEWHERE)
    second = await log_in(service, who)

    of_first = await verify(service, who, session_headers(first))

    # Not completed, and not replaced: an attacker may have started the other session.
    assert FAILED == error_of(of_first)
    assert [FAILED] * 3 == [error_of(await me(service, one)) for one in (first, second, elsewhere)]
    assert TOKENS <= set((await verify(service, who, session_headers(second))).json())
    with clock.moved(STEP):
        assert TOKENS <= set((await verify(service, who, session_headers(elsewhere))).json())
    assert FAILED == error_of(await me(service, first))


async def test_pending_session_is_dead_after_five_minutes(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    with clock.moved(dt.timedelta(minutes=5)):
        shown = await verify(service, who, session_headers(pending))
        bare = await verify(service, who, HERE_ONLY)
        assert FAILED == error_of(await me(service, pending))
        assert FAILED == error_of(await refreshed(service, pending))

    assert FAILED == error_of(shown)
    assert (200, OK) == status_and_body(bare)


async def test_pending_session_waits_for_five_minutes(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    with clock.moved(dt.timedelta(minutes=4, seconds=50)):
        assert TOKENS <= set((await verify(service, who, session_headers(pending))).json())


async def test_spent_step_completes_no_other_session(service: Installation) -> None:
    who = await two_factor_user(service)
    code = who.code
    first = await log_in(service, who)
    assert 200 == (await verify(service, who, session_headers(first), code=code)).status_code

    second = await log_in(service, who)
    shown = await verify(service, who, session_headers(second), code=code)
    bare = await verify(service, who, HERE_ONLY, code=code)

    assert [FAILED] * 3 == [error_of(one) for one in (shown, bare, await me(service, second))]
    later = await verify(service, who, session_headers(second), code=code_of(who.secret, steps=1))
    assert 200 == later.status_code


async def test_bare_call_that_completes_spends_the_step(service: Installation) -> None:
    who = await two_factor_user(service)
    await log_in(service, who)
    assert 200 == (await verify(service, who, HERE_ONLY)).status_code

    pending = await log_in(service, who)

    assert FAILED == error_of(await verify(service, who, session_headers(pending)))


async def test_bare_check_spends_nothing(service: Installation) -> None:
    who = await two_factor_user(service)

    checks = [await verify(service, who) for _ in range(3)]
    pending = await log_in(service, who)

    assert [(200, OK)] * 3 == [status_and_body(one) for one in checks]
    assert TOKENS <= set((await verify(service, who, session_headers(pending))).json())


async def test_completed_session_is_not_completed_again(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    code = who.code
    await verify(service, who, session_headers(pending), code=code)

    again = await verify(service, who, session_headers(pending), code=code)
    fresh = await verify(service, who, session_headers(pending), code=code_of(who.secret, steps=1))

    # The code that completed it does not work a second time.
    assert FAILED == error_of(again)
    assert (200, OK) == status_and_body(fresh)
    assert [] == fresh.headers.get_list("set-cookie")


async def test_unrelated_session_gets_the_same_response_as_none(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    ben = await two_factor_user(service, email="ben@people.test")
    bens = await log_in(service, ben)

    ended = who.session.tokens
    kept = await service.stranger.post("/v1/auth/logout-all", headers=session_headers(ended))
    service.stranger.cookies.clear()

    for shown, steps in ((kept.json(), -1), (ended, 0), (bens, 1)):
        pending = await log_in(service, who)
        code = code_of(who.secret, steps=steps)
        answer = await verify(service, who, session_headers(shown), code=code)

        assert (200, OK) == status_and_body(answer)
        assert 200 == (await me(service, pending)).status_code
    assert FAILED == error_of(await me(service, bens))


async def test_session_of_one_user_is_not_completed_by_the_code_of_another(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    mallory = await two_factor_user(service, email="mallory@people.test")
    pending = await log_in(service, who)

    own = await verify(service, mallory, session_headers(pending))
    wrong = await verify(service, who, session_headers(pending), code=mallory.code)

    assert (200, OK) == status_and_body(own)
    assert FAILED == error_of(wrong)
    assert FAILED == error_of(await me(service, pending))


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "12345678", "abcdef", "123 456", "١٢٣٤٥٦", "x" * 100_000]
)
async def test_code_of_another_shape_is_a_wrong_one(door: Installation, code: str) -> None:
    who = await two_factor_user(door)

    answers = [await post(door, path, user_id=who.user_id, code=code) for path in PATHS]

    assert [FAILED] * 2 == [error_of(one) for one in answers]


PATHS = ["/verify", "/recovery/use"]


@pytest.mark.parametrize("path", PATHS)
async def test_unknown_user_gets_the_same_response_as_a_wrong_code(
    service: Installation, path: str
) -> None:
    who = await two_factor_user(service)
    ben = await people.signed_up(service, email="ben@people.test")
    cy = await people.signed_up(service, email="cy@people.test")
    secret = await second_factors.enrolled(service, cy)
    named = [
        (who.user_id, who.wrong_code),
        (ben.user_id, who.code),
        (cy.user_id, code_of(secret)),
        *(
            (user_id, who.code)
            for user_id in ("", "usr_", "' OR 1=1", "é" * 9000, "usr_" + "0" * 32)
        ),
    ]

    answers = [await post(service, path, user_id=one, code=code) for one, code in named]

    assert [FAILED] * len(named) == [error_of(one) for one in answers]
    assert 1 == len({one.json()["error"]["message"] for one in answers})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"code": "123456"},
        {"user_id": "usr_1"},
        {"user_id": 1, "code": "123456"},
        {"user_id": "usr_1", "code": 123456},
        {"user_id": None, "code": "123456"},
        {"user_id": "usr_1", "code": None},
        {"user_id": "usr_1\0", "code": "123456"},
    ],
)
async def test_what_is_no_string_is_400(
    door: Installation, path: str, body: dict[str, Any]
) -> None:
    answer = await post(door, path, **body)

    assert (400, "validation_error") == error_of(answer)


@pytest.mark.parametrize("path", PATHS)
async def test_page_of_another_site_completes_nothing(service: Installation, path: str) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    code = who.code if path == "/verify" else who.recovery_codes[0]
    marks = [{"Origin": "https://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]

    answers = [
        await post(service, path, {**HERE_ONLY, **mark}, user_id=who.user_id, code=code)
        for mark in marks
    ]

    assert [(403, "cross_site_request")] * 3 == [error_of(one) for one in answers]
    assert FAILED == error_of(await me(service, pending))


async def test_sign_in_is_audited_when_it_is_complete(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    assert "user.signed_in" not in [action for action, _ in await audit_log(service)]

    await verify(service, who, session_headers(pending), code=who.wrong_code)
    await verify(service, who, session_headers(pending))

    assert [
        ("user.2fa_required", {"method": "password"}),
        ("user.sign_in_failed", {"second_factor": "totp"}),
        ("user.signed_in", {"method": "password", "second_factor": "totp"}),
    ] == (await audit_log(service))[-3:]


@ON_BOTH
async def test_disabled_account_is_not_let_in(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    await _disable_user(service, who)

    answers = [
        await verify(service, who, session_headers(pending)),
        await verify(service, who),
        await recover(service, who),
    ]

    assert [FAILED] * 3 == [error_of(one) for one in answers]


async def test_magic_link_goes_on_behind_the_second_factor(service: Installation) -> None:
    who = await two_factor_user(service)
    async with service.database.write() as session:
        token = await email_tokens.mint(session, MailTokenKind.MAGIC_LINK, UserId(who.user_id))
    # From where the account was made: else a first proof of the mailbox would empty it.
    answer = await service.stranger.post("/v1/auth/magic-link/verify", json={"token": token})
    service.stranger.cookies.clear()
    assert answer.json()["two_factor_required"] is True

    tokens = (await verify(service, who, session_headers(answer.json()))).json()
    changed = await service.stranger.post(
        "/v1/auth/password",
        json={"new_password": "another long one"},
        headers=session_headers(tokens),
    )

    # Within 15 minutes of the link, without the current password.
    assert 200 == changed.status_code


async def test_invitation_stays_bound_to_its_org_behind_the_second_factor(
    service: Installation,
) -> None:
    owner = await people.signed_up(service, email="owner@people.test", org="Mercado")
    who = await two_factor_user(service)
    invitation = await people.invited(service, owner, who.session.email)
    token = await people.invitation_token(service, invitation["id"])
    pending = (await people.accept(service, token)).json()
    assert pending["two_factor_required"] is True
    # The org to sign in to changes with the second factor, not before.
    assert who.session.org_id == (await log_in(service, who, agent=ELSEWHERE))["org_id"]

    tokens = (await verify(service, who, session_headers(pending))).json()

    of_invitation = [
        (action, after.get("second_factor"))
        for action, after in await audit_log(service)
        if after and after.get("method") == "invitation"
    ]
    assert [("user.2fa_required", None), ("user.signed_in", "totp")] == of_invitation
    assert owner.org_id == tokens["org_id"] == (await me(service, tokens)).json()["org"]["id"]
    switched = await service.stranger.post(
        "/v1/auth/switch-org", json={"org_id": who.session.org_id}, headers=session_headers(tokens)
    )
    assert (403, "insufficient_scope") == error_of(switched)
    assert owner.org_id == (await log_in(service, who))["org_id"]


async def test_bare_completion_decides_where_to_sign_in_next(service: Installation) -> None:
    owner = await people.signed_up(service, email="owner@people.test", org="Mercado")
    who = await two_factor_user(service)
    invitation = await people.invited(service, owner, who.session.email)
    token = await people.invitation_token(service, invitation["id"])
    pending = (await people.accept(service, token)).json()

    # From where the invitation was accepted, by the same kind of client.
    assert (200, OK) == status_and_body(await verify(service, who))

    assert owner.org_id == (await me(service, pending)).json()["org"]["id"]
    assert owner.org_id == (await log_in(service, who))["org_id"]


async def _disable_user(service: Installation, who: TwoFactorUser) -> None:
    async with service.database.write() as session:
        await operators.disable_user(session, who.user_id)


def _cookie(tokens: dict[str, Any]) -> dict[str, str]:
    return {"Cookie": f"service_access={tokens['access_token']}"}


def _family(service: Installation, tokens: dict[str, Any]) -> str:
    shown = read_access_token(service.services.identity.keyring, tokens["access_token"])
    assert shown is not None
    return shown.session_id
