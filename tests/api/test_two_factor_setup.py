"""Switching two-factor authentication on and off."""

import base64
import io
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import zxingcpp
from PIL import Image

from recibo.lib import clock
from recibo.schemas.states import AuditAction
from recibo.store.tables import AuditEvent, Mail, RecoveryCode, SpentTotpStep, User
from tests import people, second_factors
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD
from tests.second_factors import (
    ELSEWHERE,
    STEP,
    code_of,
    enrolled,
    error_of,
    log_in,
    me,
    post,
    refreshed,
    session_headers,
    two_factor_user,
)

pytestmark = ON_SQLITE

FAILED = (401, "authentication_failed")


@pytest.fixture
def service(idle_service: Installation) -> Installation:
    """A service without a worker: no test here uploads."""
    return idle_service


@pytest.fixture(autouse=True)
def _new_step() -> Iterator[None]:
    with second_factors.new_step():
        yield


async def test_enrolling_shows_a_secret_its_uri_and_a_picture_of_that(
    service: Installation,
) -> None:
    ana = await people.signed_up(service, email="ana@people.test")

    shown = (await post(service, "/enroll", ana.headers)).json()

    assert {"secret", "provisioning_uri", "qr_png_base64"} == set(shown)
    uri = urlsplit(shown["provisioning_uri"])
    assert ("otpauth", "totp") == (uri.scheme, uri.netloc)
    assert "/Recibo:ana@people.test" == unquote(uri.path)
    wanted = {"secret": [shown["secret"]], "issuer": ["Recibo"]}
    assert wanted.items() <= parse_qs(uri.query).items()
    picture = Image.open(io.BytesIO(base64.b64decode(shown["qr_png_base64"], validate=True)))
    read = zxingcpp.read_barcodes(picture.convert("L"))
    assert [shown["provisioning_uri"]] == [one.text for one in read]


async def test_enrolling_alone_switches_nothing_on(service: Installation) -> None:
    ana = await people.signed_up(service)
    await enrolled(service, ana)

    login = await _log_in(service, ana.email)

    assert "two_factor_required" not in login
    assert not await _is_on(service, ana.tokens)
    assert {"total": 0, "unused": 0} == await _recovery(service, ana.tokens)


async def test_enrolling_again_replaces_the_secret(service: Installation) -> None:
    ana = await people.signed_up(service)
    first, second = await enrolled(service, ana), await enrolled(service, ana)

    of_first = await post(service, "/enroll/verify", ana.headers, code=code_of(first))
    of_second = await post(service, "/enroll/verify", ana.headers, code=code_of(second))

    assert first != second
    assert FAILED == error_of(of_first)
    assert 200 == of_second.status_code


@ON_BOTH
async def test_first_code_enables_it_and_returns_ten_recovery_codes(
    service: Installation,
) -> None:
    ana = await people.signed_up(service)
    secret = await enrolled(service, ana)

    answer = await post(service, "/enroll/verify", ana.headers, code=code_of(secret))

    body = answer.json()
    assert (200, {"enabled", "recovery_codes"}) == (answer.status_code, set(body))
    assert body["enabled"] is True
    assert 10 == len(set(body["recovery_codes"]))
    assert all(re.fullmatch(r"(\w{4}-){2}\w{4}", one) for one in body["recovery_codes"])
    assert await _is_on(service, ana.tokens)
    assert {"total": 10, "unused": 10} == await _recovery(service, ana.tokens)


@pytest.mark.parametrize(("steps", "status"), [(-2, 401), (-1, 200), (1, 200), (2, 401)])
async def test_first_code_may_be_one_step_off(
    service: Installation, steps: int, status: int
) -> None:
    ana = await people.signed_up(service)
    secret = await enrolled(service, ana)

    code = code_of(secret)
    with clock.moved(-steps * STEP):
        answer = await post(service, "/enroll/verify", ana.headers, code=code)

    assert status == answer.status_code


async def test_no_cache_keeps_what_is_shown_once(service: Installation) -> None:
    ana = await people.signed_up(service)
    enrolling = await post(service, "/enroll", ana.headers)
    code = code_of(enrolling.json()["secret"])
    enabled = await post(service, "/enroll/verify", ana.headers, code=code)
    disabled = await post(service, "/disable", ana.headers, code=code)

    answers = (enrolling, enabled, disabled)
    assert [(200, "no-store")] * 3 == [
        (one.status_code, one.headers.get("Cache-Control")) for one in answers
    ]


async def test_switching_on_ends_no_session(service: Installation) -> None:
    who = await two_factor_user(service)

    assert 200 == (await me(service, who.session.tokens)).status_code
    assert 200 == (await refreshed(service, who.session.tokens)).status_code


async def test_switching_on_without_enrolling_is_400(service: Installation) -> None:
    ana = await people.signed_up(service)

    answer = await post(service, "/enroll/verify", ana.headers, code="123456")

    assert (400, "validation_error") == error_of(answer)


