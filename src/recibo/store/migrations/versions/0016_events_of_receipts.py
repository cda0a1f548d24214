"""Webhook events go with the receipt whose content they hold"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_OF_BODY = {
    "sqlite": "json_extract(body, '$.data.receipt.id')",
    "postgresql": "(body::jsonb #>> '{data,receipt,id}')",
}


def upgrade() -> None:
    of_body = _OF_BODY[op.get_bind().dialect.name]
    about_receipts = "type LIKE 'receipt.%'"
    # Their receipts were purged, so what they hold of them should be gone already.
    op.execute(
        f"DELETE FROM webhook_events WHERE {about_receipts} AND NOT EXISTS "  # noqa: S608
        f"(SELECT 1 FROM receipts WHERE receipts.id = {of_body})"
    )
    op.add_column("webhook_events", sa.Column("receipt_id", Id, nullable=True))
    op.execute(
        f"UPDATE webhook_events SET receipt_id = {of_body} WHERE {about_receipts}"  # noqa: S608
    )
    op.create_index(
        "ix_webhook_events_receipt_id",
        "webhook_events",
        ["receipt_id"],
        sqlite_where=sa.text("receipt_id IS NOT NULL"),
        postgresql_where=sa.text("receipt_id IS NOT NULL"),
    )
