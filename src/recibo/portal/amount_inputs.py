"""Amounts in fields: shown in the notation of the reader, understood in both notations.

`1.234,56` and `1,234.56` are the same amount. A separator that could be either, as in `1.234`, is
never guessed: it is a decimal separator only in a figure that may have three decimals, and only if
readers of the page's language write it so.
"""

import re

from babel import numbers

from recibo.portal.translations import locale

_FIGURE = re.compile(r"(-?)([\d.,]+)", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*", re.ASCII)
# A zero begins no group of thousands.
_TWO_WAYS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)


class AmbiguousAmountError(ValueError):
    """The figure can be read in two ways."""


def shown(figure: str) -> str:
    """Return a decimal of the API as it is shown in a field: `1234,50` in Portuguese."""
    return figure.replace(".", numbers.get_decimal_symbol(locale()))


def parsed(text: str, *, may_have_three_decimals: bool) -> str:
    """Return a typed figure as a decimal of the API; what is no figure is returned unchanged.

    Raises:
        AmbiguousAmountError: it can be read in two ways.
    """
    found = _FIGURE.fullmatch(text)
    if not found:
        return text
    sign, figure = found.groups()
    if _TWO_WAYS.fullmatch(figure):
        if not may_have_three_decimals or numbers.get_decimal_symbol(locale()) not in figure:
            raise AmbiguousAmountError
        return sign + figure.replace(",", ".")
    if figure.count(".") + figure.count(",") == 1:
        return sign + figure.replace(",", ".")
    whole, fraction = _split(figure)
    if not _GROUPED.fullmatch(whole):
        return text
    return sign + re.sub(r"[.,]", "", whole) + fraction


def _split(figure: str) -> tuple[str, str]:
    """Return the whole part and the decimals, which begin with another separator."""
    last = max(figure.rfind("."), figure.rfind(","))
    if last < 0 or figure.count(figure[last]) > 1:
        return figure, ""
    return figure[:last], f".{figure[last + 1 :]}"
