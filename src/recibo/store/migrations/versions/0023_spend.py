"""Indexes for what an org spent in a period"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_INDEXES = (
    ("spend", "org_id, issued_on, currency, category, review_status, total, deleted_at"),
    ("merchant_spend", "org_id, currency, merchant_key, issued_on, total, deleted_at"),
)


def upgrade() -> None:
    """Create the indexes."""
    for name, columns in _INDEXES:
        op.execute(
            f"CREATE INDEX ix_receipts_{name} ON receipts ({columns}) WHERE deleted_at IS NULL"
        )


def downgrade() -> None:
    """Drop the indexes."""
    for name, _ in _INDEXES:
        op.execute(f"DROP INDEX ix_receipts_{name}")
