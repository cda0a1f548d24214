"""Wrong codes: how many a session, an IP and an account get, and what many at once get."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from recibo.lib import clock
from recibo.services.identity import throttles
from recibo.services.identity.throttles import Counted
from recibo.store.db import Session
from recibo.store.tables import RecoveryCode, SpentTotpStep, UserSession
from tests import installation, people, second_factors
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.second_factors import (
    ELSEWHERE,
    HERE,
    TwoFactorUser,
    enrolled,
    error_of,
    log_in,
    me,
    post,
    recover,
    session_headers,
    two_factor_user,
    verify,
)

pytestmark = ON_SQLITE

FAILED = (401, "authentication_failed")
LIMITED = (429, "rate_limit_exceeded")
HERE_ONLY = {"User-Agent": HERE}
ELSEWHERE_ONLY = {"User-Agent": ELSEWHERE}
QUARTER = dt.timedelta(minutes=15)
HOUR = dt.timedelta(hours=1)
PATHS = ["/verify", "/recovery/use"]


@pytest.fixture
def service(idle_service: Installation) -> Installation:
    """A service without a worker: no test here uploads."""
    return idle_service


@pytest.fixture(autouse=True)
def _new_step() -> Iterator[None]:
    with second_factors.new_step():
        yield


async def test_five_wrong_codes_end_the_pending_session(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    wrong = [await _wrong(service, who, session_headers(pending)) for _ in range(5)]
    # Even the right code, with any session.
    right = [
        await verify(service, who, session_headers(pending)),
        await verify(service, who, session_headers(pending, agent=ELSEWHERE)),
        await verify(service, who, HERE_ONLY),
        await recover(service, who, session_headers(pending)),
    ]

    assert [FAILED] * 5 == [error_of(one) for one in wrong]
    assert [LIMITED] * 4 == [error_of(one) for one in right]
    for answer in right:
        assert 0 < int(answer.headers["Retry-After"]) <= 900
        assert int(answer.headers["Retry-After"]) == answer.json()["error"]["retry_after"]
    assert FAILED == error_of(await me(service, pending))
    assert [] == [row for row in await service.rows(RecoveryCode) if row.used_at]
    row = next(one for one in await service.rows(UserSession) if one.pending_until)
    assert row.ended_at is not None


async def test_four_wrong_codes_leave_a_fifth_try(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    for _ in range(4):
        await _wrong(service, who, session_headers(pending))

    assert 200 == (await verify(service, who, session_headers(pending))).status_code
    assert 200 == (await me(service, pending)).status_code


async def test_ended_session_is_429_until_the_window_passes(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    for _ in range(5):
        await _wrong(service, who, session_headers(pending))

    with clock.moved(QUARTER - dt.timedelta(seconds=30)):
        late = [
            await verify(service, who, HERE_ONLY),
            await verify(service, who, session_headers(pending)),
        ]
    with clock.moved(QUARTER):
        after = await verify(service, who, HERE_ONLY)
        dead = await me(service, pending)

    assert [LIMITED] * 2 == [error_of(one) for one in late]
    assert (200, {"ok": True}) == (after.status_code, after.json())
    assert 401 == dead.status_code


async def test_newer_pending_session_has_separate_attempts(service: Installation) -> None:
    who = await two_factor_user(service)
    first = await log_in(service, who)
    for _ in range(5):
        await _wrong(service, who, session_headers(first))

    second = await log_in(service, who)
    of_first = await verify(service, who, session_headers(first))
    bare = await verify(service, who, HERE_ONLY)

    assert LIMITED == error_of(of_first)
    assert 200 == bare.status_code
    assert 200 == (await me(service, second)).status_code


async def test_bare_calls_count_on_the_session_that_they_match(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    wrong = [
        *[await _wrong(service, who, HERE_ONLY) for _ in range(2)],
        *[await _wrong(service, who, HERE_ONLY, path="/recovery/use") for _ in range(2)],
        await _wrong(service, who, session_headers(pending)),
    ]

    assert [FAILED] * 5 == [error_of(one) for one in wrong]
    assert LIMITED == error_of(await verify(service, who, session_headers(pending)))
    # What matches no session is counted elsewhere.
    assert 200 == (await verify(service, who, ELSEWHERE_ONLY)).status_code


@pytest.mark.parametrize("path", PATHS)
async def test_bare_calls_that_match_none_count_for_account_and_ip(
    service: Installation, path: str
) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    wrong = [await _wrong(service, who, ELSEWHERE_ONLY, path=path) for _ in range(6)]
    async with installation.client_of(service.asgi, address="203.0.113.9") as client:
        other_ip = await _wrong(service, who, ELSEWHERE_ONLY, path=path, client=client)
    other_user = await post(service, path, ELSEWHERE_ONLY, user_id="usr_x", code=who.wrong_code)

    assert [*[FAILED] * 5, LIMITED] == [error_of(one) for one in wrong]
    assert LIMITED == error_of(await verify(service, who, ELSEWHERE_ONLY))
    assert [FAILED] * 2 == [error_of(other_ip), error_of(other_user)]
    # The pending session has separate attempts.
    assert 200 == (await verify(service, who, session_headers(pending))).status_code
    with clock.moved(QUARTER):
        assert 200 == (await verify(service, who, ELSEWHERE_ONLY)).status_code


@pytest.mark.parametrize("path", PATHS)
async def test_unknown_users_have_the_same_limits(service: Installation, path: str) -> None:
    ben = await people.signed_up(service)

    for user_id in (ben.user_id, "usr_" + "0" * 32, "", "x" * 10_000):
        answers = [await post(service, path, user_id=user_id, code="000000") for _ in range(6)]
        assert [*[FAILED] * 5, LIMITED] == [error_of(one) for one in answers]


async def test_right_codes_are_not_counted(service: Installation) -> None:
    who = await two_factor_user(service)

    answers = [await verify(service, who) for _ in range(25)]

    assert [200] * 25 == [one.status_code for one in answers]


@ON_BOTH
async def test_window_begins_with_the_first_wrong_code(service: Installation) -> None:
    who = await two_factor_user(service)
    assert 200 == (await verify(service, who)).status_code

    with clock.moved(QUARTER - dt.timedelta(minutes=1)):
        wrong = [await _wrong(service, who) for _ in range(5)]
    with clock.moved(QUARTER + dt.timedelta(minutes=1)):
        right = await verify(service, who)

    assert [FAILED] * 5 == [error_of(one) for one in wrong]
    assert LIMITED == error_of(right)


@ON_BOTH
async def test_twenty_wrong_codes_an_hour_lock_the_account(service: Installation) -> None:
    who = await two_factor_user(service)
    waiting = await log_in(service, who, agent=ELSEWHERE)
    full = who.session.headers
    for _ in range(3):
        pending = await log_in(service, who)
        assert [FAILED] * 5 == [
            error_of(await _wrong(service, who, session_headers(pending))) for _ in range(5)
        ]
    disabling = [await post(service, "/disable", full, code=who.wrong_code) for _ in range(5)]
    assert [FAILED] * 5 == [error_of(one) for one in disabling]

    async with installation.client_of(service.asgi, address="203.0.113.9") as client:
        locked = [
            await verify(service, who, session_headers(waiting)),
            await verify(service, who, client=client),
            await recover(service, who, session_headers(waiting)),
            await post(service, "/disable", full, code=who.code),
        ]

    assert [LIMITED] * 4 == [error_of(one) for one in locked]
    assert 3000 < int(locked[0].headers["Retry-After"]) <= 3600
    # No other user is locked, and the session with both factors continues.
    assert 200 == (await me(service, who.session.tokens)).status_code
    with clock.moved(HOUR):
        assert 200 == (await verify(service, who)).status_code


@pytest.mark.parametrize("path", PATHS)
async def test_strangers_cannot_lock_out_a_user(service: Installation, path: str) -> None:
    """An attacker who knows a user id can try codes from many addresses, without a session."""
    who = await two_factor_user(service)
    waiting = await log_in(service, who)
    other = await people.signed_up(service, email="eve@people.test")
    shown = [ELSEWHERE_ONLY, session_headers(other.tokens, agent=ELSEWHERE)]

    tried = []
    for last in range(12):
        async with installation.client_of(service.asgi, address=f"203.0.113.{last}") as client:
            tried += [
                await _wrong(service, who, headers, path=path, client=client)
                for headers in shown
                for _ in range(2)
            ]

    assert [FAILED] * 48 == [error_of(one) for one in tried]
    assert 200 == (await verify(service, who, session_headers(waiting))).status_code
    disabled = await post(service, "/disable", who.session.headers, code=who.code)
    assert 200 == disabled.status_code


async def test_many_addresses_find_no_code_for_who_knows_the_password(
    service: Installation,
) -> None:
    """A check without a session would reveal which code completes the attacker's session."""
    who = await two_factor_user(service)
    waiting = await log_in(service, who)

    for last in range(20):
        async with installation.client_of(service.asgi, address=f"203.0.113.{last}") as client:
            for _ in range(5):
                await _wrong(service, who, ELSEWHERE_ONLY, client=client)
    async with installation.client_of(service.asgi, address="203.0.113.99") as client:
        found = await verify(service, who, ELSEWHERE_ONLY, client=client)

    assert LIMITED == error_of(found)
    # Who signs in is not kept from it.
    assert 200 == (await verify(service, who, session_headers(waiting))).status_code
    disabled = await post(service, "/disable", who.session.headers, code=who.code)
    assert 200 == disabled.status_code


