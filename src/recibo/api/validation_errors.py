"""The validation errors of a body, a query or a header, by field."""

from collections.abc import Mapping, Sequence

from pydantic_core import ErrorDetails

from recibo.errors import Detail, ValidationFailed

# Pydantic puts it before the messages of our own rules.
_PREFIX = "Value error, "
# By Pydantic's type of an error, with the names of its context.
_MESSAGES: Mapping[str, str] = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be an object",
    "enum": "must be {expected}",
    "extra_forbidden": "is not a field of this request",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is required",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be a string",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
}
_EMPTY = "must not be empty"


def fields(errors: Sequence[ErrorDetails], *, above: int = 0) -> ValidationFailed:
    """Return the error that names each invalid field.

    `above` is how many parts of an error's location come before the field.
    """
    details = tuple(
        Detail(".".join(str(part) for part in one["loc"][above:]) or "body", _message(one))
        for one in errors
    )
    message = "; ".join(f"{one.field}: {one.message}" for one in details)
    return ValidationFailed(message, details=details)


def _message(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if isinstance(error.get("input"), str):
        kind = {"too_short": "string_too_short", "too_long": "string_too_long"}.get(kind, kind)
    if context.get("min_length") == 1:
        return _EMPTY
    if kind not in _MESSAGES:
        return error["msg"].removeprefix(_PREFIX)
    return _MESSAGES[kind].format_map(context)
