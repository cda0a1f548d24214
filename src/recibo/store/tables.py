"""Every table of the service.

Times are stored in UTC, money exactly. The result of a reading is stored once, as the JSON of
the API (`Receipt.reading`); the other columns repeat only values that queries filter or sum.
"""

import datetime as dt
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from recibo.store.columns import Id, Json, Money, NullableJson, UtcDateTime


class Table(DeclarativeBase):
    """The base class of all tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        dt.datetime: UtcDateTime,
        dt.date: Date,
        Decimal: Money,
        bool: Boolean,
        float: Float,
        int: Integer,
        str: Text,
    }


class Installation(Table):
    """The installation that this database and its files belong to; one row."""

    __tablename__ = "installation"

    #: Always 1, so that there is at most one row.
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(Id)
    created_at: Mapped[dt.datetime]


class Sweep(Table):
    """The progress of the search for files without a receipt; one row."""

    __tablename__ = "sweeps"

    #: Always 1, so that there is at most one row.
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    #: `schemas.states.SweepStage`.
    stage: Mapped[str] = mapped_column(String(16))
    #: The cursor of the next page of files.
    cursor: Mapped[str]
    #: Files seen in this pass.
    files: Mapped[int]
    #: When the next batch is due.
    due_at: Mapped[dt.datetime]


class Orphan(Table):
    """A file without a receipt, found by the sweep; moved to the trash after the pass."""

    __tablename__ = "orphans"

    receipt_id: Mapped[str] = mapped_column(Id, primary_key=True)


class Org(Table):
    """An organization."""

    __tablename__ = "orgs"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str]
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    logo_url: Mapped[str | None]
    billing_email: Mapped[str]
    plan: Mapped[str] = mapped_column(String(16))
    #: Limits agreed for the enterprise plan, by the field names of `schemas.plans.Plan`.
    agreed: Mapped[dict[str, int] | None] = mapped_column(Json)
    #: Whether viewers may change receipts in the portal.
    viewers_write: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[dt.datetime]
    #: When it was deleted: access ends at once, and its rows are deleted in batches.
    deleted_at: Mapped[dt.datetime | None]


class User(Table):
    """A person."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: Lower case.
    email: Mapped[str] = mapped_column(String(320), unique=True)
    full_name: Mapped[str | None]
    created_at: Mapped[dt.datetime]
    #: When the user proved to own this address.
    email_verified_at: Mapped[dt.datetime | None]
    disabled_at: Mapped[dt.datetime | None]
    #: Argon2id; None for users who signed up by an email link and set no password.
    password_hash: Mapped[str | None]
    #: Incremented to revoke all access tokens, which contain the epoch of their creation.
    epoch: Mapped[int] = mapped_column(server_default="0", default=0)
    #: The org to sign in to.
    last_org_id: Mapped[str | None] = mapped_column(Id)
    #: Where the account was created; also evidence of who owns the mailbox.
    signup_ip_address: Mapped[str | None] = mapped_column(String(64))
    signup_user_agent: Mapped[str | None]
    #: Encrypted, bound to this row; active once `totp_enabled_at` is set.
    totp_secret: Mapped[str | None]
    totp_enabled_at: Mapped[dt.datetime | None]
    #: Of the portal at the last sign-in; mails are written in it. None for users of the API only.
    language: Mapped[str | None] = mapped_column(String(16))


class Membership(Table):
    """A user's role in an org."""

    __tablename__ = "memberships"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]


class Invitation(Table):
    """An invitation to join an org; at most one per address is pending."""

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    email: Mapped[str] = mapped_column(String(320))
    role: Mapped[str] = mapped_column(String(16))
    invited_by: Mapped[str] = mapped_column(Id)
    #: The hash of the token in the mail; None until the mail is rendered.
    token_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    created_at: Mapped[dt.datetime]
    expires_at: Mapped[dt.datetime]
    accepted_at: Mapped[dt.datetime | None]
    revoked_at: Mapped[dt.datetime | None]

    __table_args__ = (
        Index(None, "org_id", "id"),
        Index("uq_invitations_pending", "org_id", "email", unique=True,
              sqlite_where=text("accepted_at IS NULL AND revoked_at IS NULL"),
              postgresql_where=text("accepted_at IS NULL AND revoked_at IS NULL")),
    )  # fmt: skip


