"""When keys were last used: seen in memory, written down in batches."""

import asyncio
import datetime as dt
from pathlib import Path

import pytest
from sqlalchemy import select

from recibo import app
from recibo.lib import clock
from recibo.schemas.ids import KeyId
from recibo.services.identity.key_uses import KeyUses
from recibo.store.db import Database
from recibo.store.tables import ApiKey
from tests import installation, make, waiting

HOUR = dt.timedelta(hours=1)


@pytest.fixture
async def key_id(database: Database) -> KeyId:
    """The id of a key."""
    return (await make.actor(database)).key_id


async def written(database: Database) -> dict[str, dt.datetime | None]:
    """Return the last use of each key, as it is stored."""
    async with database.read() as session:
        rows = await session.execute(select(ApiKey.id, ApiKey.last_used_at))
        return {row.id: row.last_used_at for row in rows}


async def test_the_latest_use_is_written_for_each_key(database: Database, key_id: KeyId) -> None:
    other = (await make.actor(database)).key_id
    unused = (await make.actor(database)).key_id
    uses = KeyUses()
    for key in (key_id, other, key_id):
        uses.note(key)
    with clock.moved(HOUR):
        uses.note(key_id)
        last = clock.now()

    await uses.flush(database)

    stored = await written(database)
    assert stored[unused] is None
    first, second = stored[other], stored[key_id]
    assert first is not None
    assert second is not None
    assert first < last - HOUR / 2 < second <= last


async def test_late_flush_does_not_move_a_use_back(database: Database, key_id: KeyId) -> None:
    slow, quick = KeyUses(), KeyUses()
    slow.note(key_id)
    with clock.moved(HOUR):
        quick.note(key_id)
    await quick.flush(database)
    before = await written(database)

    await slow.flush(database)

    assert before == await written(database)


async def test_what_could_not_be_written_is_kept(
    database: Database, key_id: KeyId, tmp_path: Path
) -> None:
    uses = KeyUses()
    uses.note(key_id)
    nowhere = Database(f"sqlite:///{tmp_path / 'none' / 'none.db'}")
    with pytest.raises(Exception, match="unable to open"):
        await uses.flush(nowhere)
    await nowhere.close()

    await uses.flush(database)

    assert None not in (await written(database)).values()


async def test_use_is_written_while_the_process_runs(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_KEY_USES_SECONDS", 0.01)
    async with (
        installation.start(database_url, tmp_path, with_worker=False) as service,
        asyncio.timeout(20),
    ):

        async def is_written() -> bool:
            return None not in (await written(service.database)).values()

        await service.get("/key")
        await waiting.until(is_written)


async def test_process_without_a_worker_writes_when_it_ends(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(database_url, tmp_path, with_worker=False) as service:
        assert 200 == (await service.get("/key")).status_code

    database = Database(database_url)
    stored = await written(database)
    await database.close()
    assert None not in stored.values()
