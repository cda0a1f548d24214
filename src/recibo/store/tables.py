"""Every table of the service.

Times are stored in UTC, money exactly. What a reading gives is stored once as the JSON that goes
over the wire (`Receipt.reading`); the columns beside it repeat only what is filtered or summed.
"""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    text,
)
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


class Installation(Table):
    """Which installation this database belongs to, as its files do; one row."""

    __tablename__ = "installation"

    #: Always 1, so that there is one row at most.
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(Id)
    created_at: Mapped[dt.datetime]


class Sweep(Table):
    """How far the search for files without a receipt has come; one row."""

    __tablename__ = "sweeps"

    #: Always 1, so that there is one row at most.
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    #: `shapes.states.SweepStage`.
    stage: Mapped[str] = mapped_column(String(16))
    #: Where the listing goes on.
    cursor: Mapped[str]
    #: Files seen in this pass.
    files: Mapped[int]
    #: Not before then.
    due_at: Mapped[dt.datetime]


class Orphan(Table):
    """A file that no receipt knew when the sweep saw it; moved to the trash after the pass."""

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
    #: Figures agreed for the plan enterprise, by the names of `shapes.plans.Plan`.
    agreed: Mapped[dict[str, int] | None] = mapped_column(Json)
    created_at: Mapped[dt.datetime]
    #: When it was deleted: nobody gets in any more, and its rows go bit by bit.
    deleted_at: Mapped[dt.datetime | None]


class User(Table):
    """A person."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: Lower case.
    email: Mapped[str] = mapped_column(String(320), unique=True)
    full_name: Mapped[str | None]
    created_at: Mapped[dt.datetime]
    #: When somebody proved to read this address.
    email_verified_at: Mapped[dt.datetime | None]
    disabled_at: Mapped[dt.datetime | None]
    #: Argon2id; None for those who came by a link and have set none.
    password_hash: Mapped[str | None]
    #: Raised to end all access tokens; each carries the one it was made under.
    epoch: Mapped[int] = mapped_column(server_default="0", default=0)
    #: The org to sign in to.
    last_org_id: Mapped[str | None] = mapped_column(Id)
    #: Where the account was made: whose mailbox it is, is told by this, too.
    signup_ip_address: Mapped[str | None] = mapped_column(String(64))
    signup_user_agent: Mapped[str | None]
    #: Sealed, bound to this row; not active before `totp_enabled_at`.
    totp_secret: Mapped[str | None]
    totp_enabled_at: Mapped[dt.datetime | None]


class Membership(Table):
    """A user's role in an org."""

    __tablename__ = "memberships"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[dt.datetime]


class Invitation(Table):
    """An offer to join an org; at most one an address is pending."""

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    email: Mapped[str] = mapped_column(String(320))
    role: Mapped[str] = mapped_column(String(16))
    invited_by: Mapped[str] = mapped_column(Id)
    #: Of the token in the mail; None until that is written.
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
    """One sign-in and all tokens that were refreshed from it: a refresh family."""

    __tablename__ = "user_sessions"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id", ondelete="CASCADE"))
    org_id: Mapped[str | None] = mapped_column(Id)
    #: How it began (`shapes.states.SignInMethod`).
    method: Mapped[str] = mapped_column(String(16))
    #: Bound to its org: it may not leave it, nor touch the account.
    is_bound: Mapped[bool]
    ip_address: Mapped[str | None] = mapped_column(String(64))
    user_agent: Mapped[str | None]
    created_at: Mapped[dt.datetime]
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)
    ended_at: Mapped[dt.datetime | None]
    #: It awaits the second factor until then; None when none is owed.
    pending_until: Mapped[dt.datetime | None]

    __table_args__ = (Index(None, "user_id", "id"),)


class RefreshToken(Table):
    """A refresh token of a session; it works once."""

    __tablename__ = "refresh_tokens"

    #: The JWT's `jti`.
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    session_id: Mapped[str] = mapped_column(
        Id, ForeignKey("user_sessions.id", ondelete="CASCADE"), index=True
    )
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)
    used_at: Mapped[dt.datetime | None]


class MailToken(Table):
    """What a link in a mail proves; deleted when it is used."""

    __tablename__ = "mail_tokens"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    #: `shapes.states.MailTokenKind`.
    kind: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[str] = mapped_column(Id, ForeignKey("users.id", ondelete="CASCADE"))
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)

    __table_args__ = (Index(None, "user_id", "kind"),)


