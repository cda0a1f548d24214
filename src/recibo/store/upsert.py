"""INSERT … ON CONFLICT in the dialect of a session."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import CursorResult, TableClause, Update, bindparam, update
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
) -> None:
    """Add amounts to columns of the row with this key; the first time, insert it with the others.

    Nearly always there is a row. SQLAlchemy compiles an UPDATE once, and an INSERT … ON CONFLICT
    each time, which takes longer than both statements.
    """
    values = {f"key_{name}": value for name, value in key.items()}
    values |= {f"added_{name}": value for name, value in amounts.items()}
    result = await session.execute(_addition(table, tuple(key), tuple(amounts)), values)
    if cast("CursorResult[Any]", result).rowcount:
        return
    sums = {name: table.__table__.c[name] + amount for name, amount in amounts.items()}
    await session.execute(
        insert(session, table)
        .values(**key, **amounts, **others)
        .on_conflict_do_update(index_elements=list(key), set_=sums)
    )


@cache
def _addition(table: type[Table], key: Sequence[str], amounts: Sequence[str]) -> Update:
    columns = table.__table__.c
    added = {
        one: columns[one] + bindparam(f"added_{one}", None, columns[one].type) for one in amounts
    }
    is_row = [columns[one] == bindparam(f"key_{one}", None, columns[one].type) for one in key]
    return update(cast("TableClause", table.__table__)).where(*is_row).values(added)
