"""Credits to report to the payment provider"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, UtcDateTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "meter_events",
        sa.Column("id", Id, nullable=False),
        sa.Column("customer_id", sa.String(length=255), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_meter_events")),
    )
    op.create_index(op.f("ix_meter_events_due_at"), "meter_events", ["due_at"], unique=False)
