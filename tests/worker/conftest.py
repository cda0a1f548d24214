"""Workers over each kind of database, and queues of each kind."""

from pathlib import Path

import pytest

from recibo.lib import ids
from recibo.schemas.actor import Actor
from recibo.store.db import Database
from tests import core, make


@pytest.fixture
async def actor(database: Database) -> Actor:
    """A key of an org on the plan scale."""
    return await make.actor(database)


@pytest.fixture
def parts(database: Database, tmp_path: Path) -> core.Core:
    """What takes uploads in and works them off, put together."""
    return core.build(database, tmp_path)


@pytest.fixture(params=["memory", "redis"])
def queue(request: pytest.FixtureRequest) -> str:
    """The URL of an empty queue, in memory and over Redis."""
    if request.param == "memory":
        return f"memory://{ids.new('queue')}"
    url: str = request.getfixturevalue("redis_url")
    return url