class RecoveryCode(Table):
    """A code that stands in for the second factor once."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[str] = mapped_column(
        Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    used_at: Mapped[dt.datetime | None]


class SpentTotpStep(Table):
    """A time step whose code was used; the primary key lets one of many at once in."""

    __tablename__ = "spent_totp_steps"

    user_id: Mapped[str] = mapped_column(
        Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    #: Enrolling, signing in and disabling each keep their own.
    ledger: Mapped[str] = mapped_column(String(8), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True)


class Counter(Table):
    """How often something happened in a window of time that began with the first."""

    __tablename__ = "counters"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    count: Mapped[int]
    expires_at: Mapped[dt.datetime] = mapped_column(index=True)


class Mail(Table):
    """A mail that is owed; deleted when it is sent. It holds no token: those are made when sent."""

    __tablename__ = "mails"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: `shapes.states.MailKind`.
    kind: Mapped[str] = mapped_column(String(32))
    recipient: Mapped[str] = mapped_column(String(320))
    #: What the text names.
    names: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[dt.datetime]
    due_at: Mapped[dt.datetime] = mapped_column(index=True)
    attempts: Mapped[int]


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
    expires_at: Mapped[dt.datetime | None] = mapped_column(index=True)
    revoked_at: Mapped[dt.datetime | None]
    created_at: Mapped[dt.datetime]
    #: The user's id; None for a key made on the command line.
    created_by: Mapped[str | None] = mapped_column(Id)
    last_used_at: Mapped[dt.datetime | None]
    #: The shortest notice of its end that was mailed, or that it was born too late for, in hours.
    notified_hours: Mapped[int | None]


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
    #: How long whoever began an attempt has it in hand; put off while it is worked on.
    held_until: Mapped[dt.datetime | None]
    #: How often it was ordered to be read again; all there may be when that gave nothing better.
    rereads: Mapped[int] = mapped_column(server_default="0", default=0)
    #: What the reading at high accuracy changed: each field with its values before and after.
    reread_changes: Mapped[dict[str, Any] | None] = mapped_column(Json)
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
        Index("ix_receipts_created_by", "org_id", "created_by", "id",
              sqlite_where=text("deleted_at IS NULL"),
              postgresql_where=text("deleted_at IS NULL")),
        Index("ix_receipts_file", "org_id", "file_sha256"),
        Index("ix_receipts_owed_in_turn", "org_id", "id",
              sqlite_where=text("owed_accuracy IS NOT NULL"),
              postgresql_where=text("owed_accuracy IS NOT NULL")),
        Index("ix_receipts_claimed_at", "claimed_at",
              sqlite_where=text("owed_accuracy IS NOT NULL AND claimed_at IS NOT NULL"),
              postgresql_where=text("owed_accuracy IS NOT NULL AND claimed_at IS NOT NULL")),
        Index("ix_receipts_deleted_at", "deleted_at", sqlite_where=text("deleted_at IS NOT NULL"),
              postgresql_where=text("deleted_at IS NOT NULL")),
    )  # fmt: skip


class PendingReadings(Table):
    """How many readings an org waits for: of a million rows nobody counts them for each upload."""

    __tablename__ = "pending_readings"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    count: Mapped[int]

    __table_args__ = (
        Index("ix_pending_readings_some", "org_id", sqlite_where=text("count > 0"),
              postgresql_where=text("count > 0")),
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
    #: The highest part of the quota, in percent, whose being used up was told of.
    told_percent: Mapped[int] = mapped_column(server_default="0", default=0)
    #: The quota that it was a part of: another plan begins anew.
    told_quota: Mapped[int] = mapped_column(server_default="0", default=0)


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


class UsageDay(Table):
    """How many readings of an org were billed on a day, UTC."""

    __tablename__ = "usage_days"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    day: Mapped[dt.date] = mapped_column(primary_key=True)
    count: Mapped[int]


class CategoryTotal(Table):
    """An org's completed receipts of a category; deleted ones are taken off."""

    __tablename__ = "category_totals"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    category: Mapped[str] = mapped_column(String(16), primary_key=True)
    receipts: Mapped[int]


class MerchantTotal(Table):
    """An org's completed receipts of a merchant; deleted ones are taken off."""

    __tablename__ = "merchant_totals"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: The SHA-256 of the name, which may be too long for a key.
    merchant_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    merchant: Mapped[str]
    receipts: Mapped[int]
    total_spent: Mapped[Decimal]

    __table_args__ = (Index(None, "org_id", "receipts", "total_spent"),)


class Subscription(Table):
    """An org at the payment provider; there is none before the first checkout.

    `orgs.plan` says what the org may use; this says what the provider last told.
    """

    __tablename__ = "subscriptions"

    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), primary_key=True)
    #: `shapes.states.PaymentProvider`; the ids below are its own.
    provider: Mapped[str] = mapped_column(String(16))
    customer_id: Mapped[str] = mapped_column(String(255), unique=True)
    #: None until something is bought.
    subscription_id: Mapped[str | None] = mapped_column(String(255))
    plan: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    cancel_at_period_end: Mapped[bool]
    current_period_end: Mapped[dt.datetime | None]
    #: Raised with each change: whoever looked at the provider before it must look again.
    version: Mapped[int]
    updated_at: Mapped[dt.datetime]


class ProviderEvent(Table):
    """An event of the payment provider that was taken; it counts once."""

    __tablename__ = "provider_events"

    id: Mapped[str] = mapped_column(String(255), primary_key=True)
    received_at: Mapped[dt.datetime]


