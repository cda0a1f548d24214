"""POST /v1/auth/login."""

import asyncio
import datetime as dt
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import event, update
from sqlalchemy.engine import Engine

from recibo.lib import clock
from recibo.store import tables
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, signed_up
from tests.sign_ins import ask, audit_entries, client_at, outcome, refusal

pytestmark = ON_SQLITE

ANA = "ana@people.test"
UNKNOWN = "nobody@people.test"
EMOJI = "\N{GRINNING FACE}"
WRONG = "wrong password"
QUARTER = dt.timedelta(minutes=15)
SECOND = dt.timedelta(seconds=1)


async def log_in(i: Any, password: str = PASSWORD, email: str = ANA, **headers: str) -> Any:
    """Try to log in."""
    return await ask(i, "/login", {"email": email, "password": password}, **headers)


async def outcomes(i: Any, times: int, password: str = WRONG, email: str = ANA) -> list[int]:
    """Try to log in one time after the other, and return the statuses."""
    return [(await log_in(i, password, email)).status_code for _ in range(times)]


async def without_password(i: Installation) -> str:
    """Add a user who came by a link and set no password, and return the address."""
    tokens = await make.session(i.services.identity, None)
    return f"{tokens.user_id}@recibo.test"


async def disable(i: Installation) -> None:
    """Keep everybody out."""
    async with i.database.write() as session:
        await session.execute(update(tables.User).values(disabled_at=clock.now()))


@ON_BOTH
async def test_right_password_gives_a_session(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)

    answer = await log_in(idle_service, email="ANA@People.test")

    tokens = answer.json()
    assert 200 == answer.status_code
    assert {
        "access_token", "refresh_token", "token_type", "expires_in", "user_id", "org_id"
    } == tokens.keys()  # fmt: skip
    assert (ana.user_id, ana.org_id) == (tokens["user_id"], tokens["org_id"])
    assert ("Bearer", 900) == (tokens["token_type"], tokens["expires_in"])


@pytest.mark.parametrize("password", ["  two spaces  ", EMOJI * 128, "tab\tand\nline"])
async def test_password_is_taken_as_it_is(door: Installation, password: str) -> None:
    body = {"email": ANA, "password": password, "org_name": "Aurora"}
    assert 201 == (await ask(door, "/signup", body)).status_code

    assert 200 == (await log_in(door, password)).status_code
    for near in (password.strip(), password + " ", password[:-1], password.upper() + "x"):
        if near != password:
            assert (401, "authentication_failed") == outcome(await log_in(door, near))


@pytest.mark.parametrize("password", ["", " ", "a" * 129, "a" * 100_000, PASSWORD + "\u200b"])
async def test_what_could_be_no_password_is_as_wrong(door: Installation, password: str) -> None:
    await signed_up(door)

    assert (401, "authentication_failed") == outcome(await log_in(door, password))


async def test_whatever_is_wrong_gets_the_same_answer(idle_service: Installation) -> None:
    await signed_up(idle_service)
    wrong = await log_in(idle_service, WRONG)
    unknown = await log_in(idle_service, email=UNKNOWN)
    without = await log_in(idle_service, email=await without_password(idle_service))
    await disable(idle_service)
    disabled = await log_in(idle_service)

    assert (401, "authentication_failed") == outcome(wrong)
    assert refusal(wrong) == refusal(unknown) == refusal(without) == refusal(disabled)
    assert wrong.headers.keys() == unknown.headers.keys() == disabled.headers.keys()
    assert "set-cookie" not in wrong.headers


@contextmanager
def work_counted() -> Iterator[list[str]]:
    """Note each statement of the block and each hash that is verified while it runs."""
    done: list[str] = []
    # Background jobs were started before, so they do not have the value.
    is_counted = ContextVar("is_counted", default=False)
    is_counted.set(True)
    verify = PasswordHasher.verify

    def noting(self: PasswordHasher, hash_: str | bytes, password: str | bytes) -> bool:
        done.append("argon2")
        return verify(self, hash_, password)

    def execute(_: object, __: object, statement: str, *___: object) -> None:
        if is_counted.get():
            done.append(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PasswordHasher, "verify", noting)
        event.listen(Engine, "before_cursor_execute", execute)
        try:
            yield done
        finally:
            event.remove(Engine, "before_cursor_execute", execute)


