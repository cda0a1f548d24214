"""POST /v1/auth/password/forgot and /v1/auth/password/reset."""

import asyncio
import datetime as dt

import httpx
import pytest
from argon2 import PasswordHasher
from sqlalchemy import delete, update

from recibo.lib import clock
from recibo.schemas.ids import OrgId, UserId
from recibo.services.identity import sessions
from recibo.store import tables
from tests import inbox
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, Session, bearer, session_of, signed_up
from tests.sign_ins import ask, audit_entries, client_at, cookie, outcome, set_cookies

pytestmark = ON_SQLITE

ANA = "ana@people.test"
NEW = "another battery staple"
MINUTE = dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)
INVALID = (400, "validation_error")
WRONG = (401, "authentication_failed")


async def link(i: Installation, email: str = ANA) -> str:
    """Ask for a reset and return the token of its mail."""
    answer = await ask(i, "/password/forgot", {"email": email})
    assert (202, {"ok": True}) == (answer.status_code, answer.json())
    return await inbox.new_token(i, "reset-password")


async def reset(
    i: Installation | httpx.AsyncClient, token: str, new: str = NEW, **headers: str
) -> httpx.Response:
    """Set a password by a link."""
    body = {"token": token, "new_password": new}
    return await ask(i, "/password/reset", body, **headers)


async def log_in(i: Installation, password: str) -> httpx.Response:
    """Log in."""
    return await ask(i, "/login", {"email": ANA, "password": password})


async def is_ended(i: Installation, ana: Session) -> bool:
    """Return whether both tokens of a session are refused."""
    me = await ask(i, "/me", method="GET", **ana.headers)
    refresh = await ask(i, "/refresh", {"refresh_token": ana.tokens["refresh_token"]})
    return [401, 401] == [me.status_code, refresh.status_code]


@ON_BOTH
async def test_link_sets_a_password_and_ends_all_sessions(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    other = await session_of(idle_service, await log_in(idle_service, PASSWORD))
    token = await link(idle_service)

    answer = await reset(idle_service, token)

    assert (200, {"ok": True}) == (answer.status_code, answer.json())
    assert {} == set_cookies(answer)
    assert WRONG == outcome(await log_in(idle_service, PASSWORD))
    assert 200 == (await log_in(idle_service, NEW)).status_code
    assert await is_ended(idle_service, ana)
    assert await is_ended(idle_service, other)
    assert ["Your password was changed"] == await inbox.new_subjects(idle_service)


@pytest.mark.parametrize("by_cookie", [False, True])
async def test_session_that_is_shown_goes_on_with_a_new_pair(
    idle_service: Installation, *, by_cookie: bool
) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service)
    shown = {"Cookie": cookie(access=ana.tokens["access_token"])} if by_cookie else ana.headers

    answer = await reset(idle_service, token, **shown)

    pair = answer.json()
    assert pair["ok"]
    assert pair["access_token"] == set_cookies(answer)["service_access"][0]
    assert await is_ended(idle_service, ana)
    fresh = await session_of(idle_service, answer)
    assert (ana.user_id, ana.org_id) == (fresh.user_id, fresh.org_id)
    assert not await is_ended(idle_service, fresh)


