"""What the reading at high accuracy changed"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Json

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("receipts", sa.Column("reread_changes", Json, nullable=True))
