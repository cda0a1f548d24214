"""POST /v1/auth/switch-org and /v1/auth/logout-all."""

import asyncio
import datetime as dt
from pathlib import Path

import httpx
import pytest
from sqlalchemy import delete

from recibo.lib import clock
from recibo.schemas.states import Role
from recibo.services.identity import sessions
from recibo.store import tables
from tests import inbox, installation
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, Session, session_of, signed_up
from tests.sign_ins import (
    ask,
    audit_entries,
    client_at,
    cookie,
    outcome,
    set_cookies,
    waits_for_a_lock,
)

pytestmark = ON_SQLITE

DAY = dt.timedelta(days=1)
MINUTE = dt.timedelta(minutes=1)
UNAUTHORIZED = (401, "unauthorized")


async def add(i: Installation, user_id: str, org_id: str, role: Role = Role.VIEWER) -> None:
    """Add a user to an org."""
    async with i.database.write() as session:
        row = tables.Membership(
            org_id=org_id, user_id=user_id, role=role, created_at=clock.now()
        )  # fmt: skip
        session.add(row)


async def two_orgs(i: Installation) -> tuple[Session, str]:
    """Return an owner of one org who is a viewer in another, and that one's id."""
    ana = await signed_up(i)
    bea = await signed_up(i, email="bea@people.test", org="Bea")
    await add(i, ana.user_id, bea.org_id)
    return ana, bea.org_id


async def switch(i: Installation, ana: Session, org_id: object) -> httpx.Response:
    """Go to another org."""
    return await ask(i, "/switch-org", {"org_id": org_id}, **ana.headers)


async def me(i: Installation, ana: Session) -> httpx.Response:
    """Ask who calls."""
    return await ask(i, "/me", method="GET", **ana.headers)


@ON_BOTH
async def test_switching_gives_a_session_in_the_other_org(idle_service: Installation) -> None:
    ana, other = await two_orgs(idle_service)

    answer = await switch(idle_service, ana, other)

    pair = answer.json()
    assert 200 == answer.status_code
    assert ana.tokens.keys() == pair.keys()
    assert other == pair["org_id"]
    assert pair["access_token"] == set_cookies(answer)["service_access"][0]
    there = (await me(idle_service, await session_of(idle_service, answer))).json()
    assert (other, "viewer") == (there["org"]["id"], there["role"])
    # The session before it goes on where it was.
    assert ana.org_id == (await me(idle_service, ana)).json()["org"]["id"]
    (row,) = await audit_entries(idle_service, "user.org_switched")
    assert (other, ana.user_id) == (row.org_id, row.actor_user_id)


@ON_BOTH
async def test_refreshing_stays_there_and_login_goes_to_the_last_used(
    idle_service: Installation,
) -> None:
    ana, other = await two_orgs(idle_service)
    login = {"email": ana.email, "password": PASSWORD}
    assert ana.org_id == (await ask(idle_service, "/login", login)).json()["org_id"]

    switched = await switch(idle_service, ana, other)

    refresh = {"refresh_token": switched.json()["refresh_token"]}
    assert other == (await ask(idle_service, "/refresh", refresh)).json()["org_id"]
    assert other == (await ask(idle_service, "/login", login)).json()["org_id"]
    async with idle_service.database.write() as session:
        await session.execute(delete(tables.Membership).where(tables.Membership.org_id == other))
    assert ana.org_id == (await ask(idle_service, "/login", login)).json()["org_id"]


@pytest.mark.parametrize(
    "org_id", ["", "org_1", "org_" + "0" * 32, "padaria-aurora", "usr_" + "0" * 32, "é", "a" * 9999]
)
async def test_unknown_and_malformed_orgs_are_404(door: Installation, org_id: str) -> None:
    ana = await signed_up(door)

    assert (404, "not_found") == outcome(await switch(door, ana, org_id))