class UserSession(Table):
    """One sign-in and all tokens refreshed from it (a refresh token family)."""

    __tablename__ = "user_sessions"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id", ondelete="CASCADE"))
    org_id: Mapped[str | None] = mapped_column(Id)
    #: How the user signed in (`schemas.states.SignInMethod`).
    method: Mapped[str] = mapped_column(String(16))
    #: Whether it is restricted to its org: it can neither switch orgs nor change the account.
    is_bound: Mapped[bool]
    ip_address: Mapped[str | None] = mapped_column(String(64))
    user_agent: Mapped[str | None]
    created_at: Mapped[dt.datetime]
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)
    ended_at: Mapped[dt.datetime | None]
    #: It waits for the second factor until then; None if none is required.
    pending_until: Mapped[dt.datetime | None]
    #: When its tokens were last refreshed, and from where; None before that in an older release.
    last_seen_at: Mapped[dt.datetime | None]
    last_ip_address: Mapped[str | None] = mapped_column(String(64))

    __table_args__ = (Index(None, "user_id", "id"),)


class RefreshToken(Table):
    """A refresh token of a session; it can be used once."""

    __tablename__ = "refresh_tokens"

    #: The JWT's `jti`.
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    session_id: Mapped[str] = mapped_column(
        Id, ForeignKey("user_sessions.id", ondelete="CASCADE"), index=True
    )
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)
    used_at: Mapped[dt.datetime | None]


class MailToken(Table):
    """A token of a link in a mail; deleted when it is used."""

    __tablename__ = "mail_tokens"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    #: `schemas.states.MailTokenKind`.
    kind: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id", ondelete="CASCADE"))
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)

    __table_args__ = (Index(None, "user_id", "kind"),)


class RecoveryCode(Table):
    """A single-use code that replaces the second factor."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[str] = mapped_column(
        Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    used_at: Mapped[dt.datetime | None]


class SpentTotpStep(Table):
    """A time step whose code was used; by the primary key, only one concurrent use succeeds."""

    __tablename__ = "spent_totp_steps"

    user_id: Mapped[str] = mapped_column(
        Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    #: Enrolling, signing in and disabling have separate ledgers.
    ledger: Mapped[str] = mapped_column(String(8), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True)


class Counter(Table):
    """A count of events in a time window that starts at the first event."""

    __tablename__ = "counters"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    count: Mapped[int]
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)


class Mail(Table):
    """A pending mail; deleted when it is sent. Tokens are created when it is sent, not stored."""

    __tablename__ = "mails"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: `schemas.states.MailKind`.
    kind: Mapped[str] = mapped_column(String(32))
    recipient: Mapped[str] = mapped_column(String(320))
    #: The variables of the template.
    names: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[dt.datetime]
    due_at: Mapped[dt.datetime] = mapped_column(index=True)
    attempts: Mapped[int]


class ApiKey(Table):
    """An API key of an org; only the SHA-256 of its secret is stored."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), index=True)
    name: Mapped[str]
    kind: Mapped[str] = mapped_column(String(16))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    prefix: Mapped[str] = mapped_column(String(8))
    last4: Mapped[str] = mapped_column(String(4))
    scopes: Mapped[list[str]] = mapped_column(Json)
    expires_at: Mapped[dt.datetime | None] = mapped_column(index=True)
    revoked_at: Mapped[dt.datetime | None]
    created_at: Mapped[dt.datetime]
    #: The user's id; None for a key created on the command line.
    created_by: Mapped[str | None] = mapped_column(Id)
    last_used_at: Mapped[dt.datetime | None]
    #: The shortest expiry notice, in hours, that was mailed or was already past at creation.
    notified_hours: Mapped[int | None]


