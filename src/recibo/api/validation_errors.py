"""What was refused of a body, a query or a header, field by field."""

from collections.abc import Sequence

from pydantic_core import ErrorDetails

from recibo.errors import Detail, ValidationFailed

# The library says so before what our own rules say; to the caller it tells nothing.
_OF_THE_LIBRARY = "Value error, "


def fields(errors: Sequence[ErrorDetails], *, above: int = 0) -> ValidationFailed:
    """Return the error that names each field; `above` counts what its place has above the body."""
    details = tuple(
        Detail(
            ".".join(str(part) for part in one["loc"][above:]) or "body",
            one["msg"].removeprefix(_OF_THE_LIBRARY),
        )
        for one in errors
    )
    message = "; ".join(f"{one.field}: {one.message}" for one in details)
    return ValidationFailed(message, details=details)
