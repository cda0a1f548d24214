"""Which installation database and files belong to, and how far the sweep of files has come"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, UtcDateTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", Id, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_installation")),
    )
    op.create_table(
        "sweeps",
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_sweeps")),
    )
    op.create_table(
        "orphans",
        sa.Column("receipt_id", Id, nullable=False),
        sa.PrimaryKeyConstraint("receipt_id", name=op.f("pk_orphans")),
    )
