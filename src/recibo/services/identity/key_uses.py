"""When API keys were last used: kept in memory, so that no request costs a write."""

import datetime as dt
from typing import TypeAlias

from sqlalchemy import bindparam, or_, update

from recibo.lib import clock
from recibo.schemas.ids import KeyId
from recibo.schemas.keys import Key
from recibo.store.columns import UtcDateTime
from recibo.store.db import Database
from recibo.store.tables import ApiKey

_Uses: TypeAlias = dict[str, dt.datetime]

_USED_AT = bindparam("used_at", type_=UtcDateTime())
_STATEMENT = (
    update(ApiKey)
    .where(
        ApiKey.id == bindparam("key_id"),
        or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < _USED_AT),
    )
    .values(last_used_at=_USED_AT)
)


class KeyUses:
    """What this process has seen and not yet written down."""

    def __init__(self) -> None:
        self._latest: _Uses = {}

    def note(self, key_id: KeyId) -> None:
        """Remember that a key is used now."""
        self._latest[key_id] = clock.now()

    def with_latest(self, key: Key) -> Key:
        """Return a key's record with the latest use known here."""
        known = [at for at in (key.last_used_at, self._latest.get(key.id)) if at is not None]
        return key.model_copy(update={"last_used_at": max(known, default=None)})

    async def flush(self, database: Database) -> None:
        """Store the latest uses; a later use stored by another process is kept."""
        # In one order everywhere: two processes would wait for each other's rows.
        seen = sorted(self._latest.items())
        if not seen:
            return
        async with database.write() as session:
            connection = await session.connection()
            await connection.execute(
                _STATEMENT, [{"key_id": key_id, "used_at": at} for key_id, at in seen]
            )
        # Only now: what could not be written is tried again.
        for key_id, at in seen:
            if self._latest.get(key_id) == at:
                del self._latest[key_id]
