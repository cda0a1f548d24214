"""Leases of readings, and an index of pending readings by org"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import UtcDateTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("receipts", sa.Column("held_until", UtcDateTime(), nullable=True))
    op.create_index(
        "ix_receipts_owed_in_turn",
        "receipts",
        ["org_id", "id"],
        unique=False,
        sqlite_where=sa.text("owed_accuracy IS NOT NULL"),
        postgresql_where=sa.text("owed_accuracy IS NOT NULL"),
    )
    op.create_index(
        "ix_receipts_claimed_at",
        "receipts",
        ["claimed_at"],
        unique=False,
        sqlite_where=sa.text("owed_accuracy IS NOT NULL AND claimed_at IS NOT NULL"),
        postgresql_where=sa.text("owed_accuracy IS NOT NULL AND claimed_at IS NOT NULL"),
    )
