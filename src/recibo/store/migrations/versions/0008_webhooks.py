"""Webhooks: endpoints, their secrets, events, deliveries, attempts; quota notifications"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, Json, UtcDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "signing_secrets",
        sa.Column("owner_id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("earlier", Json, nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_signing_secrets_org_id")),
        sa.PrimaryKeyConstraint("owner_id", name=op.f("pk_signing_secrets")),
    )
    op.create_index(op.f("ix_signing_secrets_org_id"), "signing_secrets", ["org_id"], unique=False)
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_webhook_endpoints_org_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
        sa.UniqueConstraint("org_id", name=op.f("uq_webhook_endpoints_org_id")),
    )
    op.create_table(
        "webhook_events",
        sa.Column("id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("attempted_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_webhook_events_org_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_events")),
    )
    op.create_index(
        "ix_webhook_events_attempted",
        "webhook_events",
        ["org_id", "id"],
        unique=False,
        sqlite_where=sa.text("attempted_at IS NOT NULL"),
        postgresql_where=sa.text("attempted_at IS NOT NULL"),
    )
    op.create_index(
        "ix_webhook_events_attempted_of_type",
        "webhook_events",
        ["org_id", "type", "id"],
        unique=False,
        sqlite_where=sa.text("attempted_at IS NOT NULL"),
        postgresql_where=sa.text("attempted_at IS NOT NULL"),
    )
    op.create_table(
        "deliveries",
        sa.Column("event_id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("endpoint_id", Id, nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event_id"],
            ["webhook_events.id"],
            name=op.f("fk_deliveries_event_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_deliveries_org_id")),
        sa.PrimaryKeyConstraint("event_id", name=op.f("pk_deliveries")),
    )
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["org_id", "due_at", "event_id"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        "ix_deliveries_owed_to",
        "deliveries",
        ["endpoint_id"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_table(
        "delivery_attempts",
        sa.Column("id", Id, nullable=False),
        sa.Column("event_id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["event_id"],
            ["webhook_events.id"],
            name=op.f("fk_delivery_attempts_event_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name=op.f("fk_delivery_attempts_org_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_attempts")),
    )
    op.create_index(
        op.f("ix_delivery_attempts_event_id_id"),
        "delivery_attempts",
        ["event_id", "id"],
        unique=False,
    )
    op.add_column(
        "usage_months", sa.Column("told_percent", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column(
        "usage_months", sa.Column("told_quota", sa.Integer(), server_default="0", nullable=False)
    )
