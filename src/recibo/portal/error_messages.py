"""Error messages for pages: sentences for people instead of API messages.

The messages of errors are written for API clients: they name request fields, scopes and
headers. All pages that show errors use this module.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from recibo.errors import (
    Conflict,
    CrossSiteRequest,
    Detail,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    ServerError,
    ServiceError,
    ValidationFailed,
)

#: Errors that a section shows on its own page; others get an error page.
MESSAGES = (ValidationFailed, NotFound, Conflict, RateLimitExceeded)

_MINUTE, _HOUR, _DAY = 60, 60 * 60, 24 * 60 * 60

# Sentences that replace the default messages of the classes.
_PLAIN: Mapping[type[ServiceError], str] = {
    ValidationFailed: "This request is not valid. Go back and try again.",
    NotFound: "This page does not exist or was removed.",
    MethodNotAllowed: "This page does not support that action. Go back and try again.",
    CrossSiteRequest: "The form was sent from another site, so nothing was changed. "
    "Open the page here and send it again.",
    InsufficientScope: "Your role does not allow this.",
    ServerError: "Something went wrong on our side. Try again in a moment.",
    Overloaded: "The service is busy. Try again in a few minutes.",
}
# Labels of fields whose names in the API are not plain English.
_LABELS: Mapping[str, str] = {
    "Content-Type": "The form",
    "accuracy": "Accuracy",
    "billing_email": "Billing email",
    "code": "The code",
    "cursor": "The page of the list",
    "days": "The number of days",
    "expires_at": "The last day",
    "file": "The file",
    "form": "The form",
    "logo_url": "The logo address",
    "new_password": "The new password",
    "plan": "The plan",
    "secret": "The secret",
    "session": "The address of this page",
    "url": "The URL",
    "user_id": "The member",
}
_REASONS: Mapping[str, str] = {
    "permission": _PLAIN[InsufficientScope],
    "role": "Only an owner can do this.",
    "session": "You signed in through an invitation, so this session works only in its "
    "organization. Sign out, then sign in with your password or an email link.",
}
# API messages follow the name of a field; pages need whole sentences.
_BEGINNINGS: Mapping[str, str] = {
    "is one of ": "must be one of ",
    "has ": "must have ",
    "is needed": "is required",
}


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """The error messages of a form; empty before it is submitted."""

    #: Shown above the form.
    message: str = ""
    #: By the name of the field; see `for_field`.
    fields: Mapping[str, str] = field(default_factory=dict)
    #: Whether the token from a link is invalid.
    is_about_token: bool = False

    @classmethod
    def of(cls, error: ServiceError, visible: Collection[str]) -> "ErrorMessage":
        """Return the messages for an error; `visible` are the form's visible fields."""
        by_field = {one.field: one.message for one in error.details if one.field in visible}
        above = tuple(one for one in error.details if one.field not in visible)
        is_about_token = any(one.field == "token" for one in error.details)
        if above and isinstance(error, ValidationFailed):
            message = _joined(above)
        else:
            message = sentence(error) if above or not by_field else ""
        return cls(message, by_field, is_about_token)

    def for_field(self, name: str, label: str) -> str:
        """Return the error message of a field; empty if it has none."""
        message = self.fields.get(name, "")
        return _about(label, message) if message else ""

    def __bool__(self) -> bool:
        return bool(self.message or self.fields)


def sentence(error: ServiceError) -> str:
    """Return the sentence that a page shows for an error."""
    has_own_words = error.message != type(error).__doc__
    if isinstance(error, RateLimitExceeded):
        if has_own_words:
            return error.message
        when = f" Try again in {_span(error.retry_after)}." if error.retry_after else ""
        return f"Too many attempts.{when}"
    if isinstance(error, InsufficientScope) and error.details:
        return _REASONS.get(error.details[0].field, _PLAIN[InsufficientScope])
    if isinstance(error, ValidationFailed) and error.details:
        return _joined(error.details)
    return error.message if has_own_words else _PLAIN.get(type(error), error.message)


def _joined(details: tuple[Detail, ...]) -> str:
    return " ".join(_about(_label(one.field), one.message) for one in details)


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " ").capitalize())


def _about(label: str, message: str) -> str:
    """Return a message as a sentence; if it begins with a capital letter, it already is one."""
    for beginning, instead in _BEGINNINGS.items():
        if message.startswith(beginning):
            message = instead + message.removeprefix(beginning)
    said = message if message[0].isupper() else f"{label} {message}"
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _span(seconds: int) -> str:
    if seconds <= _MINUTE:
        return "a minute"
    if seconds <= 2 * _HOUR:
        return f"{math.ceil(seconds / _MINUTE)} minutes"
    if seconds <= 2 * _DAY:
        return f"{math.ceil(seconds / _HOUR)} hours"
    return f"{math.ceil(seconds / _DAY)} days"
