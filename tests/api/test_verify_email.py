"""POST /v1/auth/verify-email/{token} and /v1/auth/verify-email/resend."""

import asyncio
import datetime as dt
import json

import pytest

from recibo.lib import clock
from recibo.store import tables
from tests import inbox
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import Session, signed_up
from tests.sign_ins import ask, audit_entries, client_at, cookie, outcome, set_cookies

pytestmark = ON_SQLITE

HOUR = dt.timedelta(hours=1)
MINUTE = dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)
SPENT = (400, "validation_error")


async def is_verified(i: Installation, ana: Session) -> bool:
    """Return whether the address is known to be the user's."""
    me = await ask(i, "/me", method="GET", **ana.headers)
    found = me.json()["user"]["email_verified"]
    assert isinstance(found, bool)
    return found


@ON_BOTH
async def test_link_verifies_the_address_once(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    assert not await is_verified(idle_service, ana)

    # No credential is needed, nor any body.
    answer = await ask(idle_service, f"/verify-email/{token}")
    again = await ask(idle_service, f"/verify-email/{token}")

    assert 200 == answer.status_code
    assert {"ok": True, "email": "ana@people.test", "verified": True} == answer.json()
    assert {} == set_cookies(answer)
    assert await is_verified(idle_service, ana)
    assert SPENT == outcome(again)
    (row,) = await audit_entries(idle_service, "user.email_verified")
    assert (ana.org_id, {"email": "ana@people.test"}) == (row.org_id, row.after)


@ON_BOTH
async def test_of_ten_at_once_one_verifies(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    clients = [client_at(idle_service) for _ in range(10)]
    answers = await asyncio.gather(*(ask(client, f"/verify-email/{token}") for client in clients))

    assert [(200, "")] + [SPENT] * 9 == sorted(map(outcome, answers))


async def test_link_lives_48_hours(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    with clock.moved(48 * HOUR + SECOND):
        assert SPENT == outcome(await ask(idle_service, f"/verify-email/{token}"))
    with clock.moved(48 * HOUR - MINUTE):
        assert (await ask(idle_service, f"/verify-email/{token}")).is_success


@pytest.mark.parametrize("token", ["a", "0" * 32, "%00", "%C3%A9", "a" * 5000, "..%2F..", "%0A"])
async def test_whatever_is_no_link_is_400(door: Installation, token: str) -> None:
    answer = await door.stranger.post(f"/v1/auth/verify-email/{token}")

    assert answer.status_code in {400, 404}
    assert answer.status_code == 400 or "%2F" in token


async def test_verifying_keeps_password_and_sessions(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    await ask(client_at(idle_service), f"/verify-email/{token}")

    assert await is_verified(idle_service, ana)
    assert [] == await inbox.new_mails(idle_service)


async def test_resending_mails_another_link_and_keeps_the_first(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    first = await inbox.new_token(idle_service, "verify-email")

    answer = await ask(idle_service, "/verify-email/resend", **ana.headers)
    second = await inbox.new_token(idle_service, "verify-email")

    assert (202, {"ok": True}) == (answer.status_code, answer.json())
    assert first != second
    assert (await ask(idle_service, f"/verify-email/{first}")).is_success
    assert (await ask(idle_service, f"/verify-email/{second}")).is_success


async def test_resending_takes_a_session_of_either_kind_and_no_less(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    shown = cookie(access=ana.tokens["access_token"])

    assert 202 == (await ask(idle_service, "/verify-email/resend", Cookie=shown)).status_code
    assert (401, "unauthorized") == outcome(await ask(idle_service, "/verify-email/resend"))


async def test_resending_mails_one_a_minute_and_five_an_hour_whatever_it_answers(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    sent = []
    for minutes in (0, 0.5, 1, 2, 3, 4, 5, 6):
        with clock.moved(minutes * MINUTE):
            answer = await ask(idle_service, "/verify-email/resend", **ana.headers)
            assert 202 == answer.status_code
            sent.append(len(await inbox.new_mails(idle_service)))

    assert [1, 0, 1, 1, 1, 1, 0, 0] == sent


async def test_nothing_is_resent_to_a_verified_address(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    await ask(idle_service, f"/verify-email/{token}")
    for _ in range(3):
        answer = await ask(idle_service, "/verify-email/resend", **ana.headers)
        assert 202 == answer.status_code

    assert [] == await inbox.new_mails(idle_service)


async def test_token_is_in_no_log_line_and_no_row(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await inbox.new_token(idle_service, "verify-email")
    for path in (f"/verify-email/{token}", f"/verify-email/{token}/", f"/verify-email//{token}"):
        await ask(idle_service, path)
        await ask(idle_service, path, method="GET")

    assert token not in json.dumps(idle_service.logs, default=str)
    assert "/v1/auth/verify-email/…" in {line.get("path") for line in idle_service.logs}
    for table in (tables.MailToken, tables.AuditEvent, tables.Mail):
        assert token not in str([row.__dict__ for row in await idle_service.rows(table)])
