"""Whether viewers may change receipts"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("viewers_write", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("orgs", column)
