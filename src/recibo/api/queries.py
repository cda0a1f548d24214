"""The types of query parameters."""

import datetime as dt
import re
from decimal import Decimal
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

from recibo.errors import ValidationFailed

# A + that is not percent-encoded arrives as a space.
# As many digits as both databases compare exactly.
_AMOUNT = re.compile(r"-?\d{1,12}(\.\d{1,4})?", re.ASCII)
_LOST_PLUS = re.compile(r" (\d\d(:?\d\d)?)$")


def _digits(given: object) -> object:
    """Accept digits only; Python would also accept spaces, signs, `5.0` and `1_0`."""
    if isinstance(given, str) and not (given.isascii() and given.isdigit()):
        message = "must be a whole number, in digits"
        raise ValueError(message)
    return given


def _storable(given: object) -> object:
    """Refuse NUL, which PostgreSQL cannot store."""
    if isinstance(given, str) and "\0" in given:
        message = "must not hold NUL"
        raise ValueError(message)
    return given


def _amount(given: object) -> object:
    """Accept a plain decimal; Python would also accept `1e5`, `NaN` and `1_0`."""
    if isinstance(given, str) and not _AMOUNT.fullmatch(given):
        message = "must be a decimal, such as 42.59"
        raise ValueError(message)
    return given


def _flag(given: object) -> object:
    """Accept true only: what is left out is not asked for."""
    if given not in ("true", True, False):
        message = "must be true"
        raise ValueError(message)
    return given


Amount: TypeAlias = Annotated[Decimal, BeforeValidator(_amount)]
Flag: TypeAlias = Annotated[bool, BeforeValidator(_flag)]
Digits: TypeAlias = Annotated[int, BeforeValidator(_digits)]
Text: TypeAlias = Annotated[str, BeforeValidator(_storable)]


def bound(name: str, given: str | None) -> dt.date | dt.datetime | None:
    """Return a date, or an instant for a timestamp (UTC when it names no offset).

    Raises:
        ValidationFailed: it is neither, or its year is out of range.
    """
    if given is None:
        return None
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        pass
    try:
        instant = dt.datetime.fromisoformat(_LOST_PLUS.sub(r"+\1", given))
        return (instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        message = "must be an ISO 8601 date or timestamp, such as 2026-03-14"
        raise ValidationFailed.of(name, message) from None
