"""What an org spent at each merchant in each month, made from the receipts that are there"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, Money

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "merchant_months",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("merchant_key", sa.Text(), nullable=False),
        sa.Column("receipts", sa.Integer(), nullable=False),
        sa.Column("total_spent", Money(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_merchant_months_org_id"),
        sa.PrimaryKeyConstraint(
            "org_id", "currency", "month", "merchant_key", name="pk_merchant_months"
        ),
        sqlite_with_rowid=False,
    )
    fill()


def fill() -> None:
    """Make the totals of what is there."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    month = "date(issued_on, 'start of month')" if is_sqlite else "date_trunc('month', issued_on)"
    keys = f"org_id, currency, {month}, merchant_key"
    op.execute(
        "INSERT INTO merchant_months "  # noqa: S608 - our own words
        "(org_id, currency, month, merchant_key, receipts, total_spent) "
        f"SELECT {keys}, count(*), coalesce(sum(total), 0) FROM receipts "
        "WHERE status = 'completed' AND deleted_at IS NULL AND currency IS NOT NULL "
        f"AND issued_on IS NOT NULL AND merchant_key IS NOT NULL GROUP BY {keys}"
    )
