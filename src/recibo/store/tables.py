"""Every table of the service.

Times are stored in UTC, money exactly. What a reading gives is stored once as the JSON that goes
over the wire (`Receipt.reading`); the columns beside it repeat only what is filtered or summed.
"""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlalchemy import Boolean, Date, ForeignKey, Index, Integer, MetaData, String, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from recibo.store.columns import Id, Json, Money, UtcDateTime


class Table(DeclarativeBase):
    """The base of all rows."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it so
        dt.datetime: UtcDateTime,
        dt.date: Date,
        Decimal: Money,
        bool: Boolean,
        int: Integer,
        str: Text,
    }


class Org(Table):
    """An organization."""

    __tablename__ = "orgs"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str]
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    logo_url: Mapped[str | None]
    billing_email: Mapped[str]
    plan: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]


class User(Table):
    """A person."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: Lower case.
    email: Mapped[str] = mapped_column(String(320), unique=True)
    full_name: Mapped[str | None]
    created_at: Mapped[dt.datetime]


class Membership(Table):
    """A user's role in an org."""

    __tablename__ = "memberships"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]


class ApiKey(Table):
    """A key of an org; of its secret only the SHA-256 is kept."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), index=True)
    name: Mapped[str]
    kind: Mapped[str] = mapped_column(String(16))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    prefix: Mapped[str] = mapped_column(String(8))
    last4: Mapped[str] = mapped_column(String(4))
    scopes: Mapped[list[str]] = mapped_column(Json)
    expires_at: Mapped[dt.datetime | None]
    revoked_at: Mapped[dt.datetime | None]
    created_at: Mapped[dt.datetime]
    #: The user's id; None for a key made on the command line.
    created_by: Mapped[str | None] = mapped_column(Id)
    last_used_at: Mapped[dt.datetime | None]


class Receipt(Table):
    """One uploaded document, what is owed to it and what was read from it."""

    __tablename__ = "receipts"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]
    updated_at: Mapped[dt.datetime]
    deleted_at: Mapped[dt.datetime | None]
    created_by: Mapped[str] = mapped_column(Id)

    file_sha256: Mapped[str] = mapped_column(String(64))
    file_size: Mapped[int]
    media_type: Mapped[str] = mapped_column(String(64))
    hint: Mapped[str | None] = mapped_column(String(16))
    webhook_url: Mapped[str | None]
    tags: Mapped[dict[str, str]] = mapped_column(Json)

    #: The accuracy of the stored reading; of the first one wanted while there is none.
    accuracy: Mapped[str] = mapped_column(String(16))
    #: The accuracy at which a reading is owed; None when nothing is owed.
    owed_accuracy: Mapped[str | None] = mapped_column(String(16))
    #: Readings begun for what is owed; whoever ends one must still hold its number.
    attempt: Mapped[int]
    #: When the first attempt at what is owed began.
    claimed_at: Mapped[dt.datetime | None]
    #: The month, `YYYY-MM`, whose quota this receipt was held against.
    quota_month: Mapped[str] = mapped_column(String(7))

    failure_code: Mapped[str | None] = mapped_column(String(32))
    failure_message: Mapped[str | None]

    #: The wire form of what was read (`shapes.receipts.Reading`).
    reading: Mapped[dict[str, Any] | None] = mapped_column(Json)
    type: Mapped[str | None] = mapped_column(String(16))
    category: Mapped[str | None] = mapped_column(String(16))
    merchant_name: Mapped[str | None]
    currency: Mapped[str | None] = mapped_column(String(3))
    total: Mapped[Decimal | None]
    #: The calendar date on the paper.
    issued_on: Mapped[dt.date | None]
    issued_at: Mapped[dt.datetime | None]

    __table_args__ = (
        Index("ix_receipts_live", "org_id", "id", sqlite_where=text("deleted_at IS NULL"),
              postgresql_where=text("deleted_at IS NULL")),
        Index("ix_receipts_status", "org_id", "status", "id"),
        Index("ix_receipts_type", "org_id", "type", "id"),
        Index("ix_receipts_issued_on", "org_id", "issued_on", "id",
              sqlite_where=text("deleted_at IS NULL"),
              postgresql_where=text("deleted_at IS NULL")),
        Index("ix_receipts_file", "org_id", "file_sha256"),
        Index("ix_receipts_owed", "id", sqlite_where=text("owed_accuracy IS NOT NULL"),
              postgresql_where=text("owed_accuracy IS NOT NULL")),
        Index("ix_receipts_deleted_at", "deleted_at", sqlite_where=text("deleted_at IS NOT NULL"),
              postgresql_where=text("deleted_at IS NOT NULL")),
    )  # fmt: skip


class Evidence(Table):
    """Where each value of a receipt was read, and the text of its pages; apart, as it is large."""

    __tablename__ = "evidence"

    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True
    )
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    texts: Mapped[list[str]] = mapped_column(Json)


class ReceiptTag(Table):
    """One metadata entry of a receipt, to be filtered on."""

    __tablename__ = "receipt_tags"

    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    org_id: Mapped[str] = mapped_column(Id)
    value: Mapped[str] = mapped_column(String(256))

    __table_args__ = (Index(None, "org_id", "key", "value", "receipt_id"),)


class Replay(Table):
    """What a repeated upload is recognised by; the primary key lets one of many at once in."""

    __tablename__ = "replays"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: The browser session of a publishable key, whose uploads are a space of their own; else "".
    session: Mapped[str] = mapped_column(String(64), primary_key=True)
    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), index=True
    )
    file_sha256: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)


class UsageMonth(Table):
    """An org's use of one calendar month, UTC."""

    __tablename__ = "usage_months"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: `YYYY-MM`.
    month: Mapped[str] = mapped_column(String(7), primary_key=True)
    #: Receipts held against the quota: accepted in this month and not failed.
    held: Mapped[int]
    #: Receipts completed in this month.
    completed: Mapped[int]
    credits: Mapped[int]


class UsageEvent(Table):
    """One billed reading."""

    __tablename__ = "usage_events"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    # No foreign key: what was billed outlives the purged receipt.
    receipt_id: Mapped[str] = mapped_column(Id)
    accuracy: Mapped[str] = mapped_column(String(16))
    credits: Mapped[int]
    created_at: Mapped[dt.datetime]

    __table_args__ = (
        Index(None, "org_id", "created_at"),
        # A receipt is billed once at each accuracy, whatever happens.
        Index("uq_usage_events_receipt_id_accuracy", "receipt_id", "accuracy", unique=True),
    )


class AuditEvent(Table):
    """One entry of the audit log; no foreign keys, it outlives what it tells of."""

    __tablename__ = "audit_events"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str | None] = mapped_column(Id)
    action: Mapped[str] = mapped_column(String(64))
    resource_type: Mapped[str] = mapped_column(String(32))
    resource_id: Mapped[str | None] = mapped_column(Id)
    actor_user_id: Mapped[str | None] = mapped_column(Id)
    actor_api_key_id: Mapped[str | None] = mapped_column(Id)
    ip_address: Mapped[str | None] = mapped_column(String(64))
    user_agent: Mapped[str | None]
    before: Mapped[dict[str, Any] | None] = mapped_column(Json)
    after: Mapped[dict[str, Any] | None] = mapped_column(Json)
    request_id: Mapped[str | None] = mapped_column(String(128))
    created_at: Mapped[dt.datetime]

    __table_args__ = (Index(None, "org_id", "id"),)