@pytest.mark.parametrize(
    "code", ["", "12345", "123456789", "12345a", "123 456", "-12345", "١٢٣٤٥٦", 123456, None, ["1"]]
)
async def test_first_code_of_another_shape_is_400(door: Installation, code: Any) -> None:
    ana = await people.signed_up(door)
    await enrolled(door, ana)

    answers = [
        await post(door, "/enroll/verify", ana.headers, code=code),
        await post(door, "/enroll/verify", ana.headers),
    ]

    assert [(400, "validation_error")] * 2 == [error_of(one) for one in answers]


@pytest.mark.parametrize("more", ["0", "00"])
async def test_first_code_of_seven_or_eight_digits_is_a_wrong_one(
    door: Installation, more: str
) -> None:
    ana = await people.signed_up(door)
    secret = await enrolled(door, ana)

    answer = await post(door, "/enroll/verify", ana.headers, code=code_of(secret) + more)

    assert FAILED == error_of(answer)


async def test_what_is_on_is_neither_enrolled_nor_switched_on_again(
    service: Installation,
) -> None:
    who = await two_factor_user(service)

    again = await post(service, "/enroll", who.session.headers)
    verified = await post(service, "/enroll/verify", who.session.headers, code=who.code)

    assert [(409, "conflict")] * 2 == [error_of(again), error_of(verified)]
    assert {"total": 10, "unused": 10} == await _recovery(service, who.session.tokens)
    tokens = await log_in(service, who)
    answer = await post(
        service, "/verify", session_headers(tokens), user_id=who.user_id, code=who.code
    )
    assert 200 == answer.status_code


async def test_one_code_enrolls_signs_in_and_disables(service: Installation) -> None:
    ana = await people.signed_up(service)
    secret = await enrolled(service, ana)
    code = code_of(secret)
    await post(service, "/enroll/verify", ana.headers, code=code)
    who = second_factors.TwoFactorUser(ana, secret, [])
    pending = await log_in(service, who)

    verified = await post(
        service, "/verify", session_headers(pending), user_id=ana.user_id, code=code
    )
    disabled = await post(service, "/disable", session_headers(verified.json()), code=code)

    assert [200, 200] == [verified.status_code, disabled.status_code]


