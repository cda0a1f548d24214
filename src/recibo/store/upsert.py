"""INSERT … ON CONFLICT in the dialect of a session."""

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite

from recibo.store.db import Session
from recibo.store.tables import Table

Insert = sqlite.Insert | postgresql.Insert


def insert(session: Session, table: type[Table]) -> Any:
    """Return an insert with `on_conflict_do_update` and `on_conflict_do_nothing`."""
    dialect = session.get_bind().dialect.name
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
