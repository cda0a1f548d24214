"""Workers over each kind of database, without an engine."""

from pathlib import Path

import pytest

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
