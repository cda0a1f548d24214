"""The enums of the API and the database: states, scopes, action names."""

from enum import StrEnum


class ReceiptStatus(StrEnum):
    """`pending` becomes `completed` or `failed`."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class ReviewStatus(StrEnum):
    """Whether a person should look at a completed receipt, or has approved it."""

    NEEDS_REVIEW = "needs_review"
    READY = "ready"
    APPROVED = "approved"


class ReviewCode(StrEnum):
    """Why a person should look at a receipt."""

    LOW_CONFIDENCE = "low_confidence"
    MISSING = "missing"
    AMOUNTS_DISAGREE = "amounts_disagree"
    POSSIBLE_DUPLICATE = "possible_duplicate"
    #: The e-invoice in a PDF and its page.
    EMBEDDED_DIFFERS = "embedded_differs"


class KeyKind(StrEnum):
    """Secret keys are for servers, publishable ones for browsers."""

    SECRET = "secret"  # noqa: S105 - a kind, not a secret
    PUBLISHABLE = "publishable"


class Scope(StrEnum):
    """The scopes of an API key; `write` does not include `read`."""

    READ = "read"
    WRITE = "write"
    EXTRACT_WRITE = "extract:write"


class Role(StrEnum):
    """The role of a member in an org."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    VIEWER = "viewer"
    BILLING = "billing"


class ReplayKind(StrEnum):
    """How a repeated upload is recognized."""

    FILE = "file"
    KEY = "key"


class SignInMethod(StrEnum):
    """The sign-in method of a session."""

    SIGNUP = "signup"
    PASSWORD = "password"  # noqa: S105 - a method, not a password
    MAGIC_LINK = "magic_link"
    INVITATION = "invitation"


class MailTokenKind(StrEnum):
    """The purpose of a link in a mail."""

    MAGIC_LINK = "magic_link"
    VERIFY_EMAIL = "verify_email"
    PASSWORD_RESET = "password_reset"  # noqa: S105 - a kind, not a password


class MailKind(StrEnum):
    """The kinds of mails."""

    VERIFY_EMAIL = "verify_email"
    MAGIC_LINK = "magic_link"
    PASSWORD_RESET = "password_reset"  # noqa: S105 - a kind, not a password
    INVITATION = "invitation"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    SECOND_FACTOR_ENABLED = "second_factor_enabled"
    SECOND_FACTOR_DISABLED = "second_factor_disabled"
    RECOVERY_CODE_USED = "recovery_code_used"
    #: The mailbox's owner took over an account that another person may have created.
    ACCOUNT_RECLAIMED = "account_reclaimed"
    KEY_EXPIRING = "key_expiring"
    #: The creator of the keys lost the permission to create keys.
    KEYS_REVOKED = "keys_revoked"
    #: An endpoint failed for days and was disabled.
    WEBHOOKS_SWITCHED_OFF = "webhooks_switched_off"
    ORG_DELETED = "org_deleted"
    #: The reply to a mail with receipts.
    RECEIPTS_RECEIVED = "receipts_received"


class MailOutcome(StrEnum):
    """What became of a mail to the address of an org."""

    RECEIVED = "received"
    #: It has no document.
    EMPTY = "empty"
    #: It is no mail that can be taken apart.
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    #: The sender is a member who may not upload receipts.
    NOT_PERMITTED = "not_permitted"
    #: The sender is neither a member nor allowed.
    FOREIGN = "foreign"
    #: The mail server did not confirm the sender.
    UNCONFIRMED = "unconfirmed"


class FileProblem(StrEnum):
    """Why a file of a mail became no receipt, in addition to the codes of failures."""

    FILE_TOO_LARGE = "file_too_large"
    OVER_QUOTA = "over_quota"
    #: The mail has more files than are taken from one.
    TOO_MANY = "too_many"


class TotpLedger(StrEnum):
    """The use of a one-time code; each code works once per use."""

    ENROLL = "enroll"
    VERIFY = "verify"
    DISABLE = "disable"


