"""Deletion of expired rows in batches: one DELETE of millions would block all writers."""

from sqlalchemy import ColumnElement, delete, inspect, select, tuple_

from recibo.store.db import Database
from recibo.store.tables import Table

_BATCH_SIZE = 1000


async def purge_some(
    database: Database, table: type[Table], is_expired: ColumnElement[bool]
) -> int:
    """Delete up to a thousand expired rows; return how many."""
    keys = inspect(table).primary_key
    some = select(*keys).where(is_expired).limit(_BATCH_SIZE)
    key = tuple_(*keys) if len(keys) > 1 else keys[0]
    async with database.write() as session:
        statement = delete(table).where(key.in_(some), is_expired)
        deleted = (await session.execute(statement.returning(keys[0]))).all()
    return len(deleted)
