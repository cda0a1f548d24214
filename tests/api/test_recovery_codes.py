"""Signing in with a recovery code: each works once."""

import asyncio
from collections.abc import Iterator

import pytest

from recibo.store.tables import Mail
from tests import second_factors
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.second_factors import (
    HERE,
    audit_log,
    error_of,
    log_in,
    me,
    recover,
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


@ON_BOTH
async def test_recovery_code_completes_a_session_once(service: Installation) -> None:
    who = await two_factor_user(service)
    first = await log_in(service, who)

    answer = await recover(service, who, session_headers(first))

    assert TOKENS <= set(answer.json())
    assert {"service_access", "service_refresh"} == set(answer.cookies)
    assert 200 == (await me(service, first)).status_code
    second = await log_in(service, who)
    assert FAILED == error_of(await recover(service, who, session_headers(second)))
    assert FAILED == error_of(await me(service, second))
    counted = await service.stranger.get("/v1/auth/2fa/recovery", headers=session_headers(first))
    assert {"total": 10, "unused": 9} == counted.json()


@ON_BOTH
async def test_all_ten_at_once_work(service: Installation) -> None:
    who = await two_factor_user(service)

    answers = await asyncio.gather(
        *(recover(service, who, code=code) for code in who.recovery_codes)
    )

    assert [(200, OK)] * 10 == [status_and_body(one) for one in answers]


async def test_all_ten_recovery_codes_work(service: Installation) -> None:
    who = await two_factor_user(service)

    answers = [await recover(service, who, code=code) for code in who.recovery_codes]

    assert [(200, OK)] * 10 == [status_and_body(one) for one in answers]
    counted = await service.stranger.get("/v1/auth/2fa/recovery", headers=who.session.headers)
    assert {"total": 10, "unused": 0} == counted.json()


async def test_recovery_code_is_used_up_by_a_mere_check(service: Installation) -> None:
    who = await two_factor_user(service)
    assert OK == (await recover(service, who)).json()

    pending = await log_in(service, who)

    assert FAILED == error_of(await recover(service, who, session_headers(pending)))


async def test_bare_recovery_code_completes_and_mints_nothing(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)

    answer = await recover(service, who, HERE_ONLY)

    assert (200, OK) == status_and_body(answer)
    assert [] == answer.headers.get_list("set-cookie")
    assert 200 == (await me(service, pending)).status_code


async def test_recovery_code_may_be_typed_carelessly(service: Installation) -> None:
    who = await two_factor_user(service)
    codes = who.recovery_codes
    typed = [
        codes[0].lower(),
        codes[1].replace("-", ""),
        codes[2].replace("-", " ").lower(),
        f" {codes[3]}\n",
    ]

    answers = [await recover(service, who, code=code) for code in typed]

    assert [200] * 4 == [one.status_code for one in answers]


async def test_neither_kind_of_code_passes_for_the_other(service: Installation) -> None:
    who = await two_factor_user(service)

    assert FAILED == error_of(await verify(service, who, code=who.recovery_codes[0]))
    assert FAILED == error_of(await recover(service, who, code=who.code))
    assert 200 == (await recover(service, who, code=who.recovery_codes[0])).status_code


async def test_recovery_code_of_another_user_is_wrong(service: Installation) -> None:
    who = await two_factor_user(service)
    ben = await two_factor_user(service, email="ben@people.test")

    assert FAILED == error_of(await recover(service, who, code=ben.recovery_codes[0]))
    assert 200 == (await recover(service, ben, code=ben.recovery_codes[0])).status_code


async def test_expired_session_does_not_use_up_a_recovery_code(
    service: Installation,
) -> None:
    who = await two_factor_user(service)
    first = await log_in(service, who)
    second = await log_in(service, who)

    assert FAILED == error_of(await recover(service, who, session_headers(first)))
    assert 200 == (await recover(service, who, session_headers(second))).status_code


async def test_use_of_a_recovery_code_is_mailed_and_audited(service: Installation) -> None:
    who = await two_factor_user(service)
    pending = await log_in(service, who)
    await recover(service, who, session_headers(pending))

    mails = [row.kind for row in await service.rows(Mail) if row.recipient == who.session.email]
    assert 1 == mails.count("recovery_code_used")
    assert [
        ("user.2fa_required", {"method": "password"}),
        ("user.recovery_code_used", {"unused": 9}),
        ("user.signed_in", {"method": "password", "second_factor": "recovery_code"}),
    ] == (await audit_log(service))[-3:]
