"""The index by which the portal pages through all webhook events of an org"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        op.f("ix_webhook_events_org_id_id"), "webhook_events", ["org_id", "id"], unique=False
    )