@pytest.mark.parametrize("path", PATHS)
async def test_wrong_codes_in_a_full_session_lock_its_account(
    service: Installation, path: str
) -> None:
    who = await two_factor_user(service)
    full = session_headers(who.session.tokens, agent=ELSEWHERE)

    for last in range(4):
        async with installation.client_of(service.asgi, address=f"203.0.113.{last}") as client:
            tried = [await _wrong(service, who, full, path=path, client=client) for _ in range(5)]
            assert [FAILED] * 5 == [error_of(one) for one in tried]

    assert LIMITED == error_of(await verify(service, who))
    with clock.moved(HOUR):
        assert 200 == (await verify(service, who)).status_code


async def test_lock_of_an_account_spares_others(service: Installation) -> None:
    who = await two_factor_user(service)
    ben = await two_factor_user(service, email="ben@people.test")
    for _ in range(20):
        await post(service, "/disable", who.session.headers, code=who.wrong_code)

    assert LIMITED == error_of(await verify(service, who))
    assert 200 == (await verify(service, ben)).status_code


async def test_right_code_that_disables_is_not_counted(service: Installation) -> None:
    who = await two_factor_user(service)
    for _ in range(19):
        await post(service, "/disable", who.session.headers, code=who.wrong_code)
    kept = (await post(service, "/disable", who.session.headers, code=who.code)).json()
    secret = (await post(service, "/enroll", session_headers(kept))).json()["secret"]
    again = TwoFactorUser(who.session, secret, [])
    await post(service, "/enroll/verify", session_headers(kept), code=again.code)

    twentieth, after = [await _wrong(service, again, session_headers(kept)) for _ in range(2)]

    assert [FAILED, LIMITED] == [error_of(twentieth), error_of(after)]


