"""Passwords when too many come at once: what is refused, and who gets through."""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from argon2 import PasswordHasher

from recibo.lib.moving_average import MovingAverage
from recibo.schemas.ids import UserId
from recibo.schemas.states import MailTokenKind
from recibo.services.identity import email_tokens, password_auth, passwords
from recibo.store.tables import AuditEvent
from tests import installation, people
from tests.installation import Installation
from tests.people import PASSWORD, Session
from tests.sign_ins import ask, client_at, outcome

if TYPE_CHECKING:
    import httpx

CAPACITY = 8
FLOOD = 40
BUSY = (503, "server_error")
# By default, limits per address do not refuse requests from here.
LOOPBACK = "127.0.0.1"
WRONG = "wrong password"
OTHER = "another horse battery staple"

Task: TypeAlias = "asyncio.Task[httpx.Response]"


class Hashing:
    """Blocks the hashing thread until it is released, and records its work."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.is_free = threading.Event()
        self.is_free.set()
        self.begun = list[str]()
        self.has_begun = threading.Event()
        for name in ("hash", "verify"):
            patch.setattr(PasswordHasher, name, self._held(getattr(PasswordHasher, name)))

    def hold(self) -> None:
        """Let nothing end from now on, and forget what was done before."""
        self.is_free.clear()
        self.begun.clear()
        self.has_begun.clear()

    def _held(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def held(*args: Any) -> Any:
            self.begun.append(args[-1])
            self.has_begun.set()
            assert self.is_free.wait(60)
            return real(*args)

        return held


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Hashing:
    """One thread that hashes, which the test holds, and a queue whose length time has no say in."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(passwords, "_LONGEST_WAIT_SECONDS", 3600.0)
    monkeypatch.setattr(passwords, "_ASSUMED_SECONDS", 3600.0 / CAPACITY)
    monkeypatch.setattr(MovingAverage, "add", lambda *_: None)
    return Hashing(monkeypatch)


@pytest.fixture
async def i(sqlite_url: str, tmp_path: Path, hashing: Hashing) -> AsyncIterator[Installation]:
    """A server whose hashing the test holds."""
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as started:
        yield started
        hashing.is_free.set()


def wrong_log_in(i: Installation, number: int, address: str) -> Task:
    """Start signing in to a separate account with a wrong password."""
    body = {"email": f"nobody{number}@people.test", "password": WRONG}
    return asyncio.create_task(ask(client_at(i, address), "/login", body))


def right_log_in(i: Installation, who: Session, address: str) -> Task:
    """Begin to sign in with the right password."""
    body = {"email": who.email, "password": PASSWORD}
    return asyncio.create_task(ask(client_at(i, address), "/login", body))


async def until_refused(tasks: list[Task], count: int) -> None:
    """Wait until so many of the requests were answered while the thread is held."""
    while sum(task.done() for task in tasks) < count:
        waiting = [task for task in tasks if not task.done()]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED, timeout=60)


async def until_full(i: Installation) -> list[Task]:
    """Fill the queue from as many addresses as it has places."""
    tasks = [wrong_log_in(i, number, f"198.51.100.{number}") for number in range(CAPACITY + 1)]
    async with asyncio.timeout(60):
        while i.services.identity.passwords.waiting < CAPACITY:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    return tasks


@pytest.mark.parametrize("address", [LOOPBACK, "203.0.113.7"], ids=["same address", "another"])
async def test_right_password_gets_through_a_flood_of_wrong_ones(
    i: Installation, hashing: Hashing, address: str
) -> None:
    ana = await people.signed_up(i)
    hashing.hold()
    flood = [wrong_log_in(i, number, LOOPBACK) for number in range(FLOOD)]
    await until_refused(flood, FLOOD - CAPACITY - 1)

    right = right_log_in(i, ana, address)
    await until_refused(flood, FLOOD - CAPACITY)
    hashing.is_free.set()
    answers = [await task for task in flood]

    assert 200 == (await right).status_code
    # Behind the one that was being verified, and at most one more of the flood.
    assert PASSWORD in hashing.begun[:3]
    assert {401: CAPACITY, 503: FLOOD - CAPACITY} == Counter(one.status_code for one in answers)
    refused = next(one for one in answers if one.status_code == 503)
    assert BUSY == outcome(refused)
    assert 1 <= int(refused.headers["Retry-After"]) == refused.json()["error"]["retry_after"]


async def test_every_place_that_hashes_is_refused_when_the_queue_is_full(
    i: Installation, hashing: Hashing
) -> None:
    ana = await people.signed_up(i)
    async with i.database.write() as session:
        token = await email_tokens.mint(session, MailTokenKind.PASSWORD_RESET, UserId(ana.user_id))
    change = {"new_password": OTHER, "current_password": PASSWORD}
    reset = {"token": token, "new_password": OTHER}
    signup = {"email": "bea@people.test", "password": PASSWORD, "org_name": "Bea"}
    there = client_at(i)

    hashing.hold()
    flood = await until_full(i)
    refused = [
        await right_log_in(i, ana, "203.0.113.7"),
        await ask(there, "/signup", signup),
        await ask(there, "/password/reset", reset),
        await ask(there, "/password", change, **ana.headers),
    ]
    page = await there.post("/portal/sign-in", data={"email": ana.email, "password": PASSWORD})
    hashing.is_free.set()
    await asyncio.gather(*flood)

    assert [BUSY] * 4 == [outcome(one) for one in refused]
    assert 503 == page.status_code
    assert 1 <= int(page.headers["Retry-After"])
    assert "Too many passwords are being checked" in page.text
    # Nothing was counted, and nothing was used up.
    failed = [row for row in await i.rows(AuditEvent) if row.action == "user.sign_in_failed"]
    assert CAPACITY + 1 == len(failed)
    assert 201 == (await ask(there, "/signup", signup)).status_code
    assert 200 == (await ask(there, "/password/reset", reset)).status_code


async def test_try_that_waits_too_long_for_its_turn_is_refused(
    i: Installation, hashing: Hashing, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = await people.signed_up(i)
    monkeypatch.setattr(password_auth, "_LONGEST_TURN_SECONDS", 0.01)
    hashing.hold()
    first = right_log_in(i, ana, "203.0.113.7")
    await asyncio.to_thread(hashing.has_begun.wait, 60)

    second = await right_log_in(i, ana, "203.0.113.8")
    hashing.is_free.set()

    assert BUSY == outcome(second)
    assert 200 == (await first).status_code
    assert 200 == (await right_log_in(i, ana, "203.0.113.8")).status_code
