"""POST /v1/auth/magic-link and /v1/auth/magic-link/verify."""

import asyncio
import datetime as dt

import httpx
import pytest
from sqlalchemy import update

from recibo.lib import clock
from recibo.store import tables
from tests import inbox, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import bearer, signed_up
from tests.sign_ins import ask, audit_entries, client_at, outcome, set_cookies

pytestmark = ON_SQLITE

ANA = "ana@people.test"
MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)
SECOND = dt.timedelta(seconds=1)
SPENT = (400, "validation_error")


async def ask_for_link(i: Installation | httpx.AsyncClient, email: str = ANA) -> None:
    """Ask for a link; whatever there is, the answer is the same."""
    answer = await ask(i, "/magic-link", {"email": email})
    assert (202, {"ok": True}) == (answer.status_code, answer.json())
    assert {} == set_cookies(answer)


async def link(i: Installation, email: str = ANA) -> str:
    """Ask for a link and return its token."""
    await ask_for_link(i, email)
    return await inbox.new_token(i, "magic-link")


async def verify(i: Installation | httpx.AsyncClient, token: object) -> httpx.Response:
    """Sign in by a link."""
    return await ask(i, "/magic-link/verify", {"token": token})


@ON_BOTH
async def test_link_signs_in(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service, "ANA@People.test")

    answer = await verify(idle_service, token)

    pair = answer.json()
    assert 200 == answer.status_code
    assert ana.tokens.keys() == pair.keys()
    assert (ana.user_id, ana.org_id) == (pair["user_id"], pair["org_id"])
    assert {"service_access", "service_refresh"} == set_cookies(answer).keys()
    me = await ask(idle_service, "/me", method="GET", **bearer(pair["access_token"]))
    assert me.json()["user"]["email_verified"]


async def test_unknown_address_gets_no_mail_and_the_same_response(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)

    await ask_for_link(idle_service, "nobody@people.test")
    # The pending mails look the same until they are sent.
    pending = await idle_service.rows(tables.Mail)

    assert ["nobody@people.test"] == [row.recipient for row in pending]
    assert [] == await inbox.new_mails(idle_service)


async def test_disabled_user_gets_nothing_and_cannot_sign_in(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(update(tables.User).values(disabled_at=clock.now()))
    with clock.moved(MINUTE):
        await ask_for_link(idle_service)
        assert [] == await inbox.new_mails(idle_service)

    assert (401, "authentication_failed") == outcome(await verify(idle_service, token))


@pytest.mark.parametrize("email", ["", "ana", "ana@", "a" * 400 + "@people.test", "a@b.test\n"])
async def test_what_is_no_address_is_400(door: Installation, email: str) -> None:
    assert SPENT == outcome(await ask(door, "/magic-link", {"email": email}))


async def test_link_works_once(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)

    assert 200 == (await verify(idle_service, token)).status_code
    assert SPENT == outcome(await verify(idle_service, token))


@ON_BOTH
async def test_of_ten_at_once_one_signs_in(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)
    answers = await asyncio.gather(*(verify(client_at(idle_service), token) for _ in range(10)))

    assert [(200, "")] + [SPENT] * 9 == sorted(map(outcome, answers))


async def test_link_lives_15_minutes(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)

    with clock.moved(15 * MINUTE + SECOND):
        assert SPENT == outcome(await verify(idle_service, token))
    with clock.moved(14 * MINUTE):
        assert 200 == (await verify(idle_service, token)).status_code


@pytest.mark.parametrize("token", ["", "a", "0" * 32, "é" * 32, "0" * 31 + "\n", "a" * 100_000])
async def test_whatever_is_no_link_is_400(door: Installation, token: str) -> None:
    answer = await verify(door, token)

    assert SPENT == outcome(answer)
    assert ["token"] == [one["field"] for one in answer.json()["error"]["details"]]


async def test_tokens_of_other_mails_are_no_links(idle_service: Installation) -> None:
    await signed_up(idle_service)
    of_address = await inbox.new_token(idle_service, "verify-email")
    await ask(idle_service, "/password/forgot", {"email": ANA})
    of_reset = await inbox.new_token(idle_service, "reset-password")

    for token in (of_address, of_reset):
        assert SPENT == outcome(await verify(idle_service, token))
    # They were not spent by that.
    assert (await ask(idle_service, f"/verify-email/{of_address}")).is_success


async def test_newest_link_alone_works(idle_service: Installation) -> None:
    await signed_up(idle_service)
    first = await link(idle_service)
    with clock.moved(MINUTE):
        second = await link(idle_service)

        assert SPENT == outcome(await verify(idle_service, first))
        assert 200 == (await verify(idle_service, second)).status_code


async def test_one_mail_a_minute_and_the_earlier_link_stays_good(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)
    await ask_for_link(idle_service)
    with clock.moved(MINUTE - SECOND):
        await ask_for_link(idle_service)

        assert [] == await inbox.new_mails(idle_service)
        assert 200 == (await verify(idle_service, token)).status_code


async def test_five_mails_an_hour_for_an_address_and_ip(idle_service: Installation) -> None:
    await signed_up(idle_service)
    tokens = []
    for number in range(8):
        with clock.moved(number * 2 * MINUTE):
            await ask_for_link(idle_service)
            tokens += await inbox.new_tokens(idle_service, "magic-link")
    with clock.moved(HOUR):
        tokens.append(await link(idle_service))
    with clock.moved(10 * MINUTE):
        # From another place, and for another address, it is counted apart.
        await ask_for_link(client_at(idle_service))
        tokens += await inbox.new_tokens(idle_service, "magic-link")
        await signed_up(idle_service, email="bea@people.test")
        tokens.append(await link(idle_service, "bea@people.test"))

    assert 5 + 1 + 1 + 1 == len(tokens)


async def test_twenty_mails_an_hour_for_an_address_from_anywhere(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    for number in range(25):
        await ask_for_link(client_at(idle_service, f"203.0.113.{number}"))
    sent = await inbox.new_tokens(idle_service, "magic-link")
    with clock.moved(HOUR):
        later = await link(idle_service)

    assert 20 == len(sent)
    assert later not in sent


@ON_BOTH
async def test_requests_at_once_send_one_mail(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    await asyncio.gather(*(ask_for_link(client_at(idle_service)) for _ in range(10)))

    assert 1 == len(await inbox.new_mails(idle_service))


async def test_sign_in_is_audited(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service)
    await verify(idle_service, token)

    (verified,) = await audit_entries(idle_service, "user.email_verified")
    (signed_in,) = await audit_entries(idle_service, "user.signed_in")

    assert (ana.org_id, ana.user_id) == (verified.org_id, verified.actor_user_id)
    assert (ana.org_id, {"method": "magic_link"}) == (signed_in.org_id, signed_in.after)
    assert token not in str([row.__dict__ for row in await idle_service.rows(tables.AuditEvent)])


async def test_user_without_an_org_signs_in_to_none(idle_service: Installation) -> None:
    pair = await make.session(idle_service.services.identity, None)
    token = await link(idle_service, f"{pair.user_id}@recibo.test")

    answer = await verify(idle_service, token)

    assert (200, None) == (answer.status_code, answer.json()["org_id"])