class AuditAction(StrEnum):
    """The actions of the audit log, `subject.action`."""

    USER_SIGNED_UP = "user.signed_up"
    USER_SIGNED_IN = "user.signed_in"
    USER_SIGN_IN_FAILED = "user.sign_in_failed"
    USER_UPDATED = "user.updated"
    USER_ORG_SWITCHED = "user.org_switched"
    USER_EMAIL_VERIFIED = "user.email_verified"
    #: The mailbox's owner took over an account that another person had created.
    USER_RECLAIMED = "user.reclaimed"
    USER_PASSWORD_CHANGED = "user.password_changed"  # noqa: S105
    USER_PASSWORD_RESET = "user.password_reset"  # noqa: S105
    USER_SESSIONS_ENDED = "user.sessions_ended"
    #: One session, from the list of devices.
    USER_SESSION_ENDED = "user.session_ended"
    #: The password was right; `user.signed_in` follows after the second factor.
    USER_2FA_REQUIRED = "user.2fa_required"
    USER_2FA_ENROLLING = "user.2fa_enrolling"
    USER_2FA_ENABLED = "user.2fa_enabled"
    USER_2FA_DISABLED = "user.2fa_disabled"
    USER_RECOVERY_CODE_USED = "user.recovery_code_used"
    USER_DISABLED = "user.disabled"
    USER_ENABLED = "user.enabled"
    ORG_CREATED = "org.created"
    ORG_UPDATED = "org.updated"
    ORG_DELETED = "org.deleted"
    MEMBER_INVITED = "member.invited"
    INVITATION_REVOKED = "invitation.revoked"
    INVITATION_ACCEPTED = "invitation.accepted"
    MEMBER_ROLE_CHANGED = "member.role_changed"
    MEMBER_REMOVED = "member.removed"
    APIKEY_CREATED = "apikey.created"
    APIKEY_REVOKED = "apikey.revoked"
    RECEIPT_CREATED = "receipt.created"
    RECEIPT_REREAD = "receipt.reread"
    RECEIPT_CORRECTED = "receipt.corrected"
    RECEIPT_APPROVED = "receipt.approved"
    #: A person decided that a possible duplicate is another document.
    RECEIPT_NOT_DUPLICATE = "receipt.not_duplicate"
    RECEIPTS_EXPORTED = "receipts.exported"
    RECEIPT_DELETED = "receipt.deleted"
    RECEIPT_PURGED = "receipt.purged"
    AUDIT_EXPORTED = "audit.exported"
    SUBSCRIPTION_CHECKOUT_STARTED = "subscription.checkout_started"
    SUBSCRIPTION_UPDATED = "subscription.updated"
    WEBHOOK_ENDPOINT_CREATED = "webhook_endpoint.created"
    WEBHOOK_ENDPOINT_UPDATED = "webhook_endpoint.updated"
    WEBHOOK_ENDPOINT_DELETED = "webhook_endpoint.deleted"
    #: By a member, or without an actor because it failed for too long.
    WEBHOOK_ENDPOINT_DISABLED = "webhook_endpoint.disabled"
    WEBHOOK_ENDPOINT_ENABLED = "webhook_endpoint.enabled"
    WEBHOOK_ENDPOINT_SECRET_ROTATED = "webhook_endpoint.secret_rotated"  # noqa: S105
    WEBHOOK_EVENT_RESENT = "webhook_event.resent"
    WEBHOOK_EVENT_TESTED = "webhook_event.tested"
    FILES_ADOPTED = "files.adopted"
    FILES_RESTORED = "files.restored"
    INSTALLATION_RESTORED = "installation.restored"


class ResourceType(StrEnum):
    """The type of an audit event's target."""

    USER = "user"
    ORG = "org"
    MEMBERSHIP = "membership"
    INVITATION = "invitation"
    API_KEY = "api_key"
    RECEIPT = "receipt"
    SUBSCRIPTION = "subscription"
    WEBHOOK_ENDPOINT = "webhook_endpoint"
    WEBHOOK_EVENT = "webhook_event"
    INSTALLATION = "installation"


class SweepStage(StrEnum):
    """The phase of a sweep."""

    LISTING = "listing"
    MOVING = "moving"
    PURGING = "purging"


class EventType(StrEnum):
    """The types of webhook events."""

    RECEIPT_COMPLETED = "receipt.completed"
    RECEIPT_FAILED = "receipt.failed"
    RECEIPT_CORRECTED = "receipt.corrected"
    RECEIPT_APPROVED = "receipt.approved"
    RECEIPT_DELETED = "receipt.deleted"
    USAGE_THRESHOLD_REACHED = "usage.threshold_reached"
    WEBHOOK_TEST = "webhook.test"


class DeliveryState(StrEnum):
    """The state of an event's delivery."""

    #: The stored value is older than the name.
    PENDING = "owed"
    DELIVERED = "delivered"
    #: All attempts failed, or the receiver answered 410 Gone.
    FAILED = "failed"
    #: Its endpoint was removed or disabled first.
    DROPPED = "dropped"


class SubscriptionStatus(StrEnum):
    """The status of a subscription, as the payment provider names it."""

    ACTIVE = "active"
    TRIALING = "trialing"
    #: A payment failed and is retried; the plan stays active meanwhile.
    PAST_DUE = "past_due"
    CANCELED = "canceled"
    UNPAID = "unpaid"
    #: Its first payment is not made yet.
    INCOMPLETE = "incomplete"


class PaymentProvider(StrEnum):
    """The payment providers."""

    SANDBOX = "sandbox"
    STRIPE = "stripe"
    #: No plan is sold.
    NONE = "none"


class SignupPolicy(StrEnum):
    """Who may create an account."""

    OPEN = "open"
    #: Invitees only.
    INVITED = "invited"
    #: No new accounts; invitations work for existing ones.
    CLOSED = "closed"


class FailureCode(StrEnum):
    """Why a receipt is `failed`; the codes of the errors that the upload would have got."""

    VALIDATION_ERROR = "validation_error"
    UNSUPPORTED_FORMAT = "unsupported_format"
    LOW_CONFIDENCE = "low_confidence"
    SERVER_ERROR = "server_error"
