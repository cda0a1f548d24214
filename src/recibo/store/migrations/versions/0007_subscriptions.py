"""Subscriptions, and the events of the payment provider"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, UtcDateTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("org_id", Id, nullable=False),
        sa.Column("provider", sa.String(length=16), nullable=False),
        sa.Column("customer_id", sa.String(length=255), nullable=False),
        sa.Column("subscription_id", sa.String(length=255), nullable=True),
        sa.Column("plan", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("cancel_at_period_end", sa.Boolean(), nullable=False),
        sa.Column("current_period_end", UtcDateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_subscriptions_org_id")),
        sa.PrimaryKeyConstraint("org_id", name=op.f("pk_subscriptions")),
        sa.UniqueConstraint("customer_id", name=op.f("uq_subscriptions_customer_id")),
    )
    op.create_table(
        "provider_events",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("received_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_events")),
    )
