"""Formats amounts for the API: plain decimals with `.` and no grouping."""

from decimal import Context, Decimal, Inexact, InvalidOperation

# ISO 4217, table A.1: the currencies whose minor unit is not a hundredth.
_MINOR_DIGITS = {
    **dict.fromkeys(
        (
            *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
            *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
        ),
        0,
    ),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
_USUAL_MINOR_DIGITS = 2

# Enough digits for any printed amount; raises instead of rounding.
_EXACT = Context(prec=60, traps=[Inexact, InvalidOperation])


def minor_digits(currency: str) -> int:
    """Return how many digits an amount of this ISO 4217 currency has after the point."""
    return _MINOR_DIGITS.get(currency, _USUAL_MINOR_DIGITS)


def as_printed(value: Decimal) -> str:
    """Format a number with exactly its digits."""
    # Arithmetic can produce a negative zero.
    return format(value or value.copy_abs(), "f")


def in_minor_digits(value: Decimal, currency: str | None) -> str:
    """Format an amount with its currency's minor digits.

    Zeros are added or dropped, but the value never changes: a third significant digit (fuel at
    1.459) stays. Without a currency the amount is formatted as printed.
    """
    if currency is None:
        return as_printed(value)
    step = Decimal(1).scaleb(-minor_digits(currency))
    try:
        return as_printed(value.quantize(step, context=_EXACT))
    except (Inexact, InvalidOperation):
        return as_printed(value)
