"""INSERT … ON CONFLICT, in the dialect of a session or in what both databases understand."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import RowMapping, TextClause, bindparam, text
from sqlalchemy.dialects import postgresql, sqlite

from recibo.store.db import Session
from recibo.store.tables import Table

Insert = sqlite.Insert | postgresql.Insert


def insert(session: Session, table: type[Table]) -> Any:
    """Return an insert with `on_conflict_do_update` and `on_conflict_do_nothing`."""
    dialect = session.get_bind().dialect.name
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


async def add(
    session: Session,
    table: type[Table],
    key: Mapping[str, Any],
    amounts: Mapping[str, Any],
    **others: Any,
) -> RowMapping:
    """Add amounts to columns of the row with this key, or insert it with the others; return it.

    Of the types of the database only numbers and texts come back as in Python.
    """
    sums = tuple(f"{one} = {table.__tablename__}.{one} + excluded.{one}" for one in amounts)
    columns = (*key, *amounts, *others)
    statement = statement_of(table, columns, tuple(key), sums, is_returned=True)
    return (await session.execute(statement, {**key, **amounts, **others})).mappings().one()


async def add_missing(session: Session, table: type[Table], **values: Any) -> None:
    """Insert a row, unless it or one equal in a unique column is there."""
    await session.execute(statement_of(table, tuple(values)), values)


@cache
def statement_of(
    table: type[Table],
    columns: Sequence[str],
    key: Sequence[str] = (),
    changes: Sequence[str] = (),
    *,
    is_returned: bool = False,
) -> TextClause:
    """Return an upsert of one row, which may return it; a row with this key is changed so instead.

    Without changes, a row that is there stays as it is.

    As text, because SQLAlchemy compiles its own INSERT … ON CONFLICT each time, which takes longer
    than the statement.
    """
    update = f"({', '.join(key)}) DO UPDATE SET {', '.join(changes)}"
    conflict = update if changes else "DO NOTHING"
    statement = (
        f"INSERT INTO {table.__tablename__} ({', '.join(columns)})"  # noqa: S608 - columns of our tables; values are bound
        f" VALUES ({', '.join(f':{one}' for one in columns)})"
        f" ON CONFLICT {conflict}"
        f"{' RETURNING *' if is_returned else ''}"
    )
    types = {one: table.__table__.c[one].type for one in columns}
    return text(statement).bindparams(*(bindparam(one, type_=types[one]) for one in columns))
