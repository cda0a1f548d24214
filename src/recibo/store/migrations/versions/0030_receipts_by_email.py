"""Addresses that receipts are mailed to, and the mails"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, Json, UtcDateTime

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "receipt_addresses",
        sa.Column("id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("sealed_token", sa.Text(), nullable=False),
        sa.Column("senders", Json, nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_receipt_addresses_org_id"),
        sa.PrimaryKeyConstraint("id", name="pk_receipt_addresses"),
        sa.UniqueConstraint("org_id", name="uq_receipt_addresses_org_id"),
        sa.UniqueConstraint("token_hash", name="uq_receipt_addresses_token_hash"),
    )
    _create_mails()


def _create_mails() -> None:
    op.create_table(
        "received_mails",
        sa.Column("id", Id, nullable=False),
        sa.Column("org_id", Id, nullable=False),
        sa.Column("message_hash", sa.String(length=64), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("sender", sa.String(length=320), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("received_at", UtcDateTime(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("files", Json, nullable=False),
        sa.Column("is_answered", sa.Boolean(), nullable=False),
        sa.Column("settled_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["org_id"], ["orgs.id"], name="fk_received_mails_org_id"),
        sa.PrimaryKeyConstraint("id", name="pk_received_mails"),
        sa.UniqueConstraint("org_id", "message_hash", name="uq_received_mails_org_id_message_hash"),
    )
    op.create_index("ix_received_mails_org_id_id", "received_mails", ["org_id", "id"])
    op.create_index("ix_received_mails_received_at", "received_mails", ["received_at"])
    op.execute(
        "CREATE INDEX ix_received_mails_unsettled ON received_mails (id) WHERE settled_at IS NULL"
    )