def _live_index(name: str, *columns: str, also: str = "") -> Index:
    """Return an index of the receipts that are not deleted."""
    condition = text(" AND ".join(filter(None, ("deleted_at IS NULL", also))))
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


class Receipt(Table):
    """One uploaded document, its pending reading and its result."""

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

    #: The accuracy of the stored reading; before the first one, the requested accuracy.
    accuracy: Mapped[str] = mapped_column(String(16))
    #: The accuracy of the pending reading; None when none is pending.
    pending_accuracy: Mapped[str | None] = mapped_column(String(16))
    #: The number of attempts at the pending reading; only the newest attempt may finish it.
    attempt: Mapped[int]
    #: When the first attempt at the pending reading started.
    claimed_at: Mapped[dt.datetime | None]
    #: When the lease of the current attempt expires; its worker renews it.
    lease_expires_at: Mapped[dt.datetime | None]
    #: How often a reread was requested; set to the maximum when a reread improved nothing.
    rereads: Mapped[int] = mapped_column(server_default="0", default=0)
    #: The fields that the reading at high accuracy changed, with values before and after.
    reread_changes: Mapped[dict[str, Any] | None] = mapped_column(Json)
    #: The month, `YYYY-MM`, whose quota this receipt counts against.
    quota_month: Mapped[str] = mapped_column(String(7))

    failure_code: Mapped[str | None] = mapped_column(String(32))
    failure_message: Mapped[str | None]

    #: The result as JSON of the API (`schemas.receipts.Reading`).
    reading: Mapped[dict[str, Any] | None] = mapped_column(Json)
    type: Mapped[str | None] = mapped_column(String(16))
    category: Mapped[str | None] = mapped_column(String(16))
    merchant_name: Mapped[str | None]
    currency: Mapped[str | None] = mapped_column(String(3))
    total: Mapped[Decimal | None]
    #: The calendar date on the document.
    issued_on: Mapped[dt.date | None]
    issued_at: Mapped[dt.datetime | None]
    merchant_tax_id: Mapped[str | None]
    #: The normalized name of the merchant, for filters and duplicates.
    merchant_key: Mapped[str | None]
    document_number: Mapped[str | None]
    document_key: Mapped[str | None] = mapped_column(String(64))
    confidence: Mapped[float | None]
    #: The perceptual hash of the first page, 16 hex digits; None for a page of text.
    picture_hash: Mapped[str | None] = mapped_column(String(16))

    #: Grows with every change of the completed receipt.
    version: Mapped[int] = mapped_column(server_default="1", default=1)
    #: What the machine read, if a person changed a field; None while it is equal to `reading`.
    machine_reading: Mapped[dict[str, Any] | None] = mapped_column(NullableJson)
    #: The fields that a person changed.
    corrected_fields: Mapped[list[str] | None] = mapped_column(NullableJson)
    #: Why a person should look at it, without duplicates; None before it was judged.
    doubts: Mapped[list[dict[str, Any]] | None] = mapped_column(NullableJson)
    #: The ids of receipts that look like the same document, oldest first; None without any.
    duplicates: Mapped[list[str] | None] = mapped_column(NullableJson)
    #: The ids of receipts that a person marked as different from it; these are never listed again.
    not_duplicates: Mapped[list[str] | None] = mapped_column(NullableJson)
    review_status: Mapped[str | None] = mapped_column(String(16))
    approved_by: Mapped[str | None] = mapped_column(Id)
    approved_at: Mapped[dt.datetime | None]

    __table_args__ = (
        _live_index("ix_receipts_live", "org_id", "id"),
        Index("ix_receipts_status", "org_id", "status", "id"),
        Index("ix_receipts_type", "org_id", "type", "id"),
        _live_index("ix_receipts_issued_on", "org_id", "issued_on", "id"),
        _live_index("ix_receipts_created_by", "org_id", "created_by", "id"),
        Index("ix_receipts_file", "org_id", "file_sha256"),
        _live_index("ix_receipts_review", "org_id", "review_status", "id"),
        _live_index("ix_receipts_merchant", "org_id", "merchant_key", "id"),
        _live_index("ix_receipts_category", "org_id", "category", "id"),
        _live_index("ix_receipts_currency", "org_id", "currency", "id"),
        _live_index("ix_receipts_confidence", "org_id", "confidence", "id"),
        _live_index("ix_receipts_total", "org_id", "total", "issued_at", "id"),
        _live_index("ix_receipts_currency_total", "org_id", "currency", "total", "id"),
        _live_index("ix_receipts_number", "org_id", "document_number", "total"),
        _live_index("ix_receipts_key", "org_id", "document_key"),
        # SQLite visits no row only if `deleted_at` is in the index, too.
        _live_index("ix_receipts_spend_of_period", "org_id", "issued_on", "currency", "category",
                    "review_status", "merchant_key", "total", "deleted_at"),
        _live_index("ix_receipts_duplicates", "org_id", "id", also="duplicates IS NOT NULL"),
        _live_index("ix_receipts_unjudged", "id", also="doubts IS NULL AND status = 'completed'"),
        Index("ix_receipts_pending", "org_id", "id",
              sqlite_where=text("pending_accuracy IS NOT NULL"),
              postgresql_where=text("pending_accuracy IS NOT NULL")),
        Index("ix_receipts_claimed_at", "claimed_at",
              sqlite_where=text("pending_accuracy IS NOT NULL AND claimed_at IS NOT NULL"),
              postgresql_where=text("pending_accuracy IS NOT NULL AND claimed_at IS NOT NULL")),
        Index("ix_receipts_deleted_at", "deleted_at", sqlite_where=text("deleted_at IS NOT NULL"),
              postgresql_where=text("deleted_at IS NOT NULL")),
    )  # fmt: skip


