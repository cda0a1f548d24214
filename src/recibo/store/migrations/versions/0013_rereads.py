"""How often a receipt was ordered to be read again"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "receipts", sa.Column("rereads", sa.Integer(), server_default="0", nullable=False)
    )
