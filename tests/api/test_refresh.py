"""POST /v1/auth/refresh."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable

import httpx
import pytest
from sqlalchemy import update

from recibo.lib import clock
from recibo.store import tables
from tests import make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import bearer, signed_up
from tests.sign_ins import ask, client_at, cookie, outcome

pytestmark = ON_SQLITE

DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)
GRACE = 30 * SECOND
REFUSED = (401, "authentication_failed")


async def by_body(i: Installation | httpx.AsyncClient, token: object) -> httpx.Response:
    """Refresh by a token in the body."""
    return await ask(i, "/refresh", {"refresh_token": token})


async def by_cookie(i: Installation | httpx.AsyncClient, token: str) -> httpx.Response:
    """Refresh by a token in the cookie, without a body."""
    return await ask(i, "/refresh", Cookie=cookie(refresh=token))


Refresh = Callable[[Installation, str], Awaitable[httpx.Response]]


async def works(i: Installation, answer: httpx.Response) -> bool:
    """Return whether the pair of an answer works, the one token and the other."""
    pair = answer.json()
    me = await ask(i, "/me", method="GET", **bearer(pair["access_token"]))
    next_ = await by_body(i, pair["refresh_token"])
    return [200, 200] == [me.status_code, next_.status_code]


async def token_of(i: Installation) -> str:
    """Sign up a user and return the refresh token."""
    return str((await signed_up(i)).tokens["refresh_token"])


@pytest.mark.parametrize("refresh", [by_body, by_cookie])
async def test_refreshing_gives_a_new_pair_of_the_same_session(
    idle_service: Installation, refresh: Refresh
) -> None:
    ana = await signed_up(idle_service)
    answer = await refresh(idle_service, ana.tokens["refresh_token"])

    pair = answer.json()
    assert 200 == answer.status_code
    assert ana.tokens.keys() == pair.keys()
    assert (ana.user_id, ana.org_id, 900) == (
        pair["user_id"], pair["org_id"], pair["expires_in"]
    )  # fmt: skip
    assert not {pair["access_token"], pair["refresh_token"]} & set(ana.tokens.values())
    assert 1 == len(await idle_service.rows(tables.UserSession))
    assert await works(idle_service, answer)


async def test_access_tokens_made_before_live_on(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    await by_body(idle_service, ana.tokens["refresh_token"])

    assert 200 == (await ask(idle_service, "/me", method="GET", **ana.headers)).status_code


@ON_BOTH
async def test_used_one_in_the_body_is_401_at_once_and_ends_nothing(
    idle_service: Installation,
) -> None:
    token = await token_of(idle_service)
    next_ = await by_body(idle_service, token)

    for later in (0 * SECOND, GRACE - SECOND):
        with clock.moved(later):
            assert REFUSED == outcome(await by_body(idle_service, token))
    assert await works(idle_service, next_)


async def test_used_one_in_the_cookie_is_forgiven_for_half_a_minute(
    idle_service: Installation,
) -> None:
    token = await token_of(idle_service)
    next_ = await by_cookie(idle_service, token)
    with clock.moved(GRACE - SECOND):
        forgiven = await by_cookie(idle_service, token)

        assert 200 == forgiven.status_code
        assert await works(idle_service, forgiven)
        assert await works(idle_service, next_)
    assert 1 == len(await idle_service.rows(tables.UserSession))


@ON_BOTH
@pytest.mark.parametrize("again", [by_body, by_cookie])
async def test_reuse_after_that_is_401_and_ends_the_whole_family(
    idle_service: Installation, again: Refresh
) -> None:
    token = await token_of(idle_service)
    second = (await by_cookie(idle_service, token)).json()["refresh_token"]
    newest = (await by_cookie(idle_service, second)).json()["refresh_token"]
    with clock.moved(GRACE + SECOND):
        reused = await again(idle_service, token)

        assert REFUSED == outcome(reused)
        assert REFUSED == outcome(await by_body(idle_service, newest))
        assert REFUSED == outcome(await by_cookie(idle_service, newest))


async def test_reuse_ends_no_other_session_of_the_user(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    login = {"email": ana.email, "password": "correct horse battery staple"}
    other = await ask(idle_service, "/login", login)
    await by_body(idle_service, ana.tokens["refresh_token"])
    with clock.moved(GRACE + SECOND):
        assert REFUSED == outcome(await by_body(idle_service, ana.tokens["refresh_token"]))
        assert await works(idle_service, other)


@ON_BOTH
async def test_of_fifty_at_once_by_body_one_wins(idle_service: Installation) -> None:
    token = await token_of(idle_service)
    clients = [client_at(idle_service) for _ in range(50)]
    answers = await asyncio.gather(*(by_body(client, token) for client in clients))

    won = [answer for answer in answers if answer.status_code == 200]
    assert 1 == len(won)
    assert [REFUSED] * 49 == [outcome(answer) for answer in answers if answer not in won]
    assert await works(idle_service, won[0])


@ON_BOTH
async def test_two_tabs_at_once_both_get_a_pair_and_the_session_lives(
    idle_service: Installation,
) -> None:
    token = await token_of(idle_service)
    answers = await asyncio.gather(*(by_cookie(client_at(idle_service), token) for _ in range(2)))

    assert [200, 200] == [answer.status_code for answer in answers]
    with clock.moved(DAY):
        for answer in answers:
            fresh = await by_body(idle_service, answer.json()["refresh_token"])
            assert await works(idle_service, fresh)


async def test_refresh_token_lives_30_days(idle_service: Installation) -> None:
    token = await token_of(idle_service)
    with clock.moved(30 * DAY + SECOND):
        assert REFUSED == outcome(await by_body(idle_service, token))
        assert REFUSED == outcome(await by_cookie(idle_service, token))
    with clock.moved(30 * DAY - 5 * SECOND):
        assert 200 == (await by_body(idle_service, token)).status_code


async def test_family_lives_90_days_however_often_it_is_refreshed(
    idle_service: Installation,
) -> None:
    token = await token_of(idle_service)
    lives = []
    for days in (25, 50, 75, 89):
        with clock.moved(days * DAY):
            answer = await by_body(idle_service, token)
            token = answer.json()["refresh_token"]
            (life,) = [
                int(one.removeprefix("Max-Age="))
                for header in answer.headers.get_list("set-cookie")
                for one in header.split("; ")
                if header.startswith("service_refresh=") and one.startswith("Max-Age=")
            ]
            lives.append(life)
    with clock.moved(90 * DAY + SECOND):
        assert REFUSED == outcome(await by_body(idle_service, token))
    # The cookie lives as long as its token.
    assert [30 * 86400, 30 * 86400] == lives[:2]
    assert 15 * 86400 - 60 <= lives[2] <= 15 * 86400
    assert 86400 - 60 <= lives[3] <= 86400


async def test_bad_body_takes_precedence_over_the_cookie(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    bea = await signed_up(idle_service, email="bea@people.test")
    good = cookie(refresh=ana.tokens["refresh_token"])

    for bad in ("", "nonsense", "a" * 10_000, "é", ana.tokens["access_token"], "a.b.c", "[" * 5000):
        answer = await ask(idle_service, "/refresh", {"refresh_token": bad}, Cookie=good)
        assert REFUSED == outcome(answer)
    body = {"refresh_token": bea.tokens["refresh_token"]}
    assert bea.user_id == (await ask(idle_service, "/refresh", body, Cookie=good)).json()["user_id"]
    for none in ({"refresh_token": None}, {}, None):
        answer = await ask(idle_service, "/refresh", none, Cookie=good)
        assert ana.user_id == answer.json()["user_id"]
        good = cookie(refresh=answer.json()["refresh_token"])


async def test_nothing_shown_is_401(door: Installation) -> None:
    for body in (None, {}, {"refresh_token": None}):
        answer = await ask(door, "/refresh", body)
        assert REFUSED == outcome(answer)
        assert 'Bearer realm="recibo"' == answer.headers["WWW-Authenticate"]


async def test_tokens_of_another_type_are_401(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    access, refresh = ana.tokens["access_token"], ana.tokens["refresh_token"]

    assert REFUSED == outcome(await by_body(idle_service, access))
    assert REFUSED == outcome(await by_cookie(idle_service, access))
    assert REFUSED == outcome(
        await ask(idle_service, "/refresh", Cookie=cookie(access=refresh), **bearer(refresh))
    )
    assert (401, "unauthorized") == outcome(
        await ask(idle_service, "/me", method="GET", **bearer(refresh))
    )
    assert (401, "unauthorized") == outcome(
        await ask(idle_service, "/me", method="GET", Cookie=cookie(access=refresh))
    )


async def test_disabled_user_cannot_refresh(idle_service: Installation) -> None:
    token = await token_of(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(update(tables.User).values(disabled_at=clock.now()))

    assert REFUSED == outcome(await by_body(idle_service, token))


async def test_refreshing_stays_in_the_org_that_the_session_is_in(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    other = await make.org(idle_service.database)
    async with idle_service.database.write() as session:
        await session.execute(
            update(tables.User)
            .where(tables.User.id == ana.user_id)
            .values(last_org_id=other)
        )  # fmt: skip

    answer = await by_body(idle_service, ana.tokens["refresh_token"])

    assert ana.org_id == answer.json()["org_id"]


@ON_BOTH
async def test_user_without_an_org_refreshes_to_the_first_one_joined(
    idle_service: Installation,
) -> None:
    pair = await make.session(idle_service.services.identity, None)
    alone = await by_body(idle_service, pair.refresh_token)
    org_id = await make.org(idle_service.database)
    async with idle_service.database.write() as session:
        session.add(
            tables.Membership(
                org_id=org_id, user_id=pair.user_id, role="viewer", created_at=clock.now()
            )
        )
    joined = await by_body(idle_service, alone.json()["refresh_token"])

    assert (200, None) == (alone.status_code, alone.json()["org_id"])
    assert org_id == joined.json()["org_id"]
    assert await works(idle_service, joined)
