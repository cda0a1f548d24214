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
    HeadersTooLarge,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    RequestTimeout,
    ServerError,
    ServiceError,
    ValidationFailed,
)
from recibo.portal import service_messages
from recibo.portal.translations import LazyText, _, lazy_gettext, ngettext

#: Errors that a section shows on its own page; others get an error page.
MESSAGES = (ValidationFailed, NotFound, Conflict, RateLimitExceeded)

_MINUTE, _HOUR, _DAY = 60, 60 * 60, 24 * 60 * 60

# Sentences that replace the default messages of the classes.
_PLAIN: Mapping[type[ServiceError], LazyText] = {
    ValidationFailed: lazy_gettext("This request is not valid. Go back and try again."),
    NotFound: lazy_gettext("This page does not exist or was removed."),
    MethodNotAllowed: lazy_gettext(
        "This page does not support that action. Go back and try again."
    ),
    RequestTimeout: lazy_gettext(
        "The page received your data too slowly. Try again over a faster connection."
    ),
    HeadersTooLarge: lazy_gettext(
        "Your browser sends too much data with each request. "
        "Delete the cookies of this site and try again."
    ),
    CrossSiteRequest: lazy_gettext(
        "The form was sent from another site, so nothing was changed. "
        "Open the page here and send it again."
    ),
    InsufficientScope: lazy_gettext(
        "Your role does not allow this. Ask an owner or admin of your organization."
    ),
    ServerError: lazy_gettext("Something went wrong on our side. Try again in a moment."),
    Overloaded: lazy_gettext("The service is busy. Try again in a few minutes."),
}
# Labels of fields whose names in the API are not plain English.
_LABELS: Mapping[str, LazyText] = {
    "Content-Type": lazy_gettext("The form"),
    "accuracy": lazy_gettext("Accuracy"),
    "billing_email": lazy_gettext("Billing email"),
    "code": lazy_gettext("The code"),
    "cursor": lazy_gettext("The page of the list"),
    "days": lazy_gettext("The number of days"),
    "expires_at": lazy_gettext("The last day"),
    "file": lazy_gettext("The file"),
    "form": lazy_gettext("The form"),
    "logo_url": lazy_gettext("The logo address"),
    "new_password": lazy_gettext("The new password"),
    "plan": lazy_gettext("The plan"),
    "q": lazy_gettext("The search"),
    "secret": lazy_gettext("The secret"),
    "senders": lazy_gettext("The list of senders"),
    "session": lazy_gettext("The address of this page"),
    "url": lazy_gettext("The URL"),
    "user_id": lazy_gettext("The member"),
}
_REASONS: Mapping[str, LazyText] = {
    "permission": _PLAIN[InsufficientScope],
    "role": lazy_gettext("Only an owner can do this."),
    "session": lazy_gettext(
        "You signed in through an invitation, so this session works only in its "
        "organization. Sign out, then sign in with your password or an email link."
    ),
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

    def for_field(self, name: str, label: object) -> str:
        """Return the error message of a field; empty if it has none."""
        message = self.fields.get(name, "")
        return _about(label, message) if message else ""

    def __bool__(self) -> bool:
        return bool(self.message or self.fields)


def sentence(error: ServiceError) -> str:
    """Return the sentence that a page shows for an error."""
    has_own_words = error.message != type(error).__doc__
    if not has_own_words and (said := _until_when(error)):
        return said
    if isinstance(error, InsufficientScope) and error.details:
        return str(_REASONS.get(error.details[0].field, _PLAIN[InsufficientScope]))
    if isinstance(error, ValidationFailed) and error.details:
        return _joined(error.details)
    plain = None if has_own_words else _PLAIN.get(type(error))
    return str(plain) if plain else service_messages.sentence(error.message)


def _until_when(error: ServiceError) -> str:
    """Return the sentence for an error that passes; empty for others."""
    span = _span(error.retry_after) if error.retry_after else ""
    if isinstance(error, RateLimitExceeded):
        if not span:
            return _("Too many attempts.")
        return _("Too many attempts. Try again in %(span)s.", span=span)
    if type(error) is Overloaded and span:
        return _("The service is busy. Try again in %(span)s.", span=span)
    return ""


def of_address(retry_after: int) -> str:
    """Return the sentence for too many requests of an address within a minute."""
    return _(
        "More requests came from your network within a minute than are allowed. "
        "Try again in %(span)s.",
        span=_span(retry_after),
    )


def _joined(details: tuple[Detail, ...]) -> str:
    return " ".join(_about(_label(one.field), one.message) for one in details)


def _label(name: str) -> object:
    return _LABELS.get(name, name.replace("_", " ").capitalize())


def _about(label: object, message: str) -> str:
    """Return a message as a sentence; if it begins with a capital letter, it already is one."""
    if message[0].isupper():
        said = service_messages.sentence(message)
    else:
        said = f"{label} {service_messages.about_field(message)}"
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _span(seconds: int) -> str:
    if seconds < _MINUTE:
        return ngettext("%(count)s second", "%(count)s seconds", seconds, count=seconds)
    if seconds == _MINUTE:
        return _("a minute")
    if seconds <= 2 * _HOUR:
        return _("%(count)s minutes", count=math.ceil(seconds / _MINUTE))
    if seconds <= 2 * _DAY:
        return _("%(count)s hours", count=math.ceil(seconds / _HOUR))
    return _("%(count)s days", count=math.ceil(seconds / _DAY))
