"""What an org spent in each month, counted again: duplicates had changed the review of receipts"""

import importlib

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DELETE FROM spend_months")
    importlib.import_module("recibo.store.migrations.versions.0033_spend_by_month").fill()
