"""What a form says when the service refuses it: in sentences, beside the field they are about."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from recibo.errors import RateLimitExceeded, ServiceError

# Fields that nobody sees; what is wrong with them is said above the form.
_HIDDEN = frozenset({"token", "next"})
_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was not taken; nothing is said before it was sent."""

    #: Above the form.
    message: str = ""
    #: By the name of the field; see `beside`.
    fields: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, error: ServiceError) -> "Refusal":
        """Return what to say of an error."""
        if isinstance(error, RateLimitExceeded) and error.retry_after is not None:
            return cls(f"Too many tries. Try again in {_span(error.retry_after)}.")
        if not error.details:
            return cls(error.message)
        hidden = [one.message for one in error.details if one.field in _HIDDEN]
        shown = {one.field: one.message for one in error.details if one.field not in _HIDDEN}
        return cls(" ".join(hidden), shown)

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
