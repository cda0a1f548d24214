"""The errors that the service returns: one class for each code.

ServiceError
├── ValidationFailed        400 validation_error
│   ├── UnsupportedFormat   400 unsupported_format
│   └── FileTooLarge        400 file_too_large
├── Unauthorized            401 unauthorized
│   ├── NoSession           401 unauthorized
│   └── ExpiredApiKey       401 expired_api_key
├── AuthenticationFailed    401 authentication_failed
├── InsufficientScope       403 insufficient_scope
├── CrossSiteRequest        403 cross_site_request
├── SignupClosed            403 signup_closed
├── NotFound                404 not_found
├── MethodNotAllowed        405 method_not_allowed
├── RequestTimeout          408 request_timeout
├── Conflict                409 conflict
├── LowConfidence           422 low_confidence
├── RateLimitExceeded       429 rate_limit_exceeded
├── HeadersTooLarge         431 headers_too_large
└── ServerError             500 server_error
    └── Overloaded          503 server_error
        └── DatabaseUnavailable 503 server_error
"""

from dataclasses import dataclass
from typing import ClassVar

# A database server needs about this long to restart.
_DATABASE_RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Detail:
    """One invalid field and the reason."""

    field: str
    message: str


class ServiceError(Exception):
    """The request could not be served."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "server_error"

    def __init__(
        self,
        message: str | None = None,
        *,
        details: tuple[Detail, ...] = (),
        retry_after: int | None = None,
        receipt_id: str | None = None,
    ) -> None:
        self.message = message or type(self).__doc__ or ""
        self.details = details
        #: In seconds.
        self.retry_after = retry_after
        #: The failed receipt that was stored, if any.
        self.receipt_id = receipt_id
        super().__init__(self.message)


class ValidationFailed(ServiceError):
    """The request is not valid."""

    status = 400
    code = "validation_error"

    @classmethod
    def of(cls, field: str, message: str) -> "ValidationFailed":
        """Return the error for one field; the message must say what to do."""
        return cls(f"{field}: {message}", details=(Detail(field, message),))


class UnsupportedFormat(ValidationFailed):
    """The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF."""

    code = "unsupported_format"


class FileTooLarge(ValidationFailed):
    """The file is larger than 15 MB."""

    code = "file_too_large"


class Unauthorized(ServiceError):
    """The API key is missing or not valid; send it in the X-API-Key header."""

    status = 401
    code = "unauthorized"


class NoSession(Unauthorized):
    """The session is missing, not valid or over; sign in and send its access token."""


class ExpiredApiKey(Unauthorized):
    """The API key has expired; create a new one."""

    code = "expired_api_key"


class AuthenticationFailed(ServiceError):
    """The credentials are not right."""

    status = 401
    code = "authentication_failed"


class InsufficientScope(ServiceError):
    """The credential lacks the scope or permission that this needs."""

    status = 403
    code = "insufficient_scope"

    @classmethod
    def lacking(cls, kind: str, needed: str) -> "InsufficientScope":
        """Return the error that names the missing scope or permission."""
        message = f"This needs the {kind} `{needed}`."
        return cls(message, details=(Detail(kind, f"`{needed}` is missing"),))


class CrossSiteRequest(ServiceError):
    """A page of another site may not use this session."""

    status = 403
    code = "cross_site_request"


class SignupClosed(ServiceError):
    """New accounts come by invitation only; ask an admin of your organization for one."""

    status = 403
    code = "signup_closed"


class NotFound(ServiceError):
    """There is nothing here."""

    status = 404
    code = "not_found"


class MethodNotAllowed(ServiceError):
    """This path does not take this method."""

    status = 405
    code = "method_not_allowed"


class RequestTimeout(ServiceError):
    """The request arrived too slowly; send it again over a faster connection."""

    status = 408
    code = "request_timeout"


class Conflict(ServiceError):
    """The request conflicts with what is stored."""

    status = 409
    code = "conflict"


class LowConfidence(ServiceError):
    """The document is unreadable; send a sharper or larger picture of it."""

    status = 422
    code = "low_confidence"


class RateLimitExceeded(ServiceError):
    """Too many requests; wait and try again."""

    status = 429
    code = "rate_limit_exceeded"


class HeadersTooLarge(ServiceError):
    """The address and the headers are larger than 64 KB together; send less."""

    status = 431
    code = "headers_too_large"


class ServerError(ServiceError):
    """Something went wrong on our side; try again."""


class Overloaded(ServerError):
    """The service is busy; try again later."""

    status = 503


class DatabaseUnavailable(Overloaded):
    """The database does not answer at present; try again later."""

    def __init__(self) -> None:
        super().__init__(retry_after=_DATABASE_RETRY_SECONDS)
