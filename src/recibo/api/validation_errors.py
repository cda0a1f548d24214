"""The validation errors of a body, a query or a header, by field."""

from collections.abc import Sequence

from pydantic_core import ErrorDetails

from recibo.errors import Detail, ValidationFailed

# Pydantic puts it before the messages of our own rules.
_PREFIX = "Value error, "


def fields(errors: Sequence[ErrorDetails], *, above: int = 0) -> ValidationFailed:
    """Return the error that names each invalid field.

    `above` is how many parts of an error's location come before the field.
    """
    details = tuple(
        Detail(
            ".".join(str(part) for part in one["loc"][above:]) or "body",
            one["msg"].removeprefix(_PREFIX),
        )
        for one in errors
    )
    message = "; ".join(f"{one.field}: {one.message}" for one in details)
    return ValidationFailed(message, details=details)
