"""Review, correction, duplicates and search of receipts"""

import sqlalchemy as sa
from alembic import op

from recibo.store.columns import Id, NullableJson, UtcDateTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_COLUMNS = (
    sa.Column("merchant_tax_id", sa.Text),
    sa.Column("merchant_key", sa.Text),
    sa.Column("document_number", sa.Text),
    sa.Column("document_key", sa.String(64)),
    sa.Column("confidence", sa.Float),
    sa.Column("picture_hash", sa.String(16)),
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),
    sa.Column("machine_reading", NullableJson),
    sa.Column("corrected_fields", NullableJson),
    sa.Column("doubts", NullableJson),
    sa.Column("duplicates", NullableJson),
    sa.Column("review_status", sa.String(16)),
    sa.Column("approved_by", Id),
    sa.Column("approved_at", UtcDateTime),
)
_INDEXES = (
    ("review", "org_id, review_status, id", ""),
    ("merchant", "org_id, merchant_key, id", ""),
    ("category", "org_id, category, id", ""),
    ("currency", "org_id, currency, id", ""),
    ("confidence", "org_id, confidence, id", ""),
    ("total", "org_id, total, issued_at, id", ""),
    ("number", "org_id, document_number, total", ""),
    ("key", "org_id, document_key", ""),
    ("duplicates", "org_id, id", " AND duplicates IS NOT NULL"),
    ("unjudged", "id", " AND doubts IS NULL AND status = 'completed'"),
)

# The words are normalized and split before they are stored: neither database may do it again.
_SQLITE = (
    """CREATE VIRTUAL TABLE receipt_words_fts USING fts5(
           words, content='receipt_words', content_rowid='number', detail='none', columnsize=0,
           prefix='2 3', tokenize="ascii tokenchars '_'")""",
    """CREATE TRIGGER receipt_words_added AFTER INSERT ON receipt_words BEGIN
           INSERT INTO receipt_words_fts (rowid, words) VALUES (new.number, new.words);
       END""",
    """CREATE TRIGGER receipt_words_removed AFTER DELETE ON receipt_words BEGIN
           INSERT INTO receipt_words_fts (receipt_words_fts, rowid, words)
               VALUES ('delete', old.number, old.words);
       END""",
    """CREATE TRIGGER receipt_words_changed AFTER UPDATE ON receipt_words BEGIN
           INSERT INTO receipt_words_fts (receipt_words_fts, rowid, words)
               VALUES ('delete', old.number, old.words);
           INSERT INTO receipt_words_fts (rowid, words) VALUES (new.number, new.words);
       END""",
)
_POSTGRES = (
    """ALTER TABLE receipt_words ADD COLUMN vector tsvector
           GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED""",
    "CREATE INDEX ix_receipt_words_vector ON receipt_words USING gin (vector)",
)


def upgrade() -> None:
    for column in _COLUMNS:
        op.add_column("receipts", column)
    for name, columns, also in _INDEXES:
        op.execute(
            f"CREATE INDEX ix_receipts_{name} ON receipts ({columns})"
            f" WHERE deleted_at IS NULL{also}"
        )
    op.create_table(
        "receipt_words",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("receipt_id", Id, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_receipt_words"),
        sa.UniqueConstraint("receipt_id", name="uq_receipt_words_receipt_id"),
        sa.ForeignKeyConstraint(
            ["receipt_id"], ["receipts.id"], ondelete="CASCADE", name="fk_receipt_words_receipt_id"
        ),
    )
    op.add_column("evidence", sa.Column("pages", NullableJson))
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for statement in _POSTGRES if is_postgres else _SQLITE:
        op.execute(statement)
