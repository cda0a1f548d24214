"""What an org spent at each merchant in each month, made from the receipts that are there"""

from typing import Any

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
    start = "date(issued_on, 'start of month')" if is_sqlite else "date_trunc('month', issued_on)"
    row = _table(
        "receipts",
        *("org_id", "currency", "issued_on", "merchant_key", "total", "status", "deleted_at"),
    ).c
    keys: tuple[sa.ColumnElement[Any], ...] = (
        row.org_id,
        row.currency,
        sa.literal_column(start),
        row.merchant_key,
    )
    found = (
        sa.select(*keys, sa.func.count(), sa.func.coalesce(sa.func.sum(row.total), 0))
        .where(row.status == "completed", row.deleted_at.is_(None))
        .where(*(one.is_not(None) for one in (row.currency, row.issued_on, row.merchant_key)))
        .group_by(*keys)
    )
    names = ("org_id", "currency", "month", "merchant_key", "receipts", "total_spent")
    op.execute(sa.insert(_table("merchant_months", *names)).from_select(names, found))


def _table(name: str, *columns: str) -> sa.TableClause:
    known: list[sa.ColumnClause[Any]] = [sa.column(one) for one in columns]
    return sa.table(name, *known)
