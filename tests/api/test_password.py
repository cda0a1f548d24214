"""POST /v1/auth/password."""

import asyncio
import datetime as dt
import json

import httpx
import pytest

from recibo.lib import clock
from recibo.schemas.states import Role
from recibo.store import tables
from tests import inbox
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, Session, bearer, join_by_invitation, session_of, signed_up
from tests.sign_ins import ask, audit_entries, client_at, cookie, outcome, set_cookies

pytestmark = ON_SQLITE

NEW = "another battery staple"
MINUTE = dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)
WRONG = (401, "authentication_failed")
INVALID = (400, "validation_error")
UNAUTHORIZED = (401, "unauthorized")


async def change(
    i: Installation | httpx.AsyncClient, ana: Session, new: str = NEW, current: str | None = None
) -> httpx.Response:
    """Change a password, naming the current one or not."""
    named = {} if current is None else {"current_password": current}
    return await ask(i, "/password", {"new_password": new, **named}, **ana.headers)


async def log_in(i: Installation, password: str, email: str = "ana@people.test") -> httpx.Response:
    """Log in."""
    return await ask(i, "/login", {"email": email, "password": password})


async def by_link(i: Installation, email: str = "ana@people.test") -> Session:
    """Sign in by a magic link."""
    await ask(i, "/magic-link", {"email": email})
    token = await inbox.new_token(i, "magic-link")
    return await session_of(i, await ask(i, "/magic-link/verify", {"token": token}))


