"""Totals that analytics read, made from the receipts that are there"""

import hashlib

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, Money

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "usage_days",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_usage_days_org_id")),
        sa.PrimaryKeyConstraint("org_id", "day", name=op.f("pk_usage_days")),
    )
    op.create_table(
        "category_totals",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("category", sa.String(length=16), nullable=False),
        sa.Column("receipts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_category_totals_org_id")),
        sa.PrimaryKeyConstraint("org_id", "category", name=op.f("pk_category_totals")),
    )
    op.create_table(
        "merchant_totals",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("merchant_hash", sa.String(length=64), nullable=False),
        sa.Column("merchant", sa.Text(), nullable=False),
        sa.Column("receipts", sa.Integer(), nullable=False),
        sa.Column("total_spent", Money(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_merchant_totals_org_id")),
        sa.PrimaryKeyConstraint("org_id", "merchant_hash", name=op.f("pk_merchant_totals")),
    )
    op.create_index(
        op.f("ix_merchant_totals_org_id_receipts_total_spent"),
        "merchant_totals",
        ["org_id", "receipts", "total_spent"],
        unique=False,
    )
    fill()


def fill() -> None:
    """Make the totals of what is there."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    day = "date(created_at)" if is_sqlite else "(created_at AT TIME ZONE 'UTC')::date"
    op.execute(
        "INSERT INTO usage_days (org_id, day, count) "  # noqa: S608 - our own words
        f"SELECT org_id, {day}, count(*) FROM usage_events GROUP BY org_id, {day}"
    )
    counted = "status = 'completed' AND deleted_at IS NULL"
    op.execute(
        "INSERT INTO category_totals (org_id, category, receipts) "  # noqa: S608
        f"SELECT org_id, category, count(*) FROM receipts WHERE {counted} "
        "AND category IS NOT NULL GROUP BY org_id, category"
    )
    # SQLite has no built-in SHA-256.
    found = connection.execute(
        sa.text(
            "SELECT org_id, merchant_name, count(*) AS receipts, "  # noqa: S608
            f"coalesce(sum(total), 0) AS total_spent FROM receipts WHERE {counted} "
            "AND merchant_name IS NOT NULL GROUP BY org_id, merchant_name"
        )
    )
    insert = sa.text(
        "INSERT INTO merchant_totals (org_id, merchant_hash, merchant, receipts, total_spent) "
        "VALUES (:org_id, :merchant_hash, :merchant, :receipts, :total_spent)"
    )
    for row in found.all():
        name = row.merchant_name
        values = {
            "org_id": row.org_id,
            "merchant_hash": hashlib.sha256(name.encode()).hexdigest(),
            "merchant": name,
            "receipts": row.receipts,
            "total_spent": row.total_spent,
        }
        connection.execute(insert, values)