@ON_BOTH
async def test_fifty_guesses_at_once_get_five_checks(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    answers = await asyncio.gather(
        *(_wrong(service, who, session_headers(pending)) for _ in range(50))
    )

    assert {FAILED: 5, LIMITED: 45} == Counter(error_of(one) for one in answers)
    assert LIMITED == error_of(await verify(service, who, session_headers(pending)))


@ON_BOTH
async def test_guesses_over_many_sessions_at_once_get_twenty_checks(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    sessions = [await log_in(service, who, agent=f"agent/{number}") for number in range(6)]

    answers = await asyncio.gather(
        *(_wrong(service, who, session_headers(one)) for one in sessions for _ in range(5))
    )

    assert {FAILED: 20, LIMITED: 10} == Counter(error_of(one) for one in answers)


async def test_wrong_codes_while_enrolling_lock_nothing(service: Installation) -> None:
    ana = await people.signed_up(service)
    secret = await enrolled(service, ana)
    who = TwoFactorUser(ana, secret, [])

    answers = [
        await post(service, "/enroll/verify", ana.headers, code=who.wrong_code) for _ in range(25)
    ]

    assert [FAILED] * 25 == [error_of(one) for one in answers]
    right = await post(service, "/enroll/verify", ana.headers, code=who.code)
    assert 200 == right.status_code


@ON_BOTH
async def test_two_completions_by_one_code_at_once_are_one(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    answers = await asyncio.gather(
        *(verify(service, who, session_headers(pending)) for _ in range(5))
    )

    assert {200: 1, 401: 4} == Counter(one.status_code for one in answers)
    assert 1 == len([one for one in answers if "access_token" in one.json()])
    assert 3 == len(await service.rows(UserSession))


@ON_BOTH
async def test_nothing_is_spent_when_the_session_ends_meanwhile(
    service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    refuse = throttles.refuse_if_reached

    async def refuse_and_end(session: Session, counted: Sequence[Counted]) -> None:
        """Judge the try, then do what a login from the same place does at that moment."""
        await refuse(session, counted)
        await session.execute(update(UserSession).values(ended_at=clock.now()))

    monkeypatch.setattr(throttles, "refuse_if_reached", refuse_and_end)
    answers = [
        await recover(service, who, session_headers(pending)),
        await verify(service, who, session_headers(await log_in(service, who))),
    ]

    assert [FAILED] * 2 == [error_of(one) for one in answers]
    assert [] == [row for row in await service.rows(RecoveryCode) if row.used_at]
    assert ["enroll"] == [row.ledger for row in await service.rows(SpentTotpStep)]


@ON_BOTH
async def test_one_code_completes_one_of_many_sessions_at_once(service: Installation) -> None:
    who = await two_factor_user(service)
    sessions = [await log_in(service, who, agent=f"agent/{number}") for number in range(8)]

    answers = await asyncio.gather(
        *(verify(service, who, session_headers(one)) for one in sessions)
    )

    assert {200: 1, 401: 7} == Counter(one.status_code for one in answers)
    assert {200: 1, 401: 7} == Counter([(await me(service, one)).status_code for one in sessions])


@ON_BOTH
async def test_one_recovery_code_is_used_once_of_many_times_at_once(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    sessions = [await log_in(service, who, agent=f"agent/{number}") for number in range(8)]

    answers = await asyncio.gather(
        *(recover(service, who, session_headers(one)) for one in sessions)
    )

    assert {200: 1, 401: 7} == Counter(one.status_code for one in answers)
    assert {200: 1, 401: 7} == Counter([(await me(service, one)).status_code for one in sessions])


@ON_BOTH
async def test_switching_on_twice_at_once_gives_one_set_of_codes(service: Installation) -> None:
    ana = await people.signed_up(service)
    secret = await enrolled(service, ana)
    who = TwoFactorUser(ana, secret, [])

    answers = await asyncio.gather(
        *(post(service, "/enroll/verify", ana.headers, code=who.code) for _ in range(5))
    )

    assert {200: 1, 409: 4} == Counter(one.status_code for one in answers)
    assert 10 == len(await service.rows(RecoveryCode))


@ON_BOTH
async def test_disabling_twice_at_once_disables_once(service: Installation) -> None:
    who = await two_factor_user(service)
    full = who.session.headers

    answers = await asyncio.gather(
        *(post(service, "/disable", full, code=who.code) for _ in range(5))
    )

    assert 1 == Counter(one.status_code for one in answers)[200]
    assert {200, 400, 401} >= {one.status_code for one in answers}
    won = next(one for one in answers if one.status_code == 200)
    assert 200 == (await me(service, won.json())).status_code


async def _wrong(
    service: Installation,
    who: TwoFactorUser,
    headers: dict[str, str] | None = None,
    *,
    path: str = "/verify",
    client: httpx.AsyncClient | None = None,
) -> httpx.Response:
    body: dict[str, Any] = {"user_id": who.user_id, "code": who.wrong_code}
    return await post(service, path, headers, client=client, **body)
