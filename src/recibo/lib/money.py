"""Formats amounts for the API: plain decimals with `.` and no grouping."""

from collections.abc import Callable
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

_CODES_IN_USE = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW
KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD
SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYI UYU UYW
UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
#: ISO 4217, table A.1: the currencies in use.
CURRENCIES = frozenset(_CODES_IN_USE.split())

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


def speller_of(spell: Callable[[Decimal], str]) -> Callable[[str], Callable[[object], str]]:
    """Return a function from the name of an attribute to one that spells it, "" for None."""

    def named(name: str) -> Callable[[object], str]:
        def spelled(one: object) -> str:
            value: Decimal | None = getattr(one, name)
            return "" if value is None else spell(value)

        return spelled

    return named
