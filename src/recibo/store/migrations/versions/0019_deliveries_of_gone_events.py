"""Deliveries go with the events that 0016 deleted: SQLite follows no foreign keys meanwhile"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("deliveries", "delivery_attempts"):
        op.execute(
            f"DELETE FROM {table} WHERE NOT EXISTS "  # noqa: S608
            f"(SELECT 1 FROM webhook_events WHERE webhook_events.id = {table}.event_id)"
        )
