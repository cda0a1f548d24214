"""Orgs are deleted: at once for those inside, and then row by row"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import UtcDateTime

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("orgs", sa.Column("deleted_at", UtcDateTime(), nullable=True))
