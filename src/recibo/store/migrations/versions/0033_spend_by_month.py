"""What an org spent in each month, made from the receipts that are there"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, Money

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_KEYS = ("org_id", "month", "currency", "category", "review_status")


def upgrade() -> None:
    op.create_table(
        "spend_months",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("category", sa.String(length=16), nullable=False),
        sa.Column("review_status", sa.String(length=16), nullable=False),
        sa.Column("receipts", sa.Integer(), nullable=False),
        sa.Column("total_spent", Money(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_spend_months_org_id"),
        sa.PrimaryKeyConstraint(*_KEYS, name="pk_spend_months"),
        sqlite_with_rowid=False,
    )
    fill()


def fill() -> None:
    """Make the totals of what is there."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    start = "date(issued_on, 'start of month')" if is_sqlite else "date_trunc('month', issued_on)"
    row = _table(
        "receipts",
        *("org_id", "currency", "issued_on", "category", "review_status"),
        *("total", "status", "deleted_at"),
    ).c
    keys: tuple[sa.ColumnElement[Any], ...] = (
        row.org_id,
        sa.literal_column(start),
        row.currency,
        *(
            sa.func.coalesce(one, sa.literal_column("''"))
            for one in (row.category, row.review_status)
        ),
    )
    found = (
        sa.select(*keys, sa.func.count(), sa.func.coalesce(sa.func.sum(row.total), 0))
        .where(row.status == "completed", row.deleted_at.is_(None))
        .where(row.currency.is_not(None), row.issued_on.is_not(None))
        .group_by(*keys)
    )
    names = (*_KEYS, "receipts", "total_spent")
    op.execute(sa.insert(_table("spend_months", *names)).from_select(names, found))


def _table(name: str, *columns: str) -> sa.TableClause:
    known: list[sa.ColumnClause[Any]] = [sa.column(one) for one in columns]
    return sa.table(name, *known)
