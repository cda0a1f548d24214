"""Examples of error responses: the errors that an operation can answer, by status."""

from collections.abc import Mapping
from typing import Any

from recibo.api.errors import error_body
from recibo.errors import (
    AuthenticationFailed,
    Conflict,
    CrossSiteRequest,
    ExpiredApiKey,
    FileTooLarge,
    HeadersTooLarge,
    InsufficientScope,
    LowConfidence,
    NoSession,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    RequestTimeout,
    ServerError,
    ServiceError,
    SignupClosed,
    Unauthorized,
    UnsupportedFormat,
    ValidationFailed,
)

_REQUEST_ID = "req_01964f6e2b7a7c3f9d1e4a5b6c7d8e01"
_RECEIPT_ID = "rcp_01964f6e2b7a7c3f9d1e4a5b6c7d8e9f"

_ERRORS: Mapping[str, ServiceError] = {
    "unsupported_format": UnsupportedFormat(),
    "file_too_large": FileTooLarge(),
    "invalid_api_key": Unauthorized(),
    "expired_api_key": ExpiredApiKey(),
    "no_session": NoSession(),
    "authentication_failed": AuthenticationFailed(),
    "missing_scope": InsufficientScope.lacking("scope", "read"),
    "missing_permission": InsufficientScope.lacking("permission", "team:write"),
    "cross_site_request": CrossSiteRequest(),
    "signup_closed": SignupClosed(),
    "not_found": NotFound(),
    "request_timeout": RequestTimeout(),
    "conflict": Conflict(),
    "low_confidence": LowConfidence(receipt_id=_RECEIPT_ID),
    "rate_limit_exceeded": RateLimitExceeded(retry_after=12),
    "headers_too_large": HeadersTooLarge(),
    "server_error": ServerError(),
    "overloaded": Overloaded(retry_after=5),
}

#: The errors that mean the same for every operation.
COMPONENTS: Mapping[str, Any] = {
    name: {"summary": error.message, "value": error_body(error, _REQUEST_ID)}
    for name, error in _ERRORS.items()
}

_BY_STATUS: Mapping[str, tuple[str, ...]] = {
    "404": ("not_found",),
    "408": ("request_timeout",),
    "409": ("conflict",),
    "422": ("low_confidence",),
    "429": ("rate_limit_exceeded",),
    "431": ("headers_too_large",),
    "500": ("server_error",),
    "503": ("overloaded",),
}
# Errors that the credential of an operation does not imply.
_EXTRA: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("extract_receipt", "400"): ("unsupported_format", "file_too_large"),
    ("change_password", "401"): ("authentication_failed",),
    ("disable_two_factor", "401"): ("authentication_failed",),
    ("enable_two_factor", "401"): ("authentication_failed",),
    ("sign_up", "403"): ("signup_closed",),
    ("accept_invitation", "403"): ("signup_closed",),
}
_LINK = "token", "the link is not valid, used or expired; ask for a new one"
_LIMIT = "limit", "must be at most 200"
_EMAIL = "email", "is not an e-mail address"
# The field of an operation that its example of a 400 names, and the message.
_INVALID: Mapping[str, tuple[str, str]] = {
    "extract_receipt": ("accuracy", "must be one of standard, high"),
    "list_receipts": _LIMIT,
    "get_receipt": (
        "include",
        "must be evidence, pages, reading, text, or several of them with commas between",
    ),
    "export_receipts": ("format", "must be 'csv', 'xlsx', 'jsonl' or 'zip'"),
    "update_receipt": ("total", 'must be a decimal in a string, such as "42.59"'),
    "get_receipt_page": ("width", "must be at most 1600"),
    "list_webhook_events": _LIMIT,
    "list_audit_events": ("since", "must be an ISO 8601 date or timestamp, such as 2026-03-14"),
    "get_usage": ("days", "must be at most 365"),
    "list_top_vendors": ("limit", "must be at most 100"),
    "create_key": ("name", "must not be empty"),
    "update_me": ("name", "must have at most 255 characters"),
    "change_password": ("new_password", "must have at least 8 characters"),
    "switch_org": ("org_id", "is required"),
    "update_org": ("slug", "cannot be changed here"),
    "sign_up": ("password", "must have at least 8 characters"),
    "log_in": ("password", "is required"),
    "refresh_session": ("refresh_token", "must be a string"),
    "accept_invitation": _LINK,
    "send_magic_link": _EMAIL,
    "sign_in_with_link": _LINK,
    "verify_email": _LINK,
    "send_password_reset": _EMAIL,
    "reset_password": ("new_password", "must have at least 8 characters"),
    "invite_member": _EMAIL,
    "update_member_role": (
        "role",
        "must be 'owner', 'admin', 'developer', 'viewer' or 'billing'",
    ),
    "remove_member": ("user_id", "is yourself; another member must remove you"),
    "enable_two_factor": ("code", "must match the pattern ^[0-9]{6,8}$"),
    "verify_two_factor": ("code", "is required"),
    "use_recovery_code": ("code", "is required"),
    "disable_two_factor": ("code", "is required"),
    "create_checkout_session": ("plan", "must be 'indie', 'startup' or 'scale'"),
    "create_portal_session": ("return_url", "is required"),
    "receive_provider_event": ("body", "the signature does not match"),
}


def of(operation: Mapping[str, Any], status: str) -> Mapping[str, Any]:
    """Return the named examples of an operation's answer with an error's status."""
    name = operation["operationId"]
    named = _by_credential(operation, status) + _EXTRA.get((name, status), ())
    found: dict[str, Any] = {
        one: {"$ref": f"#/components/examples/{one}"} for one in named or _BY_STATUS.get(status, ())
    }
    if status == "400":
        return {"validation_error": _invalid(name), **found}
    return found


def _by_credential(operation: Mapping[str, Any], status: str) -> tuple[str, ...]:
    schemes = {scheme for one in operation.get("security", ()) for scheme in one}
    takes_key, takes_session = "APIKeyHeader" in schemes, "Session" in schemes
    if status == "401" and takes_key:
        return "invalid_api_key", "expired_api_key"
    if status == "401":
        return ("no_session",) if takes_session else ("authentication_failed",)
    if status == "403" and takes_key:
        return ("missing_scope",)
    if status == "403":
        return ("missing_permission",) if takes_session else ("cross_site_request",)
    return ()


def _invalid(name: str) -> Mapping[str, Any]:
    error = ValidationFailed.of(*_INVALID[name])
    return {"summary": error.message, "value": error_body(error, _REQUEST_ID)}
