"""The append-only audit log: database triggers reject updates and early deletions."""

from sqlalchemy import Connection, TextClause, text

from recibo.store.db import Session

# Long enough to compare a month with the same month of last year.
_RETENTION_DAYS = 400

# Uses the database's clock, because the triggers do.
_IS_EXPIRED = {
    "sqlite": "{row}created_at < strftime('%Y-%m-%d %H:%M:%f', 'now', '-{days} days')",
    "postgresql": "{row}created_at < now() - interval '{days} days'",
}

_SQLITE = (
    """
    CREATE TRIGGER audit_events_update BEFORE UPDATE ON audit_events
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
    """
    CREATE TRIGGER audit_events_delete BEFORE DELETE ON audit_events WHEN NOT ({old_is_expired})
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
    # INSERT OR REPLACE deletes a row with the same id or rowid without firing the delete trigger.
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
    FOR EACH ROW WHEN (NOT ({old_is_expired})) EXECUTE FUNCTION refuse_audit_change()
    """,
    """
    CREATE TRIGGER audit_events_truncate BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()
    """,
)
_STATEMENTS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}


def create_triggers(connection: Connection) -> None:
    """Drop and create the triggers inside the caller's transaction.

    Every migration that changes the table must call this last: on SQLite, alembic's batch mode
    copies the table and silently drops its triggers.
    """
    dialect = connection.dialect.name
    of_table = " ON audit_events" if dialect == "postgresql" else ""
    for event in ("update", "delete", "insert", "truncate"):
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS audit_events_{event}{of_table}")
    for statement in _STATEMENTS[dialect]:
        connection.exec_driver_sql(statement.format(old_is_expired=_expired(dialect, "OLD.")))


def is_expired(session: Session) -> TextClause:
    """Return the SQL condition for audit events past their retention, which may be deleted."""
    return text(_expired(session.get_bind().dialect.name))


def _expired(dialect: str, row: str = "") -> str:
    return _IS_EXPIRED[dialect].format(row=row, days=_RETENTION_DAYS)
