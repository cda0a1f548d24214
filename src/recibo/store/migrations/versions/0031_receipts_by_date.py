"""Receipts of a period are found by their index alone"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_receipts_issued_on", "receipts")
    op.execute(
        "CREATE INDEX ix_receipts_issued_on ON receipts (org_id, issued_on, id, deleted_at)"
        " WHERE deleted_at IS NULL"
    )