class PendingReadings(Table):
    """The number of pending readings of an org, so that no upload counts a million rows."""

    __tablename__ = "pending_readings"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    count: Mapped[int]

    __table_args__ = (
        Index("ix_pending_readings_some", "org_id", sqlite_where=text("count > 0"),
              postgresql_where=text("count > 0")),
    )  # fmt: skip


class Evidence(Table):
    """The location of each value of a receipt and the text of its pages; large, so kept apart."""

    __tablename__ = "evidence"

    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True
    )
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    texts: Mapped[list[str]] = mapped_column(Json)
    #: The size and rotation of each page; None where an older release read it.
    pages: Mapped[list[dict[str, int]] | None] = mapped_column(NullableJson)


class ReceiptWords(Table):
    """The words of a receipt that a search finds; see `services/reading/search.py`.

    SQLite has a full-text table `receipt_words_fts` on it, PostgreSQL a column `vector`.
    """

    __tablename__ = "receipt_words"

    #: The row number in SQLite's full-text table.
    number: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"),
                                        primary_key=True)  # fmt: skip
    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), unique=True
    )
    #: Normalized, each once, with spaces between; see `services/reading/search.py`.
    words: Mapped[str]


class ReceiptTag(Table):
    """One metadata entry of a receipt, for filters."""

    __tablename__ = "receipt_tags"

    receipt_id: Mapped[str] = mapped_column(
        Id, ForeignKey("receipts.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    org_id: Mapped[str] = mapped_column(Id)
    value: Mapped[str] = mapped_column(String(256))

    __table_args__ = (Index(None, "org_id", "key", "value", "receipt_id"),)


class Replay(Table):
    """The key of an upload, to detect repeats; by the primary key, one concurrent upload is new."""

    __tablename__ = "replays"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: The browser session of a publishable key, which has a separate namespace; otherwise "".
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
    #: Receipts that count against the quota: accepted in this month and not failed.
    held: Mapped[int]
    #: Receipts completed in this month.
    completed: Mapped[int]
    credits: Mapped[int]
    #: The highest usage threshold, in percent of the quota, that was notified.
    notified_percent: Mapped[int] = mapped_column(server_default="0", default=0)
    #: The quota of that threshold; thresholds start over with another plan.
    notified_quota: Mapped[int] = mapped_column(server_default="0", default=0)


class UsageEvent(Table):
    """One billed reading."""

    __tablename__ = "usage_events"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    # No foreign key: usage events are kept after the receipt is purged.
    receipt_id: Mapped[str] = mapped_column(Id)
    accuracy: Mapped[str] = mapped_column(String(16))
    credits: Mapped[int]
    created_at: Mapped[dt.datetime]

    __table_args__ = (
        Index(None, "org_id", "created_at"),
        # A receipt is billed at most once per accuracy.
        Index("uq_usage_events_receipt_id_accuracy", "receipt_id", "accuracy", unique=True),
    )


class UsageDay(Table):
    """The number of billed readings of an org on a day, UTC."""

    __tablename__ = "usage_days"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    day: Mapped[dt.date] = mapped_column(primary_key=True)
    count: Mapped[int]


class CategoryTotal(Table):
    """The number of an org's completed receipts of a category, without deleted ones."""

    __tablename__ = "category_totals"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    category: Mapped[str] = mapped_column(String(16), primary_key=True)
    receipts: Mapped[int]


class MerchantTotal(Table):
    """The number of an org's completed receipts of a merchant, without deleted ones."""

    __tablename__ = "merchant_totals"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: The SHA-256 of the name, which may be too long for an index.
    merchant_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    merchant: Mapped[str]
    receipts: Mapped[int]
    total_spent: Mapped[Decimal]

    __table_args__ = (Index(None, "org_id", "receipts", "total_spent"),)


class MerchantMonth(Table):
    """What an org spent in a currency at a merchant, on receipts dated in a month."""

    __tablename__ = "merchant_months"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    currency: Mapped[str] = mapped_column(String(3), primary_key=True)
    #: Its first day.
    month: Mapped[dt.date] = mapped_column(primary_key=True)
    merchant_key: Mapped[str] = mapped_column(primary_key=True)
    receipts: Mapped[int]
    total_spent: Mapped[Decimal]

    # The rows are stored in the order of the key, so that only those of a period are visited.
    __table_args__ = ({"sqlite_with_rowid": False},)


class SpendMonth(Table):
    """What an org spent in a currency, on receipts of a month, category and state of review."""

    __tablename__ = "spend_months"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: Its first day.
    month: Mapped[dt.date] = mapped_column(primary_key=True)
    currency: Mapped[str] = mapped_column(String(3), primary_key=True)
    #: Empty without one.
    category: Mapped[str] = mapped_column(String(16), primary_key=True)
    review_status: Mapped[str] = mapped_column(String(16), primary_key=True)
    receipts: Mapped[int]
    total_spent: Mapped[Decimal]

    # The rows are stored in the order of the key, so that only those of a period are visited.
    __table_args__ = ({"sqlite_with_rowid": False},)


class Subscription(Table):
    """An org's subscription at the payment provider, created by the first checkout.

    `orgs.plan` determines what the org may use; this is the last state reported by the provider.
    """

    __tablename__ = "subscriptions"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: `schemas.states.PaymentProvider`; it assigned the ids below.
    provider: Mapped[str] = mapped_column(String(16))
    customer_id: Mapped[str] = mapped_column(String(255), unique=True)
    #: None until the first purchase.
    subscription_id: Mapped[str | None] = mapped_column(String(255))
    plan: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    cancel_at_period_end: Mapped[bool]
    current_period_end: Mapped[dt.datetime | None]
    #: Incremented by each change, to detect that data fetched from the provider is outdated.
    version: Mapped[int]
    updated_at: Mapped[dt.datetime]


class ProviderEvent(Table):
    """A processed event of the payment provider; each is processed once."""

    __tablename__ = "provider_events"

    id: Mapped[str] = mapped_column(String(255), primary_key=True)
    received_at: Mapped[dt.datetime]


class WebhookEndpoint(Table):
    """A webhook endpoint of an org; the oldest is its default endpoint."""

    __tablename__ = "webhook_endpoints"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    url: Mapped[str]
    #: What members call it; may be empty.
    description: Mapped[str]
    #: The values of `schemas.states.EventType` that it gets; NULL for all, future ones too.
    event_types: Mapped[list[str] | None] = mapped_column(NullableJson)
    created_at: Mapped[dt.datetime]
    updated_at: Mapped[dt.datetime]
    #: When the first delivery since the last success failed; None after a success.
    failing_since: Mapped[dt.datetime | None]
    #: When it was disabled: after failing for too long if `failing_since` is set, else by a member.
    disabled_at: Mapped[dt.datetime | None]

    __table_args__ = (Index(None, "org_id", "id"),)


class SigningSecret(Table):
    """The signing secret of an endpoint, or of the per-request webhook URLs of an org.

    Secrets are encrypted, bound to their owner.
    """

    __tablename__ = "signing_secrets"

    #: The id of the endpoint or of the org.
    owner_id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), index=True)
    sealed: Mapped[str]
    #: Rotated secrets, newest first: `{"sealed", "until"}`; each also signs until then.
    earlier: Mapped[list[dict[str, str]]] = mapped_column(Json)