async def test_whatever_is_wrong_takes_the_same_work(idle_service: Installation) -> None:
    await signed_up(idle_service)

    async def work(password: str, email: str) -> Sequence[str]:
        with work_counted() as done:
            assert 401 == (await log_in(idle_service, password, email)).status_code
        return done

    wrong, unknown = await work(WRONG, ANA), await work(WRONG, UNKNOWN)
    without = await work(WRONG, await without_password(idle_service))
    await disable(idle_service)
    disabled = await work(PASSWORD, ANA)

    assert 1 == wrong.count("argon2")
    assert len(wrong) > 4
    assert wrong == unknown == without == disabled


async def test_hashing_leaves_the_event_loop_alone(
    idle_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    for name in ("hash", "verify"):
        real = getattr(PasswordHasher, name)

        def noting(*args: Any, real: Any = real) -> Any:
            threads.append(threading.current_thread())
            return real(*args)

        monkeypatch.setattr(PasswordHasher, name, noting)
    await signed_up(idle_service)
    await log_in(idle_service)

    assert 2 == len(threads)
    assert threading.current_thread() not in threads


@ON_BOTH
async def test_others_are_answered_while_passwords_are_verified(
    idle_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signed_up(idle_service)
    go_on = threading.Event()
    monkeypatch.setattr(PasswordHasher, "verify", lambda *_: go_on.wait(20))
    logins = [asyncio.create_task(log_in(client_at(idle_service))) for _ in range(5)]

    answer = await idle_service.stranger.get("/readyz")
    go_on.set()

    assert 200 == answer.status_code
    assert [200] * 5 == [(await login).status_code for login in logins]


@ON_BOTH
@pytest.mark.parametrize("email", [ANA, UNKNOWN])
async def test_ten_wrong_ones_for_an_account_from_one_ip_are_the_last(
    idle_service: Installation, email: str
) -> None:
    await signed_up(idle_service)
    await signed_up(idle_service, email="bea@people.test")

    assert [401] * 10 + [429] * 2 == await outcomes(idle_service, 12, email=email)
    refused = await log_in(idle_service, email=email.upper())
    assert (429, "rate_limit_exceeded") == outcome(refused)
    assert 890 <= int(refused.headers["Retry-After"]) <= 900
    assert [429] == await outcomes(idle_service, 1, PASSWORD, email)
    assert [200] == await outcomes(idle_service, 1, PASSWORD, "bea@people.test")
    with clock.moved(QUARTER):
        assert [401] == await outcomes(idle_service, 1, email=email)
        assert [200] == await outcomes(idle_service, 1, PASSWORD)


async def test_window_begins_with_the_first_wrong_one(door: Installation) -> None:
    await signed_up(door)
    await outcomes(door, 1)
    with clock.moved(QUARTER - 2 * SECOND):
        assert [401] * 9 + [429] == await outcomes(door, 10)
    with clock.moved(QUARTER):
        assert [200] == await outcomes(door, 1, PASSWORD)


async def test_right_one_after_nine_wrong_ones_works_and_does_not_count(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)

    assert [401] * 9 == await outcomes(idle_service, 9)
    assert [200] * 3 == await outcomes(idle_service, 3, PASSWORD)
    assert [401, 429] == await outcomes(idle_service, 2)


async def test_other_places_are_counted_apart_and_cannot_be_forged(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    await outcomes(idle_service, 10)

    forged = await log_in(idle_service, X_Forwarded_For="198.51.100.1", Forwarded="for=1.1.1.1")

    assert 429 == forged.status_code
    assert [200] == await outcomes(client_at(idle_service), 1, PASSWORD)


async def test_a_hundred_wrong_ones_for_an_account_are_the_last_from_anywhere(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    for number in range(10):
        assert [401] * 10 == await outcomes(client_at(idle_service, f"203.0.113.{number}"), 10)

    assert [429] == await outcomes(client_at(idle_service, "198.51.100.1"), 1, PASSWORD)
    with clock.moved(QUARTER):
        assert [200] == await outcomes(client_at(idle_service, "198.51.100.1"), 1, PASSWORD)


async def test_fifty_wrong_ones_from_an_ip_are_the_last_for_any_account(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service)
    here = client_at(idle_service)
    for number in range(10):
        assert [401] * 5 == await outcomes(here, 5, email=f"nobody{number}@people.test")

    assert [429] == await outcomes(here, 1, PASSWORD)
    assert [200] == await outcomes(client_at(idle_service, "203.0.113.8"), 1, PASSWORD)
    with clock.moved(QUARTER):
        assert [200] == await outcomes(here, 1, PASSWORD)


@pytest.mark.parametrize(("limit_loopback", "status"), [(False, 200), (True, 429)])
async def test_a_developers_own_machine_is_spared_the_limit_of_an_ip(
    sqlite_url: str, tmp_path: Path, *, limit_loopback: bool, status: int
) -> None:
    async with installation.start(sqlite_url, tmp_path, limit_loopback=limit_loopback) as i:
        await signed_up(i)
        for number in range(50):
            await outcomes(i, 1, email=f"nobody{number}@people.test")

        assert [status] == await outcomes(i, 1, PASSWORD)
        # Of an account it is not spared.
        if status == 200:
            assert [401] * 10 + [429] == await outcomes(i, 11)


@ON_BOTH
async def test_of_twenty_wrong_ones_at_once_ten_are_verified(idle_service: Installation) -> None:
    await signed_up(idle_service)
    with work_counted() as done:
        answers = await asyncio.gather(*(log_in(client_at(idle_service), WRONG) for _ in range(20)))

    assert [401] * 10 + [429] * 10 == sorted(answer.status_code for answer in answers)
    assert 10 == done.count("argon2")


@ON_BOTH
async def test_right_ones_at_once_are_none_too_many(idle_service: Installation) -> None:
    await signed_up(idle_service)
    answers = await asyncio.gather(*(log_in(client_at(idle_service)) for _ in range(20)))

    assert [200] * 20 == [answer.status_code for answer in answers]


async def test_sign_ins_stand_in_the_log_of_the_org_whether_good_or_bad(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)
    await log_in(idle_service, WRONG)
    await log_in(idle_service)
    await log_in(idle_service, email=UNKNOWN)

    failed, good, unknown_user = await audit_entries(
        idle_service, "user.sign_in_failed", "user.signed_in"
    )

    # The login did not prove to be Ana.
    assert (ana.org_id, None) == (failed.org_id, failed.actor_user_id)
    assert ana.user_id == failed.resource_id
    assert (ana.org_id, {"method": "password"}) == (good.org_id, good.after)
    assert (None, None, None) == (
        unknown_user.org_id,
        unknown_user.actor_user_id,
        unknown_user.resource_id,
    )


@ON_BOTH
@pytest.mark.parametrize(
    "changes",
    [{"password_hash": "another"}, {"password_hash": None}, {"disabled_at": clock.now()}],
    ids=["changed", "dropped", "disabled"],
)
async def test_what_happens_while_a_password_is_verified_counts(
    idle_service: Installation, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    await signed_up(idle_service)
    begun, go_on = threading.Event(), threading.Event()

    def waiting(*_: object) -> bool:
        begun.set()
        return go_on.wait(20)

    monkeypatch.setattr(PasswordHasher, "verify", waiting)
    login = asyncio.create_task(log_in(idle_service))
    await asyncio.to_thread(begun.wait, 20)
    async with idle_service.database.write() as session:
        await session.execute(update(tables.User).values(**changes))
    go_on.set()

    assert (401, "authentication_failed") == outcome(await login)
