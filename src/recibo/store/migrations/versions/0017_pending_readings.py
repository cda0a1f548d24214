"""How many readings each org waits for is kept, not counted"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_IS_PENDING = sa.text("owed_accuracy IS NOT NULL")
_SOME = sa.text("count > 0")


def upgrade() -> None:
    op.create_table(
        "pending_readings",
        sa.Column("org_id", Id, sa.ForeignKey("orgs.id"), primary_key=True),
        sa.Column("count", sa.Integer(), nullable=False),
    )
    op.create_index(
        "ix_pending_readings_some",
        "pending_readings",
        ["org_id"],
        sqlite_where=_SOME,
        postgresql_where=_SOME,
    )
    op.execute(
        "INSERT INTO pending_readings (org_id, count) "
        "SELECT org_id, count(*) FROM receipts WHERE owed_accuracy IS NOT NULL GROUP BY org_id"
    )
    # What is pending is looked for by org now, and by nothing else.
    op.drop_index("ix_receipts_owed", "receipts")
