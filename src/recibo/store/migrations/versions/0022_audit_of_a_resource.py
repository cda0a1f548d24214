"""The audit log of one resource"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_INDEX = "ix_audit_events_org_id_resource_id_id"


def upgrade() -> None:
    """Index the entries about a resource."""
    op.create_index(_INDEX, "audit_events", ["org_id", "resource_id", "id"])


def downgrade() -> None:
    """Drop the index."""
    op.drop_index(_INDEX, "audit_events")
