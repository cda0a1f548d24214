"""Receipts that a person marked as different"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import NullableJson

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("receipts", sa.Column("not_duplicates", NullableJson))
