"""What is due to endpoints is found apart from what requests have sent elsewhere"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_deliveries_due", table_name="deliveries")
    for name, condition in (
        ("ix_deliveries_due_to_endpoint", "endpoint_id IS NOT NULL"),
        ("ix_deliveries_due_elsewhere", "endpoint_id IS NULL"),
    ):
        where = sa.text(f"due_at IS NOT NULL AND {condition}")
        op.create_index(
            name,
            "deliveries",
            ["org_id", "due_at", "event_id"],
            unique=False,
            sqlite_where=where,
            postgresql_where=where,
        )
