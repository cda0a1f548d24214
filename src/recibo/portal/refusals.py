"""What a form says when the service refuses it: in sentences, beside the field they are about."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from recibo.errors import Conflict, NotFound, RateLimitExceeded, ServiceError, ValidationFailed

#: What a section says on its own page; all else has a page of its own.
SAID = (ValidationFailed, NotFound, Conflict, RateLimitExceeded)
_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was not taken; nothing is said before it was sent."""

    #: Above the form.
    message: str = ""
    #: By the name of the field; see `beside`.
    fields: Mapping[str, str] = field(default_factory=dict)
    #: Whether the token that a link brought is of no use.
    is_about_token: bool = False

    @classmethod
    def of(cls, error: ServiceError, visible: Collection[str]) -> "Refusal":
        """Return what to say of an error on a form with these fields that people see."""
        if isinstance(error, RateLimitExceeded) and error.retry_after is not None:
            return cls(f"Too many tries. Try again in {_span(error.retry_after)}.")
        beside = {one.field: one.message for one in error.details if one.field in visible}
        above = [one for one in error.details if one.field not in visible]
        is_about_token = any(one.field == "token" for one in error.details)
        if is_about_token:
            message = " ".join(one.message for one in above)
        else:
            message = error.message if above or not beside else ""
        return cls(message, beside, is_about_token)

    def beside(self, name: str, label: str) -> str:
        """Return a sentence about a field; empty when nothing is wrong with it."""
        message = self.fields.get(name, "")
        if not message:
            return ""
        sentence = message if message[0].isupper() else f"{label} {message}"
        return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."

    def __bool__(self) -> bool:
        return bool(self.message or self.fields)


def _span(seconds: int) -> str:
    if seconds <= _MINUTE:
        return "a minute"
    return f"{math.ceil(seconds / _MINUTE)} minutes"
