"""Format numbers, amounts, percentages and times on pages, each kind in one way."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any


def count(figure: int) -> str:
    """Return a whole number: `1,234`."""
    return f"{figure:,}"


def number(figure: str | None) -> str:
    """Return a decimal of the API with thousands separators: `1,234.50`.

    No digit is added or lost. Text that is no plain decimal is returned unchanged, None as empty.
    """
    if figure is None:
        return ""
    sign = figure[:1] if figure[:1] in ("-", "+") else ""
    whole, point, rest = figure.removeprefix(sign).partition(".")
    if not whole.isdecimal():
        return figure
    return f"{sign}{int(whole):,}{point}{rest}"


def money(figure: str | None, currency: str | None = None) -> str:
    """Return an amount with its currency, if known: `1,234.50 EUR`."""
    return f"{number(figure)} {currency}" if currency else number(figure)


def cents(figure: Decimal | float) -> str:
    """Return a sum of amounts: `1,234.50`."""
    return f"{figure:,.2f}"


def percent(share: float) -> str:
    """Return a fraction in whole percent, rounded down: `94%`."""
    # Fractions have four digits, and 0.29 * 100 is less than 29.
    return f"{round(share * 10_000) // 100}%"


def day(when: dt.date) -> str:
    """Return a date: `2026-03-14`."""
    return f"{when:%Y-%m-%d}"


def moment(when: dt.datetime) -> str:
    """Return a time to the minute: `2026-03-14 08:17 UTC`."""
    return f"{when.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def second(when: dt.datetime) -> str:
    """Return a time to the second, for logs: `2026-03-14 08:17:42 UTC`."""
    return f"{when.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


#: The filters by their names in templates.
FILTERS: Mapping[str, Callable[..., Any]] = {
    "count": count,
    "number": number,
    "money": money,
    "cents": cents,
    "percent": percent,
    "day": day,
    "moment": moment,
    "second": second,
}