async def test_new_password_replaces_the_current_one(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    await inbox.new_mails(idle_service)

    answer = await change(idle_service, ana, current=PASSWORD)

    assert 200 == answer.status_code
    assert WRONG == outcome(await log_in(idle_service, PASSWORD))
    assert 200 == (await log_in(idle_service, NEW)).status_code
    assert ["Your password was changed"] == await inbox.new_subjects(idle_service)


@ON_BOTH
async def test_all_sessions_end_but_the_callers_goes_on_with_a_new_pair(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    other = await session_of(idle_service, await log_in(idle_service, PASSWORD))

    answer = await change(idle_service, ana, current=PASSWORD)

    pair = answer.json()
    assert pair.pop("ok")
    assert ana.tokens.keys() == pair.keys()
    assert pair["access_token"] == set_cookies(answer)["service_access"][0]
    assert pair["refresh_token"] == set_cookies(answer)["service_refresh"][0]
    for old in (ana, other):
        assert UNAUTHORIZED == outcome(await ask(idle_service, "/me", method="GET", **old.headers))
        refresh = {"refresh_token": old.tokens["refresh_token"]}
        assert WRONG == outcome(await ask(idle_service, "/refresh", refresh))
    fresh = await session_of(idle_service, answer)
    assert ana.org_id == fresh.org_id
    refresh = {"refresh_token": fresh.tokens["refresh_token"]}
    assert 200 == (await ask(idle_service, "/refresh", refresh)).status_code


async def test_browsers_session_goes_on(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    shown = cookie(access=ana.tokens["access_token"], refresh=ana.tokens["refresh_token"])
    body = {"new_password": NEW, "current_password": PASSWORD}

    answer = await ask(idle_service, "/password", body, Cookie=shown)

    shown = cookie(access=set_cookies(answer)["service_access"][0])
    assert 200 == (await ask(idle_service, "/me", method="GET", Cookie=shown)).status_code


async def test_current_one_is_needed_where_there_is_one(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    missing = await change(idle_service, ana)
    body = {"new_password": NEW, "current_password": None}
    none = await ask(idle_service, "/password", body, **ana.headers)

    assert INVALID == outcome(missing) == outcome(none)
    assert ["current_password"] == [one["field"] for one in missing.json()["error"]["details"]]
    for wrong in ("", "wrong", PASSWORD + " ", PASSWORD.upper(), "a" * 100_000):
        assert WRONG == outcome(await change(idle_service, ana, current=wrong))
    assert 200 == (await log_in(idle_service, PASSWORD)).status_code
    assert 200 == (await ask(idle_service, "/me", method="GET", **ana.headers)).status_code


@pytest.mark.parametrize("new", ["1234567", "a" * 129, ""])
async def test_new_one_has_8_to_128_characters(door: Installation, new: str) -> None:
    ana = await signed_up(door)

    answer = await change(door, ana, new, current=PASSWORD)

    assert INVALID == outcome(answer)
    assert ["new_password"] == [one["field"] for one in answer.json()["error"]["details"]]


@pytest.mark.parametrize("new", ["\N{GRINNING FACE}" * 8, "a" * 128, "  spaces  ", PASSWORD])
async def test_no_other_rule_holds(door: Installation, new: str) -> None:
    ana = await signed_up(door)

    assert 200 == (await change(door, ana, new, current=PASSWORD)).status_code
    assert 200 == (await log_in(door, new)).status_code


async def test_wrong_ones_count_as_wrong_ones_at_login(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    for _ in range(5):
        assert WRONG == outcome(await change(idle_service, ana, current="wrong"))
    for _ in range(5):
        assert WRONG == outcome(await log_in(idle_service, "wrong"))

    refused = await change(idle_service, ana, current=PASSWORD)

    assert (429, "rate_limit_exceeded") == outcome(refused)
    assert 429 == (await log_in(idle_service, PASSWORD)).status_code
    with clock.moved(14 * MINUTE):
        assert 429 == (await log_in(idle_service, PASSWORD)).status_code
    elsewhere = await change(client_at(idle_service), ana, current=PASSWORD)
    assert 200 == elsewhere.status_code


async def test_right_one_does_not_count(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    for _ in range(9):
        await change(idle_service, ana, current="wrong")
    for _ in range(3):
        answer = await change(idle_service, ana, PASSWORD, current=PASSWORD)
        ana = await session_of(idle_service, answer)

    assert WRONG == outcome(await change(idle_service, ana, current="wrong"))
    assert 429 == (await change(idle_service, ana, current="wrong")).status_code


async def test_current_one_is_not_asked_for_within_15_minutes_of_a_link(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    ana = await by_link(idle_service)
    with clock.moved(14 * MINUTE):
        assert 200 == (await change(idle_service, ana)).status_code
        assert 200 == (await log_in(idle_service, NEW)).status_code


async def test_it_is_not_asked_for_after_a_refresh_either(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    ana = await by_link(idle_service)
    refresh = {"refresh_token": ana.tokens["refresh_token"]}
    ana = await session_of(idle_service, await ask(idle_service, "/refresh", refresh))

    assert 200 == (await change(idle_service, ana)).status_code


async def test_it_is_asked_for_after_that(idle_service: Installation) -> None:
    await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    ana = await by_link(idle_service)
    refresh = {"refresh_token": ana.tokens["refresh_token"]}
    with clock.moved(15 * MINUTE + SECOND):
        later = await session_of(idle_service, await ask(idle_service, "/refresh", refresh))
        assert INVALID == outcome(await change(idle_service, later))
        answer = await change(idle_service, later, current=PASSWORD)
        assert 200 == answer.status_code


async def test_a_link_of_one_session_frees_no_other(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    await inbox.new_mails(idle_service)
    await by_link(idle_service)

    assert INVALID == outcome(await change(idle_service, ana))


async def test_user_without_a_password_sets_one(idle_service: Installation) -> None:
    owner = await signed_up(idle_service)
    bea = await join_by_invitation(idle_service, owner, "bea@people.test")

    assert 200 == (await change(idle_service, bea)).status_code
    assert 200 == (await log_in(idle_service, NEW, "bea@people.test")).status_code


async def test_bound_session_may_not_whatever_it_sends(idle_service: Installation) -> None:
    owner = await signed_up(idle_service)
    await signed_up(idle_service, email="bea@people.test", org="Bea")
    bea = await join_by_invitation(idle_service, owner, "bea@people.test", Role.VIEWER)
    refresh = {"refresh_token": bea.tokens["refresh_token"]}
    bea = await session_of(idle_service, await ask(idle_service, "/refresh", refresh))
    before = await idle_service.rows(tables.User)

    for path, body in [
        ("/password", {"new_password": NEW, "current_password": PASSWORD}),
        ("/password", {"new_password": NEW}),
        ("/password", {"new_password": 1}),
        ("/password", None),
        ("/switch-org", {"org_id": owner.org_id}),
        ("/switch-org", {"org_id": "nonsense"}),
        ("/switch-org", {}),
        ("/logout-all", None),
    ]:
        answer = await ask(idle_service, path, body, **bea.headers)
        assert (403, "insufficient_scope") == outcome(answer), (path, body)
        assert answer.json()["error"]["details"]
    assert [row.password_hash for row in before] == [
        row.password_hash for row in await idle_service.rows(tables.User)
    ]
    assert 200 == (await ask(idle_service, "/me", method="GET", **bea.headers)).status_code


@ON_BOTH
async def test_of_two_changes_at_once_one_holds(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    answers = await asyncio.gather(
        *(change(client_at(idle_service), ana, f"{NEW} {n}", current=PASSWORD) for n in range(4))
    )

    good = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    assert 1 == len(good)
    assert {401} == {answer.status_code for answer in answers} - {200}
    assert 200 == (await log_in(idle_service, f"{NEW} {good[0]}")).status_code
    pair = answers[good[0]].json()
    me = await ask(idle_service, "/me", method="GET", **bearer(pair["access_token"]))
    assert 200 == me.status_code


async def test_change_is_audited_without_passwords(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    await change(idle_service, ana, current="wrong password")
    await change(idle_service, ana, current=PASSWORD)

    (row,) = await audit_entries(idle_service, "user.password_changed")

    assert (ana.org_id, ana.user_id) == (row.org_id, row.actor_user_id)
    log = json.dumps(idle_service.logs, default=str)
    log += str([row.__dict__ for row in await idle_service.rows(tables.AuditEvent)])
    pair = (ana.tokens["access_token"], ana.tokens["refresh_token"])
    for secret in (PASSWORD, NEW, "wrong password", "$argon2", *pair):
        assert secret not in log