async def test_session_of_another_is_left_alone_and_gets_nothing(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    bea = await signed_up(idle_service, email="bea@people.test")
    token = await link(idle_service)

    answer = await reset(idle_service, token, **bea.headers)

    assert {"ok": True} == answer.json()
    assert not await is_ended(idle_service, bea)


async def test_session_of_an_org_that_was_left_goes_on_in_none(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(
            delete(tables.Membership).where(tables.Membership.user_id == ana.user_id)
        )

    answer = await reset(idle_service, token, **ana.headers)

    pair = answer.json()
    assert pair["org_id"] is None
    me = await ask(idle_service, "/me", method="GET", **bearer(pair["access_token"]))
    assert 200 == me.status_code


async def test_ended_session_does_not_go_on(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service)
    async with idle_service.database.write() as session:
        await sessions.end_in_org(session, UserId(ana.user_id), OrgId(ana.org_id))

    assert {"ok": True} == (await reset(idle_service, token, **ana.headers)).json()


async def test_link_works_once_and_for_60_minutes(idle_service: Installation) -> None:
    await signed_up(idle_service)
    first = await link(idle_service)
    with clock.moved(60 * MINUTE + SECOND):
        assert INVALID == outcome(await reset(idle_service, first))
    with clock.moved(59 * MINUTE):
        assert 200 == (await reset(idle_service, first)).status_code
        assert INVALID == outcome(await reset(idle_service, first, "yet another one"))
        assert 200 == (await log_in(idle_service, NEW)).status_code


async def test_other_links_work_until_one_was_used(idle_service: Installation) -> None:
    await signed_up(idle_service)
    first = await link(idle_service)
    with clock.moved(2 * MINUTE):
        second = await link(idle_service)
    with clock.moved(4 * MINUTE):
        third = await link(idle_service)
        assert (await reset(idle_service, second)).is_success

        assert INVALID == outcome(await reset(idle_service, first))
        assert INVALID == outcome(await reset(idle_service, third))


@ON_BOTH
async def test_of_ten_at_once_one_sets_its_password(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)
    answers = await asyncio.gather(
        *(reset(client_at(idle_service), token, f"{NEW} {number}") for number in range(10))
    )

    assert [(200, "")] + [INVALID] * 9 == sorted(map(outcome, answers))
    (good,) = (number for number, answer in enumerate(answers) if answer.is_success)
    assert 200 == (await log_in(idle_service, f"{NEW} {good}")).status_code


@pytest.mark.parametrize("new", ["1234567", "a" * 129, ""])
async def test_password_that_does_not_hold_spends_no_link(
    idle_service: Installation, new: str
) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)

    refused = await reset(idle_service, token, new)

    assert INVALID == outcome(refused)
    assert ["new_password"] == [one["field"] for one in refused.json()["error"]["details"]]
    assert 200 == (await reset(idle_service, token, "\N{GRINNING FACE}" * 8)).status_code


async def test_guesses_are_refused_before_any_hashing(
    door: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[object] = []
    monkeypatch.setattr(PasswordHasher, "hash", lambda *given: hashed.append(given))
    for token in ("", "a", "0" * 32, "é" * 32):
        assert INVALID == outcome(await reset(door, token))

    assert [] == hashed


async def test_disabled_account_stays_as_it_is(idle_service: Installation) -> None:
    await signed_up(idle_service)
    token = await link(idle_service)
    before = [row.password_hash for row in await idle_service.rows(tables.User)]
    async with idle_service.database.write() as session:
        await session.execute(update(tables.User).values(disabled_at=clock.now()))

    assert WRONG == outcome(await reset(idle_service, token))
    assert before == [row.password_hash for row in await idle_service.rows(tables.User)]


async def test_magic_links_reset_nothing(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await ask(idle_service, "/magic-link", {"email": ANA})
    token = await inbox.new_token(idle_service, "magic-link")

    assert INVALID == outcome(await reset(idle_service, token))
    assert 200 == (await log_in(idle_service, PASSWORD)).status_code


async def test_forgetting_is_202_for_any_address_and_limited(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    for email in (ANA, ANA, "nobody@people.test", "ANA@people.test"):
        answer = await ask(idle_service, "/password/forgot", {"email": email})
        assert (202, {"ok": True}) == (answer.status_code, answer.json())

    assert 1 == len(await inbox.new_mails(idle_service))
    assert INVALID == outcome(await ask(idle_service, "/password/forgot", {"email": "ana"}))


async def test_magic_links_do_not_count_against_resets(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    await ask(idle_service, "/magic-link", {"email": ANA})
    await ask(idle_service, "/password/forgot", {"email": ANA})

    assert 2 == len(await inbox.new_mails(idle_service))


async def test_account_without_a_password_gets_one_so(idle_service: Installation) -> None:
    await signed_up(idle_service)
    async with idle_service.database.write() as session:
        row = await session.get_one(tables.User, (await signed_up_ids(idle_service))[0])
        row.password_hash = None
    assert WRONG == outcome(await log_in(idle_service, PASSWORD))

    await reset(idle_service, await link(idle_service))

    assert 200 == (await log_in(idle_service, NEW)).status_code


async def signed_up_ids(i: Installation) -> list[str]:
    """Return the ids of those with the address of these tests."""
    return [row.id for row in await i.rows(tables.User) if row.email == ANA]


async def test_reset_is_audited(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    token = await link(idle_service)
    await reset(idle_service, token)

    (row,) = await audit_entries(idle_service, "user.password_reset")

    assert (ana.org_id, ana.user_id, None, None) == (
        row.org_id, row.actor_user_id, row.before, row.after
    )  # fmt: skip
