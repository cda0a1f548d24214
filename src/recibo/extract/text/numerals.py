"""Amounts and quantities as Brazilian papers print them: `1.234,56`, and the dots of sloppy makers.

The last separator followed by exactly two digits is the decimal one, whatever it is: printers fed
straight from XML leave `10333.64` beside `6,38`. A comma is decimal whatever follows it.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

# A figure, with blanks that a reader may have put behind a separator.
_FIGURE = re.compile(
    r"(?<![0-9.,])(?P<sign>[-\u2212]\s?)?(?P<body>[0-9]+(?:\s?[.,]\s?[0-9]+)*)(?P<after>-)?(?![0-9])"
)
_CURRENCY = re.compile(r"R\s?[$S]\s?", re.IGNORECASE)
_CENTS = 2
_GROUP = 3


def amount(text: str) -> Decimal | None:
    """Read the only amount of money in a text, which must have two decimals; else None."""
    found = list(amounts(text))
    return found[0] if len(found) == 1 else None


def amounts(text: str) -> Iterator[Decimal]:
    """Read the amounts of money in a text from left to right: two decimals, no percentages."""
    plain = _CURRENCY.sub(" ", text)
    for match in _FIGURE.finditer(plain):
        if plain[match.end() :].lstrip().startswith("%"):
            continue
        value = parse(match["body"])
        exponent = value.as_tuple().exponent if value is not None else 0
        if value is not None and exponent == -_CENTS:
            yield -value if match["sign"] or match["after"] else value


def quantity(text: str) -> Decimal | None:
    """Read a bare figure with any number of decimals; None if the text is more than a figure."""
    match = _FIGURE.fullmatch(_CURRENCY.sub("", text).strip())
    return parse(match["body"]) if match else None


def parse(body: str) -> Decimal | None:
    """Read digits and separators; None if the separators make no figure.

    A single dot before three digits groups thousands here; who knows that it is a quantity
    (`0.672`) tries `decimal_dot` too.
    """
    body = re.sub(r"\s", "", body)
    head, separator, tail = _split(body)
    if not separator:
        return Decimal(body)
    whole = re.sub(r"[.,]", "", head)
    is_grouped = separator == "." and len(tail) == _GROUP and "," not in head and head != "0"
    if is_grouped:
        return Decimal(whole + tail) if _groups_soundly(head) else None
    if re.search(r"[.,]", head) and not _groups_soundly(head):
        return None
    return Decimal(f"{whole}.{tail}")


def decimal_dot(body: str) -> Decimal | None:
    """Read a figure whose single dot or comma is decimal whatever follows; None for others."""
    match = re.fullmatch(r"([0-9]+)[.,]([0-9]+)", re.sub(r"\s", "", body))
    return Decimal(f"{match[1]}.{match[2]}") if match else None


def _split(body: str) -> tuple[str, str, str]:
    """Split at the last separator."""
    place = max(body.rfind("."), body.rfind(","))
    return (body[:place], body[place], body[place + 1 :]) if place >= 0 else (body, "", "")


def _groups_soundly(head: str) -> bool:
    """Tell whether the digits before the decimals stand in threes."""
    return (
        re.fullmatch(r"[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}(?:,[0-9]{3})+", head) is not None
    )
