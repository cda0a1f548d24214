"""What is due to endpoints is found apart from what requests have sent elsewhere"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_DUE = ["org_id", "due_at", "event_id"]


def upgrade() -> None:
    op.drop_index("ix_deliveries_due", table_name="deliveries")
    op.drop_index("ix_deliveries_owed_to", table_name="deliveries")
    for name, columns, condition in (
        ("ix_deliveries_due_to_endpoint", _DUE, "endpoint_id IS NOT NULL"),
        ("ix_deliveries_due_elsewhere", _DUE, "endpoint_id IS NULL"),
        ("ix_deliveries_owed_to", ["endpoint_id"], "endpoint_id IS NOT NULL"),
    ):
        where = sa.text(f"due_at IS NOT NULL AND {condition}")
        op.create_index(
            name,
            "deliveries",
            columns,
            unique=False,
            sqlite_where=where,
            postgresql_where=where,
        )
