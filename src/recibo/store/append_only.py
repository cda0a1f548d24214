"""The audit log only grows: triggers of the database itself refuse what would change it."""

from sqlalchemy import Connection, TextClause, text

from recibo.store.db import Session

# Long enough to compare a month with the same month of last year.
_RETENTION_DAYS = 400

# By the database's clock, the one that the triggers ask.
_IS_OVER = {
    "sqlite": "{row}created_at < strftime('%Y-%m-%d %H:%M:%f', 'now', '-{days} days')",
    "postgresql": "{row}created_at < now() - interval '{days} days'",
}

_SQLITE = (
    """
    CREATE TRIGGER audit_events_update BEFORE UPDATE ON audit_events
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
    """
    CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events WHEN NOT ({old_is_over})
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
    # INSERT OR REPLACE deletes what is in its way, by id or by rowid, and fires no trigger for it.
    """
    CREATE TRIGGER audit_events_insert BEFORE INSERT ON audit_events
    WHEN EXISTS (SELECT 1 FROM audit_events WHERE id = NEW.id OR rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
)
_POSTGRESQL = (
    """
    CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    """
    CREATE TRIGGER audit_events_update BEFORE UPDATE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()
    """,
    """
    CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events
    FOR EACH ROW WHEN (NOT ({old_is_over})) EXECUTE FUNCTION refuse_audit_change()
    """,
    """
    CREATE TRIGGER audit_events_truncate BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()
    """,
)
_STATEMENTS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}


def guard_audit(connection: Connection) -> None:
    """Make the triggers anew inside the caller's transaction.

    Every migration that touches the table ends with this: alembic's batches copy a table on SQLite
    and drop its triggers without a word.
    """
    dialect = connection.dialect.name
    of_table = " ON audit_events" if dialect == "postgresql" else ""
    for event in ("update", "delete", "insert", "truncate"):
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS audit_events_{event}{of_table}")
    for statement in _STATEMENTS[dialect]:
        connection.exec_driver_sql(statement.format(old_is_over=_over(dialect, "OLD.")))


def is_over(session: Session) -> TextClause:
    """Return the condition for audit events whose retention is over: these may be deleted."""
    return text(_over(session.get_bind().dialect.name))


def _over(dialect: str, row: str = "") -> str:
    return _IS_OVER[dialect].format(row=row, days=_RETENTION_DAYS)
