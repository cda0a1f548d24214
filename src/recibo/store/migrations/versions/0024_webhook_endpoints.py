"""Several webhook endpoints of an org: a delivery of an event for each"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, NullableJson, UtcDateTime

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _rebuild_endpoints()
    _rebuild_deliveries()
    _add_delivery_to_attempts()


def _rebuild_endpoints() -> None:
    # SQLite drops no constraint of a table.
    op.execute("CREATE TABLE moved AS SELECT * FROM webhook_endpoints")
    op.drop_table("webhook_endpoints")
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("event_types", NullableJson, nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_webhook_endpoints_org_id"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_endpoints"),
    )
    op.execute(
        "INSERT INTO webhook_endpoints (id, org_id, url, description, created_at, updated_at, "
        "failing_since, disabled_at) SELECT id, org_id, url, '', created_at, updated_at, "
        "failing_since, disabled_at FROM moved"
    )
    op.drop_table("moved")
    op.create_index("ix_webhook_endpoints_org_id_id", "webhook_endpoints", ["org_id", "id"])


def _rebuild_deliveries() -> None:
    op.execute("CREATE TABLE moved AS SELECT * FROM deliveries")
    op.drop_table("deliveries")
    op.create_table(
        "deliveries",
        sa.Column("id", Id, nullable=False),
        sa.Column("event_id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("endpoint_id", Id, nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["event_id"], ["webhook_events.id"], name="fk_deliveries_event_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_deliveries_org_id"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("event_id", "endpoint_id", name="uq_deliveries_event_id_endpoint_id"),
    )
    # An event had one delivery, so their ids differ in the prefix only.
    op.execute(
        "INSERT INTO deliveries (id, event_id, org_id, endpoint_id, url, state, due_at, tries) "
        "SELECT 'dlv_' || substr(event_id, 5), event_id, org_id, endpoint_id, url, state, due_at, "
        "tries FROM moved"
    )
    op.drop_table("moved")
    for name, columns, condition in (
        ("due_to_endpoint", "endpoint_id, due_at, id",
         "due_at IS NOT NULL AND endpoint_id IS NOT NULL"),
        ("due_elsewhere", "org_id, due_at, id", "due_at IS NOT NULL AND endpoint_id IS NULL"),
        ("of_endpoint", "org_id, endpoint_id, id", "endpoint_id IS NOT NULL"),
    ):  # fmt: skip
        op.execute(f"CREATE INDEX ix_deliveries_{name} ON deliveries ({columns}) WHERE {condition}")


def _add_delivery_to_attempts() -> None:
    column = sa.Column("delivery_id", Id, nullable=False, server_default="")
    op.add_column("delivery_attempts", column)
    op.execute("UPDATE delivery_attempts SET delivery_id = 'dlv_' || substr(event_id, 5)")
    op.create_index(
        "ix_delivery_attempts_delivery_id_id", "delivery_attempts", ["delivery_id", "id"]
    )
