"""The demo org of a first start."""

import asyncio

from recibo.services.identity import demo_org
from recibo.services.identity.passwords import Passwords
from recibo.store.db import Database
from tests import make, races

PROCESSES = 4


class MeetingPasswords(Passwords):
    """Hashes nothing, and lets all who start go on together."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        super().__init__()
        self._barrier = barrier

    async def hash(self, password: str, *, client: str = "") -> str:
        assert client == ""
        await self._barrier.wait()
        return f"hash of {password}"


async def test_one_of_several_starting_processes_creates_the_org_and_shows_its_key(
    database: Database,
) -> None:
    passwords = MeetingPasswords(asyncio.Barrier(PROCESSES))
    racers = [demo_org.seed(database, passwords) for _ in range(PROCESSES)]
    shown = [one for one in await races.answers_of(database, *racers) if one is not None]

    assert [demo_org.OWNER_EMAIL] == [one.email for one in shown]
    assert "scale" == (await make.actor_of(database, shown[0].key)).plan.name