@ON_BOTH
async def test_disabling_wipes_everything(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    await post(service, "/verify", session_headers(pending), user_id=who.user_id, code=who.code)

    answer = await post(service, "/disable", who.session.headers, code=who.code)

    assert 200 == answer.status_code
    assert answer.json()["ok"] is True
    user = next(row for row in await service.rows(User) if row.id == who.user_id)
    assert (None, None) == (user.totp_secret, user.totp_enabled_at)
    assert ([], []) == (await service.rows(RecoveryCode), await service.rows(SpentTotpStep))
    assert {"total": 0, "unused": 0} == await _recovery(service, answer.json())
    assert "two_factor_required" not in await _log_in(service, who.session.email)


async def test_disabling_ends_all_sessions_but_the_callers(service: Installation) -> None:
    who = await two_factor_user(service)
    full = await log_in(service, who)
    await post(service, "/verify", session_headers(full), user_id=who.user_id, code=who.code)
    waits = await log_in(service, who, agent=ELSEWHERE)

    answer = await post(service, "/disable", who.session.headers, code=who.code)

    assert 200 == (await me(service, answer.json())).status_code
    assert 200 == (await refreshed(service, answer.json())).status_code
    for ended in (who.session.tokens, full, waits):
        assert 401 == (await me(service, ended)).status_code
        assert 401 == (await refreshed(service, ended)).status_code


async def test_disabling_gives_a_browser_a_new_session(service: Installation) -> None:
    who = await two_factor_user(service)
    headers = {"Cookie": f"service_access={who.session.tokens['access_token']}"}

    answer = await post(service, "/disable", headers, code=who.code)

    assert 200 == answer.status_code
    given = {"service_access": "access_token", "service_refresh": "refresh_token"}
    assert {cookie: answer.json()[token] for cookie, token in given.items()} == dict(answer.cookies)


async def test_only_a_current_code_disables(service: Installation) -> None:
    who = await two_factor_user(service)
    late = code_of(who.secret, steps=-3)
    codes = [who.wrong_code, late, who.recovery_codes[0], "", "12345", who.code + "0", "x" * 5000]

    answers = [await post(service, "/disable", who.session.headers, code=code) for code in codes]

    assert [FAILED] * len(codes) == [error_of(one) for one in answers]
    assert await _is_on(service, who.session.tokens)
    assert {"total": 10, "unused": 10} == await _recovery(service, who.session.tokens)


@pytest.mark.parametrize("body", [{}, {"code": None}, {"code": 123456}])
async def test_disabling_without_a_code_is_400(door: Installation, body: dict[str, Any]) -> None:
    who = await two_factor_user(door)

    answer = await post(door, "/disable", who.session.headers, **body)

    assert (400, "validation_error") == error_of(answer)


async def test_disabling_what_is_not_on_is_400(service: Installation) -> None:
    ana = await people.signed_up(service)

    never = await post(service, "/disable", ana.headers, code="123456")
    secret = await enrolled(service, ana)
    enrolling = await post(service, "/disable", ana.headers, code=code_of(secret))

    assert [(400, "validation_error")] * 2 == [error_of(never), error_of(enrolling)]
    # What was begun can still be ended.
    answer = await post(service, "/enroll/verify", ana.headers, code=code_of(secret))
    assert 200 == answer.status_code


async def test_it_can_be_switched_on_again_within_the_step(service: Installation) -> None:
    who = await two_factor_user(service)
    disabled = await post(service, "/disable", who.session.headers, code=who.code)
    headers = session_headers(disabled.json())

    secret = (await post(service, "/enroll", headers)).json()["secret"]
    answer = await post(service, "/enroll/verify", headers, code=code_of(secret))

    assert 200 == answer.status_code
    assert not set(who.recovery_codes) & set(answer.json()["recovery_codes"])


@pytest.mark.parametrize("path", ["/enroll", "/enroll/verify", "/disable", "/recovery"])
async def test_strangers_are_401_before_their_body_is_read(door: Installation, path: str) -> None:
    method = "GET" if path == "/recovery" else "POST"

    answer = await door.stranger.request(
        method, f"/v1/auth/2fa{path}", content=b"{", headers={"Origin": "https://evil.test"}
    )

    assert (401, "unauthorized") == error_of(answer)


async def test_page_of_another_site_disables_nothing(service: Installation) -> None:
    who = await two_factor_user(service)
    headers = {
        "Cookie": f"service_access={who.session.tokens['access_token']}",
        "Origin": "https://evil.test",
    }

    answers = [
        await post(service, path, headers, code=who.code)
        for path in ("/enroll", "/enroll/verify", "/disable")
    ]

    assert [(403, "cross_site_request")] * 3 == [error_of(one) for one in answers]
    assert await _is_on(service, who.session.tokens)


async def test_session_bound_to_an_org_may_only_count(service: Installation) -> None:
    owner = await people.signed_up(service, email="owner@people.test")
    who = await two_factor_user(service)
    ben = await people.signed_up(service, email="ben@people.test")
    for email, user_id, code in ((who.session.email, who.user_id, who.code), (ben.email, "", "")):
        invitation = await people.invited(service, owner, email)
        token = await people.invitation_token(service, invitation["id"])
        tokens = (await people.accept(service, token)).json()
        if code:
            done = await post(
                service, "/verify", session_headers(tokens), user_id=user_id, code=code
            )
            tokens = done.json()

        answers = [
            await post(service, path, session_headers(tokens), code=who.code)
            for path in ("/enroll", "/enroll/verify", "/disable")
        ]

        assert [(403, "insufficient_scope")] * 3 == [error_of(one) for one in answers]
        assert (
            200
            == (
                await service.stranger.get("/v1/auth/2fa/recovery", headers=session_headers(tokens))
            ).status_code
        )


async def test_neither_secret_nor_recovery_codes_are_stored_in_clear(
    service: Installation,
) -> None:
    who = await two_factor_user(service)

    tables = (User, RecoveryCode, AuditEvent, Mail)
    stored = str([vars(row) for table in tables for row in await service.rows(table)])

    assert who.user_id in stored
    bare = [code.replace("-", "") for code in who.recovery_codes]
    assert not [one for one in (who.secret, *who.recovery_codes, *bare) if one in stored]
    assert not [one for one in (who.secret, *who.recovery_codes) if one in str(service.logs)]


async def test_changes_are_audited_and_mailed(service: Installation) -> None:
    who = await two_factor_user(service)
    answer = await post(service, "/disable", who.session.headers, code=who.code)
    assert 200 == answer.status_code

    off, on = {"two_factor_enabled": False}, {"two_factor_enabled": True}
    logged = [
        (row.action, row.before, row.after, row.actor_user_id)
        for row in await service.rows(AuditEvent)
        if row.action.startswith("user.2fa")
    ]
    assert [
        (AuditAction.USER_2FA_ENROLLING, off, off, who.user_id),
        (AuditAction.USER_2FA_ENABLED, off, on, who.user_id),
        (AuditAction.USER_2FA_DISABLED, on, off, who.user_id),
    ] == logged
    mails = [row.kind for row in await service.rows(Mail) if row.recipient == who.session.email]
    assert {"second_factor_enabled", "second_factor_disabled"} <= set(mails)


async def _is_on(service: Installation, tokens: Any) -> bool:
    return bool((await me(service, tokens)).json()["user"]["two_factor_enabled"])


async def _recovery(service: Installation, tokens: Any) -> Any:
    answer = await service.stranger.get("/v1/auth/2fa/recovery", headers=session_headers(tokens))
    assert 200 == answer.status_code
    return answer.json()


async def _log_in(service: Installation, email: str) -> dict[str, Any]:
    body = {"email": email, "password": PASSWORD}
    answer = await service.stranger.post("/v1/auth/login", json=body)
    service.stranger.cookies.clear()
    assert 200 == answer.status_code
    return dict(answer.json())