class WebhookEvent(Table):
    """A webhook event; every attempt sends the same bytes."""

    __tablename__ = "webhook_events"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    #: `schemas.states.EventType`.
    type: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[dt.datetime]
    #: The JSON that is sent.
    body: Mapped[str]
    #: The receipt in the body; the event is deleted when the receipt is purged.
    receipt_id: Mapped[str | None] = mapped_column(Id)
    #: When delivery was first attempted; the history lists only attempted events.
    attempted_at: Mapped[dt.datetime | None]

    __table_args__ = (
        # The portal also lists events that were not attempted yet.
        Index(None, "org_id", "id"),
        Index("ix_webhook_events_receipt_id", "receipt_id",
              sqlite_where=text("receipt_id IS NOT NULL"),
              postgresql_where=text("receipt_id IS NOT NULL")),
        Index("ix_webhook_events_attempted", "org_id", "id",
              sqlite_where=text("attempted_at IS NOT NULL"),
              postgresql_where=text("attempted_at IS NOT NULL")),
        Index("ix_webhook_events_attempted_of_type", "org_id", "type", "id",
              sqlite_where=text("attempted_at IS NOT NULL"),
              postgresql_where=text("attempted_at IS NOT NULL")),
    )  # fmt: skip


class Delivery(Table):
    """The delivery of an event to one of its receivers: its state and next attempt."""

    __tablename__ = "deliveries"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    event_id: Mapped[str] = mapped_column(Id, ForeignKey("webhook_events.id", ondelete="CASCADE"))
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    #: The endpoint that it is sent to; None if the request named a URL.
    endpoint_id: Mapped[str | None] = mapped_column(Id)
    #: The URL that the request named; None if it is sent to the endpoint.
    url: Mapped[str | None]
    #: `schemas.states.DeliveryState`.
    state: Mapped[str] = mapped_column(String(16))
    #: When the next attempt is due or the lease of the current one expires; None when done.
    due_at: Mapped[dt.datetime | None]
    #: Attempts since it was last requested; they determine the backoff.
    tries: Mapped[int]

    __table_args__ = (
        # An event goes to an endpoint once.
        UniqueConstraint("event_id", "endpoint_id"),
        # Separate indexes: a backlog of a dead endpoint does not slow down other deliveries.
        Index("ix_deliveries_due_to_endpoint", "endpoint_id", "due_at", "id",
              sqlite_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL"),
              postgresql_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL")),
        Index("ix_deliveries_due_elsewhere", "org_id", "due_at", "id",
              sqlite_where=text("due_at IS NOT NULL AND endpoint_id IS NULL"),
              postgresql_where=text("due_at IS NOT NULL AND endpoint_id IS NULL")),
        # It begins with the org: SQLite would also use it to find what is due otherwise.
        Index("ix_deliveries_of_endpoint", "org_id", "endpoint_id", "id",
              sqlite_where=text("endpoint_id IS NOT NULL"),
              postgresql_where=text("endpoint_id IS NOT NULL")),
    )  # fmt: skip


class DeliveryAttempt(Table):
    """One delivery attempt and the receiver's response."""

    __tablename__ = "delivery_attempts"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    event_id: Mapped[str] = mapped_column(Id, ForeignKey("webhook_events.id", ondelete="CASCADE"))
    delivery_id: Mapped[str] = mapped_column(Id)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    url: Mapped[str]
    started_at: Mapped[dt.datetime]
    duration_ms: Mapped[int]
    #: The HTTP status; None when there was no response.
    status: Mapped[int | None]
    #: Why there was no response, or why it was rejected.
    error: Mapped[str | None]
    #: The first bytes of the response, as text.
    answer: Mapped[str | None]

    __table_args__ = (Index(None, "event_id", "id"), Index(None, "delivery_id", "id"))


class ReceiptAddress(Table):
    """The address that an org's receipts are mailed to; an org has one or none."""

    __tablename__ = "receipt_addresses"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), unique=True)
    #: The SHA-256 of the token in the address, by which a mail finds its org.
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    #: The token, encrypted, bound to this row, to show the address.
    sealed_token: Mapped[str]
    #: Addresses, and domains that begin with `@`, that may send without being members.
    senders: Mapped[list[str]] = mapped_column(Json)
    #: The language of replies to senders who are no users.
    language: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]


