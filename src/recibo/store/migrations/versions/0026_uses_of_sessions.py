"""When and from where sessions were last used"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import UtcDateTime

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; sessions that began before have none until they are refreshed."""
    op.add_column("user_sessions", sa.Column("last_seen_at", UtcDateTime))
    op.add_column("user_sessions", sa.Column("last_ip_address", sa.String(64)))


def downgrade() -> None:
    """Drop the columns."""
    with op.batch_alter_table("user_sessions") as table:
        table.drop_column("last_ip_address")
        table.drop_column("last_seen_at")
