"""The closed lists of the wire: states, scopes, action names."""

from enum import StrEnum


class ReceiptStatus(StrEnum):
    """`pending` becomes `completed` or `failed`."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class KeyKind(StrEnum):
    """Secret keys are for servers, publishable ones for browsers."""

    SECRET = "secret"  # noqa: S105 - a kind, not a secret
    PUBLISHABLE = "publishable"


class Scope(StrEnum):
    """What an API key may do; `write` does not include `read`."""

    READ = "read"
    WRITE = "write"
    EXTRACT_WRITE = "extract:write"


class Role(StrEnum):
    """What a member of an org is."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    VIEWER = "viewer"
    BILLING = "billing"


class ReplayKind(StrEnum):
    """By what a repeated upload is recognised."""

    FILE = "file"
    KEY = "key"


class AuditAction(StrEnum):
    """What is written to the audit log, `subject.action`."""

    ORG_CREATED = "org.created"
    APIKEY_CREATED = "apikey.created"
    RECEIPT_CREATED = "receipt.created"
    RECEIPT_REREAD = "receipt.reread"
    RECEIPT_DELETED = "receipt.deleted"
    RECEIPT_PURGED = "receipt.purged"


class ResourceType(StrEnum):
    """What an audit event is about."""

    ORG = "org"
    API_KEY = "api_key"
    RECEIPT = "receipt"


class FailureCode(StrEnum):
    """Why a receipt is `failed`; the codes of the errors that the upload would have got."""

    VALIDATION_ERROR = "validation_error"
    UNSUPPORTED_FORMAT = "unsupported_format"
    LOW_CONFIDENCE = "low_confidence"
    SERVER_ERROR = "server_error"