class ReceivedMail(Table):
    """A mail to a receipt address: what became of each file, and whether it was answered."""

    __tablename__ = "received_mails"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    #: The SHA-256 of its Message-ID; a mail is processed once.
    message_hash: Mapped[str] = mapped_column(String(64))
    #: Its Message-ID, which the reply names.
    message_id: Mapped[str]
    #: Lower case; as the mail says, which may be forged.
    sender: Mapped[str] = mapped_column(String(320))
    subject: Mapped[str]
    received_at: Mapped[dt.datetime]
    #: `schemas.states.MailOutcome`.
    outcome: Mapped[str] = mapped_column(String(32))
    #: For each file `{"name", "receipt_id", "is_known", "problem"}`.
    files: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    #: Whether a reply is sent once its files are read.
    is_answered: Mapped[bool]
    #: When its files were read, or it was refused.
    settled_at: Mapped[dt.datetime | None]

    __table_args__ = (
        UniqueConstraint("org_id", "message_hash"),
        Index(None, "org_id", "id"),
        Index("ix_received_mails_received_at", "received_at"),
        Index("ix_received_mails_unsettled", "id", sqlite_where=text("settled_at IS NULL"),
              postgresql_where=text("settled_at IS NULL")),
    )  # fmt: skip


class MeterEvent(Table):
    """Credits to report to the payment provider; deleted once reported."""

    __tablename__ = "meter_events"

    #: The id of the usage event.
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: The provider's id of the customer.
    customer_id: Mapped[str] = mapped_column(String(255))
    credits: Mapped[int]
    used_at: Mapped[dt.datetime]
    due_at: Mapped[dt.datetime] = mapped_column(index=True)
    attempts: Mapped[int]


class AuditEvent(Table):
    """One entry of the audit log. It has no foreign keys, so it is kept after deletions."""

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

    __table_args__ = (
        Index(None, "org_id", "id"),
        Index(None, "org_id", "action", "id"),
        Index(None, "org_id", "resource_type", "id"),
        Index(None, "org_id", "resource_id", "id"),
        # An event has at most one actor, so it is in at most one of these indexes.
        Index(None, "org_id", "actor_user_id", "id",
              sqlite_where=text("actor_user_id IS NOT NULL"),
              postgresql_where=text("actor_user_id IS NOT NULL")),
        Index(None, "org_id", "actor_api_key_id", "id",
              sqlite_where=text("actor_api_key_id IS NOT NULL"),
              postgresql_where=text("actor_api_key_id IS NOT NULL")),
    )  # fmt: skip
