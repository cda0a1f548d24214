"""Columns and indexes are named as in the code"""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("receipts", "owed_accuracy", "pending_accuracy"),
    ("receipts", "held_until", "lease_expires_at"),
    ("usage_months", "told_percent", "notified_percent"),
    ("usage_months", "told_quota", "notified_quota"),
)
_INDEXES = (
    ("ix_receipts_owed_in_turn", "ix_receipts_pending", "receipts (org_id, id)",
     "pending_accuracy IS NOT NULL"),
    ("ix_deliveries_owed_to", "ix_deliveries_pending_to_endpoint", "deliveries (endpoint_id)",
     "due_at IS NOT NULL AND endpoint_id IS NOT NULL"),
)  # fmt: skip


def upgrade() -> None:
    for table, old, new in _COLUMNS:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    for old, new, columns, condition in _INDEXES:
        if op.get_bind().dialect.name == "postgresql":
            op.execute(f"ALTER INDEX {old} RENAME TO {new}")
        else:
            # SQLite renames no index. These hold only the few rows that are pending.
            op.execute(f"DROP INDEX {old}")
            op.execute(f"CREATE INDEX {new} ON {columns} WHERE {condition}")
