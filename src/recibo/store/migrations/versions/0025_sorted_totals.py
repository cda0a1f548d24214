"""Receipts in the order of their totals, within a currency"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX ix_receipts_currency_total ON receipts (org_id, currency, total, id)"
        " WHERE deleted_at IS NULL"
    )