async def test_orgs_of_others_are_404(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    bea = await signed_up(idle_service, email="bea@people.test", org="Bea")

    foreign = await switch(idle_service, ana, bea.org_id)
    unknown = await switch(idle_service, ana, "org_" + "0" * 32)

    assert (404, "not_found") == outcome(foreign)
    assert foreign.json()["error"]["message"] == unknown.json()["error"]["message"]
    assert {} == set_cookies(foreign)


async def test_switching_to_where_one_is_works(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)

    assert ana.org_id == (await switch(idle_service, ana, ana.org_id)).json()["org_id"]


async def test_switching_leaves_the_number_of_ways_in_as_it_was(
    idle_service: Installation,
) -> None:
    ana, other = await two_orgs(idle_service)
    there = await session_of(idle_service, await switch(idle_service, ana, other))

    ended = await ask(idle_service, "/logout-all", **there.headers)

    assert 200 == ended.status_code
    for old in (ana, there):
        assert UNAUTHORIZED == outcome(await me(idle_service, old))


async def test_session_there_is_as_old_as_the_sign_in(idle_service: Installation) -> None:
    ana, other = await two_orgs(idle_service)
    token = ana.tokens["refresh_token"]
    for days in (29, 58, 87):
        with clock.moved(days * DAY):
            refreshed = await ask(idle_service, "/refresh", {"refresh_token": token})
            ana = await session_of(idle_service, refreshed)
            token = (await switch(idle_service, ana, other)).json()["refresh_token"]
    with clock.moved(90 * DAY):
        answer = await ask(idle_service, "/refresh", {"refresh_token": token})

    assert (401, "authentication_failed") == outcome(answer)


async def test_who_came_by_a_link_may_still_set_a_password_there(
    idle_service: Installation,
) -> None:
    ana, other = await two_orgs(idle_service)
    await inbox.new_mails(idle_service)
    await ask(idle_service, "/magic-link", {"email": ana.email})
    link = {"token": await inbox.new_token(idle_service, "magic-link")}
    ana = await session_of(idle_service, await ask(idle_service, "/magic-link/verify", link))
    there = await session_of(idle_service, await switch(idle_service, ana, other))
    body = {"new_password": PASSWORD}
    with clock.moved(14 * MINUTE):
        later = await session_of(idle_service, await switch(idle_service, there, other))
    with clock.moved(15 * MINUTE):
        refused = await ask(idle_service, "/password", body, **later.headers)
    with clock.moved(14 * MINUTE):
        passed = await ask(idle_service, "/password", body, **there.headers)

    assert (400, "validation_error") == outcome(refused)
    assert 200 == passed.status_code


async def test_logout_all_ends_every_session_but_the_callers(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    bea = await signed_up(idle_service, email="bea@people.test")
    login = {"email": ana.email, "password": PASSWORD}
    other = await session_of(idle_service, await ask(idle_service, "/login", login))

    answer = await ask(idle_service, "/logout-all", **ana.headers)

    pair = answer.json()
    assert (200, True) == (answer.status_code, pair.pop("ok"))
    assert ana.tokens.keys() == pair.keys()
    assert pair["refresh_token"] == set_cookies(answer)["service_refresh"][0]
    for old in (ana, other):
        assert UNAUTHORIZED == outcome(await me(idle_service, old))
        refresh = {"refresh_token": old.tokens["refresh_token"]}
        refused = await ask(idle_service, "/refresh", refresh)
        assert (401, "authentication_failed") == outcome(refused)
    fresh = await session_of(idle_service, answer)
    assert ana.org_id == fresh.org_id
    refresh = {"refresh_token": pair["refresh_token"]}
    assert 200 == (await ask(idle_service, "/refresh", refresh)).status_code
    assert 200 == (await me(idle_service, bea)).status_code
    (row,) = await audit_entries(idle_service, "user.sessions_ended")
    assert (ana.org_id, ana.user_id) == (row.org_id, row.actor_user_id)


async def test_logout_all_takes_the_cookie_too_and_no_body(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    shown = cookie(access=ana.tokens["access_token"])

    answer = await ask(idle_service, "/logout-all", Cookie=shown)

    shown = cookie(access=set_cookies(answer)["service_access"][0])
    assert 200 == (await ask(idle_service, "/me", method="GET", Cookie=shown)).status_code
    assert UNAUTHORIZED == outcome(await ask(idle_service, "/logout-all"))


@pytest.mark.parametrize("path", ["/logout-all", "/switch-org", "/password"])
async def test_request_under_way_while_all_sessions_end_begins_no_other(
    postgres_url: str, tmp_path: Path, path: str
) -> None:
    """SQLite has one transaction at a time, so there is nothing to be between."""
    async with installation.start(postgres_url, tmp_path, with_worker=False) as i:
        ana, other = await two_orgs(i)
        body = {"org_id": other, "new_password": PASSWORD, "current_password": PASSWORD}
        async with i.database.write() as session:
            user = await session.get_one(tables.User, ana.user_id, with_for_update=True)
            asked = asyncio.create_task(ask(client_at(i, "127.0.0.1"), path, body, **ana.headers))
            async with asyncio.timeout(60):
                while not await waits_for_a_lock(i):
                    pass
            await sessions.end_all(session, user)
        answer = await asked

    assert UNAUTHORIZED == outcome(answer)
    assert {} == set_cookies(answer)
