"""One index for what an org spent in a period, merchants included"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_SPEND = "org_id, issued_on, currency, category, review_status, total, deleted_at"
_MERCHANT_SPEND = "org_id, currency, merchant_key, issued_on, total, deleted_at"
_BOTH = "org_id, issued_on, currency, category, review_status, merchant_key, total, deleted_at"


def upgrade() -> None:
    """Replace the two indexes; creating the new one first blocks no queries of PostgreSQL."""
    _create("spend_of_period", _BOTH)
    op.execute("DROP INDEX ix_receipts_merchant_spend")
    op.execute("DROP INDEX ix_receipts_spend")


def downgrade() -> None:
    """Create the two indexes again."""
    _create("spend", _SPEND)
    _create("merchant_spend", _MERCHANT_SPEND)
    op.execute("DROP INDEX ix_receipts_spend_of_period")


def _create(name: str, columns: str) -> None:
    op.execute(f"CREATE INDEX ix_receipts_{name} ON receipts ({columns}) WHERE deleted_at IS NULL")
