"""The errors that the client raises: one class for each code of the API.

ReciboError
├── ConfigurationError          no API key, or a URL that is none
├── ConnectionFailedError       no answer: the server is away, or the connection broke
├── UnexpectedResponseError     an answer that is not Recibo's
├── WaitTimeoutError            the receipt is still pending
├── SignatureError              a webhook that Recibo did not sign
└── APIError                    an error response
    ├── InvalidRequestError     validation_error
    │   ├── UnsupportedFormatError
    │   └── FileTooLargeError
    ├── UnauthorizedError
    │   └── ExpiredAPIKeyError
    ├── InsufficientScopeError
    ├── NotFoundError
    ├── MethodNotAllowedError
    ├── RequestTimeoutError
    ├── ConflictError
    ├── LowConfidenceError
    ├── RateLimitExceededError
    ├── HeadersTooLargeError
    └── ServerError
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, ClassVar

import pydantic

from recibo_client import models

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

_TOO_LARGE = 413
_TOO_MANY_REQUESTS = 429
_FIRST_SERVER_ERROR = 500


class ReciboError(Exception):
    """All errors of this package."""


class ConfigurationError(ReciboError):
    """The client lacks an API key or a usable URL."""


class ConnectionFailedError(ReciboError):
    """The server did not answer.

    Attributes:
        was_sent: Whether the server may have received the request.
    """

    def __init__(self, message: str, *, was_sent: bool = True) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class UnexpectedResponseError(ReciboError):
    """The response is not one of Recibo: is the URL right?"""


class WaitTimeoutError(ReciboError):
    """The receipt was still pending when the time was over; the server goes on reading it.

    Attributes:
        receipt: The pending receipt.
    """

    def __init__(self, receipt: models.Receipt) -> None:
        super().__init__(receipt)
        self.receipt = receipt

    def __str__(self) -> str:
        """Say which receipt, and how to go on."""
        return f"{self.receipt.id} is still pending; get it later with receipts.wait()."


class SignatureError(ReciboError):
    """The signature of a webhook is missing, wrong or too old; answer 401."""


class APIError(ReciboError):
    """The API answered with an error.

    Attributes:
        status: The HTTP status; None for a receipt that failed while you waited for it.
        code: The error's code. New codes may be added.
        message: The cause.
        details: The fields that are not valid, and why.
        retry_after: Seconds after which the same request may succeed.
        receipt_id: The failed receipt that was stored, if any.
        request_id: Name it when you report a problem.
    """

    #: The code of the class; of APIError itself, none.
    CODE: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        details: tuple[models.FieldDetail, ...] = (),
        retry_after: float | None = None,
        receipt_id: str | None = None,
        request_id: str | None = None,
    ) -> None:
        self.status = status
        self.code = code or self.CODE
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.receipt_id = receipt_id
        self.request_id = request_id
        # Only the message, so that copies and pickles of the error are made from it.
        super().__init__(message)

    def __str__(self) -> str:
        """Give the message with what a report of the problem needs."""
        named = [str(part) for part in (self.status, self.code, self.request_id) if part]
        return f"{self.message} ({', '.join(named)})"


class InvalidRequestError(APIError):
    """A field or parameter is not valid, or the file cannot be used."""

    CODE = "validation_error"


class UnsupportedFormatError(InvalidRequestError):
    """The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF."""

    CODE = "unsupported_format"


class FileTooLargeError(InvalidRequestError):
    """The file is larger than 15 MB."""

    CODE = "file_too_large"


class UnauthorizedError(APIError):
    """The API key is missing, unknown or revoked."""

    CODE = "unauthorized"


class ExpiredAPIKeyError(UnauthorizedError):
    """The API key has expired."""

    CODE = "expired_api_key"


class InsufficientScopeError(APIError):
    """The API key lacks a scope; `details` names it."""

    CODE = "insufficient_scope"


class NotFoundError(APIError):
    """The organization has no such receipt or page."""

    CODE = "not_found"


class MethodNotAllowedError(APIError):
    """The server does not know this operation: it is older than this client."""

    CODE = "method_not_allowed"


class RequestTimeoutError(APIError):
    """The request arrived too slowly; nothing was kept."""

    CODE = "request_timeout"


class ConflictError(APIError):
    """Another version is stored, or the Idempotency-Key was used with another file."""

    CODE = "conflict"


class LowConfidenceError(APIError):
    """The document is unreadable; `receipt_id` is the failed receipt."""

    CODE = "low_confidence"


class RateLimitExceededError(APIError):
    """Too many requests or uploads at once, or the month's quota is used up: see `retry_after`."""

    CODE = "rate_limit_exceeded"


class HeadersTooLargeError(APIError):
    """The address and the headers are larger than 64 KB together."""

    CODE = "headers_too_large"


class ServerError(APIError):
    """Something went wrong on the server, or it is busy."""

    CODE = "server_error"


def classes() -> Iterator[type[APIError]]:
    """Yield the class of each code."""
    found = [APIError]
    while found:
        below = found.pop().__subclasses__()
        yield from below
        found += below


def of_response(response: httpx.Response) -> ReciboError | None:
    """Return the error of a response that was read; None of a success."""
    if response.is_success:
        return None
    if response.has_redirect_location:
        return _of_redirect(response)
    try:
        body = models.ErrorAnswer.model_validate_json(response.content).error
    except pydantic.ValidationError:
        return _of_status(response)
    return _by_code(body.code)(
        body.message,
        status=response.status_code,
        code=body.code,
        details=tuple(body.details or ()),
        retry_after=body.retry_after,
        receipt_id=body.receipt_id,
        request_id=body.request_id,
    )


def of_failure(receipt: models.Receipt) -> APIError | None:
    """Return the error of a failed receipt, as its upload would have got it; else None."""
    if receipt.failure is None:
        return None
    code = receipt.failure.code
    return _by_code(code)(receipt.failure.message, code=code, receipt_id=receipt.id)


def _by_code(code: str) -> type[APIError]:
    return {one.CODE: one for one in classes()}.get(code, APIError)


def _of_redirect(response: httpx.Response) -> UnexpectedResponseError:
    """Return the error of a redirect, which Recibo never answers: often http instead of https."""
    to = response.headers["Location"]
    message = f"{response.request.url} answered {response.status_code}: it has moved to {to!r}."
    return UnexpectedResponseError(message)


def _of_status(response: httpx.Response) -> APIError:
    """Return the error of a response that did not come from Recibo, but from a proxy."""
    status = response.status_code
    message = f"{response.request.url} answered {status} {response.reason_phrase}."
    return _by_status(status)(message, status=status, retry_after=_retry_after(response))


def _by_status(status: int) -> type[APIError]:
    if status == _TOO_LARGE:
        return FileTooLargeError
    if status == _TOO_MANY_REQUESTS:
        return RateLimitExceededError
    return ServerError if status >= _FIRST_SERVER_ERROR else APIError


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date (RFC 9110, 10.2.3)."""
    given = response.headers.get("Retry-After", "")
    if given.isdecimal():
        return float(given)
    try:
        # By the clock of the server, which may differ from the one here.
        at, now = (parsedate_to_datetime(text) for text in (given, response.headers["Date"]))
        return max((at - now).total_seconds(), 0)
    except (KeyError, OverflowError, TypeError, ValueError):
        return None
