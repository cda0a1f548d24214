"""Rows that are over are deleted in portions: one delete of millions would block all who write."""

from sqlalchemy import ColumnElement, delete, inspect, select, tuple_

from recibo.store.db import Database
from recibo.store.tables import Table

_PORTION = 1000


async def purge_some(database: Database, table: type[Table], is_over: ColumnElement[bool]) -> int:
    """Delete up to a thousand rows that are over; return how many there were."""
    keys = inspect(table).primary_key
    some = select(*keys).where(is_over).limit(_PORTION)
    key = tuple_(*keys) if len(keys) > 1 else keys[0]
    async with database.write() as session:
        statement = delete(table).where(key.in_(some), is_over)
        deleted = (await session.execute(statement.returning(keys[0]))).all()
    return len(deleted)
