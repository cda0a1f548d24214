"""The figures agreed with an org on the plan enterprise"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Json

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("orgs", sa.Column("agreed", Json, nullable=True))