class WebhookEndpoint(Table):
    """Where an org's events go that name no address of their own; an org has one at most."""

    __tablename__ = "webhook_endpoints"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), unique=True)
    url: Mapped[str]
    created_at: Mapped[dt.datetime]
    updated_at: Mapped[dt.datetime]
    #: Since when nothing succeeded; None after a success.
    failing_since: Mapped[dt.datetime | None]
    #: When it was switched off for failing too long.
    disabled_at: Mapped[dt.datetime | None]


class SigningSecret(Table):
    """What the webhooks of an endpoint, or those to an org's per-request addresses, are signed by.

    Secrets are sealed, bound to their owner.
    """

    __tablename__ = "signing_secrets"

    #: The id of the endpoint or of the org.
    owner_id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"), index=True)
    sealed: Mapped[str]
    #: Those before, the newest first: `{"sealed", "until"}`, until when each signs along.
    earlier: Mapped[list[dict[str, str]]] = mapped_column(Json)


class WebhookEvent(Table):
    """Something that an org is told; its bytes are the same at every try."""

    __tablename__ = "webhook_events"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    #: `shapes.states.EventType`.
    type: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[dt.datetime]
    #: The JSON that is sent.
    body: Mapped[str]
    #: Whose content the body holds; the event goes when that is purged.
    receipt_id: Mapped[str | None] = mapped_column(Id)
    #: When it was first tried; the history holds no others.
    attempted_at: Mapped[dt.datetime | None]

    __table_args__ = (
        # The portal shows those as well that were not tried yet.
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
    """That an event is brought to its receiver: what is owed to it, and how it ended."""

    __tablename__ = "deliveries"

    event_id: Mapped[str] = mapped_column(
        Id, ForeignKey("webhook_events.id", ondelete="CASCADE"), primary_key=True
    )
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    #: The endpoint whose address it goes to; None when it has one of its own.
    endpoint_id: Mapped[str | None] = mapped_column(Id)
    #: The address that the request named; None when it goes to the endpoint.
    url: Mapped[str | None]
    #: `shapes.states.DeliveryState`.
    state: Mapped[str] = mapped_column(String(16))
    #: When it is tried next, or until when somebody tries it; None when nothing is owed.
    due_at: Mapped[dt.datetime | None]
    #: Tries since it was last asked for; the schedule goes by them.
    tries: Mapped[int]

    __table_args__ = (
        # What is owed to a dead endpoint hides nothing that goes elsewhere.
        Index("ix_deliveries_due_to_endpoint", "org_id", "due_at", "event_id",
              sqlite_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL"),
              postgresql_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL")),
        Index("ix_deliveries_due_elsewhere", "org_id", "due_at", "event_id",
              sqlite_where=text("due_at IS NOT NULL AND endpoint_id IS NULL"),
              postgresql_where=text("due_at IS NOT NULL AND endpoint_id IS NULL")),
        # Without those that have none: SQLite would look them up here, however many they are.
        Index("ix_deliveries_owed_to", "endpoint_id",
              sqlite_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL"),
              postgresql_where=text("due_at IS NOT NULL AND endpoint_id IS NOT NULL")),
    )  # fmt: skip


class DeliveryAttempt(Table):
    """One try at a delivery, and what the receiver answered."""

    __tablename__ = "delivery_attempts"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    event_id: Mapped[str] = mapped_column(Id, ForeignKey("webhook_events.id", ondelete="CASCADE"))
    org_id: Mapped[str] = mapped_column(Id, ForeignKey("orgs.id"))
    url: Mapped[str]
    started_at: Mapped[dt.datetime]
    duration_ms: Mapped[int]
    #: The HTTP status; None when there was no answer.
    status: Mapped[int | None]
    #: Why there was none, or why it did not count.
    error: Mapped[str | None]
    #: The first bytes of the answer, as text.
    answer: Mapped[str | None]

    __table_args__ = (Index(None, "event_id", "id"),)


class MeterEvent(Table):
    """Credits that the payment provider is owed word of; deleted when it is told."""

    __tablename__ = "meter_events"

    #: Of the usage event.
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    #: Who used them, as the provider's own id.
    customer_id: Mapped[str] = mapped_column(String(255))
    credits: Mapped[int]
    used_at: Mapped[dt.datetime]
    due_at: Mapped[dt.datetime] = mapped_column(index=True)
    attempts: Mapped[int]


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

    __table_args__ = (
        Index(None, "org_id", "id"),
        Index(None, "org_id", "action", "id"),
        Index(None, "org_id", "resource_type", "id"),
        # An event has one actor at most, so it stands in one of these.
        Index(None, "org_id", "actor_user_id", "id",
              sqlite_where=text("actor_user_id IS NOT NULL"),
              postgresql_where=text("actor_user_id IS NOT NULL")),
        Index(None, "org_id", "actor_api_key_id", "id",
              sqlite_where=text("actor_api_key_id IS NOT NULL"),
              postgresql_where=text("actor_api_key_id IS NOT NULL")),
    )  # fmt: skip
