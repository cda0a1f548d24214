"""Format numbers, amounts, percentages and times on pages, in the locale of the reader."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel import Locale, dates, numbers

from recibo.lib import money as amounts
from recibo.portal import names, service_messages
from recibo.portal.translations import current, locale
from recibo.schemas.languages import Language

_TONES = 4
# The order of day and month is read in two ways by readers of English, so the month is a word.
_DAYS = {Language.ENGLISH: "yMMMd", Language.PORTUGUESE: "yMd"}
_BOUND = 100
_KILOBYTE, _MEGABYTE = 1_000, 1_000_000


def count(figure: int) -> str:
    """Return a whole number: `1,234`."""
    return number(str(figure))


def bounded(figure: int) -> str:
    """Return a number that was counted up to 100: `99+` for so many."""
    return str(figure) if figure < _BOUND else f"{_BOUND - 1}+"


def number(figure: str | None) -> str:
    """Return a decimal of the API with the separators of the reader: `1,234.50`.

    No digit is added or lost. Text that is no plain decimal is returned unchanged, None as empty.
    """
    if figure is None:
        return ""
    sign = figure[:1] if figure[:1] in ("-", "+") else ""
    whole, point, rest = figure.removeprefix(sign).partition(".")
    if not whole.isdecimal():
        return figure
    grouped = f"{int(whole):,}".replace(",", numbers.get_group_symbol(locale()))
    return f"{sign}{grouped}{numbers.get_decimal_symbol(locale()) if point else ''}{rest}"


def money(figure: Decimal, currency: str) -> str:
    """Return a sum with the minor digits of its currency: `1,234.50`, `1,235` for JPY."""
    places = Decimal(1).scaleb(-amounts.minor_digits(currency))
    return number(f"{figure.quantize(places):f}")


def percent(share: float) -> str:
    """Return a fraction in whole percent, rounded down: `94%`."""
    # Fractions have four digits, and 0.29 * 100 is less than 29.
    return numbers.format_percent(Decimal(round(share * 10_000) // 100) / 100, locale=locale())


def file_size(size: int) -> str:
    """Return the size of a file: `12.3 kB`."""
    unit, name = (_MEGABYTE, "MB") if size >= _MEGABYTE else (_KILOBYTE, "kB")
    return f"{number(f'{size / unit:.1f}')} {name}"


def day(when: dt.date) -> str:
    """Return a date: `Mar 14, 2026`."""
    return _shown(_DAYS[current()], when)


def month(when: dt.date) -> str:
    """Return a month: `Mar 2026`."""
    return _shown("yMMM", when)


def long_month(when: dt.date) -> str:
    """Return a month: `March 2026`."""
    return _shown("yMMMM", when)


def short_month(when: dt.date) -> str:
    """Return a month under a column: `Mar`, in January with its year."""
    return _shown("yMMM" if when.month == 1 else "MMM", when)


def short_day(when: dt.date) -> str:
    """Return a day under a column: `Mar 14`."""
    return _shown("MMMd", when)


def moment(when: dt.datetime) -> str:
    """Return a time to the minute: `Mar 14, 2026, 08:17 UTC`."""
    return _moment(when.astimezone(dt.UTC), "Hm", "UTC")


def second(when: dt.datetime) -> str:
    """Return a time to the second, for logs: `Mar 14, 2026, 08:17:42 UTC`."""
    return _moment(when.astimezone(dt.UTC), "Hms", "UTC")


def instant(when: dt.datetime) -> str:
    """Return a time for machines: `2026-03-14T08:17:42Z`."""
    return f"{when.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def iso_day(text: str) -> str:
    """Return the date of an ISO 8601 date or timestamp."""
    try:
        return day(dt.date.fromisoformat(text[:10]))
    except ValueError:
        return text


def iso_moment(text: str) -> str:
    """Return a timestamp with its offset: `Mar 14, 2026, 08:17:42 UTC-03:00`."""
    try:
        when = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return _moment(when, "Hms", f"UTC{text[19:]}")


def currency_name(code: str | None) -> str:
    """Return the name of a currency: `Brazilian Real`; empty without one."""
    return numbers.get_currency_name(code, locale=locale()) if code else ""


def _shown(skeleton: str, when: dt.date) -> str:
    # Equal times may be on different days, by their offsets.
    return _formatted(skeleton, when.toordinal(), locale())


@lru_cache(maxsize=1_024)
def _formatted(skeleton: str, ordinal: int, reader: Locale) -> str:
    return dates.format_skeleton(skeleton, dt.date.fromordinal(ordinal), locale=reader)


def _moment(when: dt.datetime, time: str, zone: str) -> str:
    clock = dates.format_skeleton(time, when, tzinfo=when.tzinfo, locale=locale())
    joined = str(dates.get_datetime_format("medium", locale=locale()))
    return f"{joined.format(clock, day(when))} {zone}"


def initials(name: str) -> str:
    """Return the initials of a person: `AL` for Ana Lima, `AN` for ana@people.test."""
    words = name.partition("@")[0].split()
    if len(words) > 1:
        return f"{words[0][0]}{words[-1][0]}".upper()
    return name[:2].upper()


def tone(name: str) -> int:
    """Return the color of a person's avatar, 1 to 4; the same name has always the same."""
    return sum(name.encode()) % _TONES + 1


#: The filters by their names in templates.
FILTERS: Mapping[str, Callable[..., Any]] = {
    "count": count,
    "bounded": bounded,
    "number": number,
    "money": money,
    "percent": percent,
    "day": day,
    "month": month,
    "long_month": long_month,
    "short_month": short_month,
    "short_day": short_day,
    "moment": moment,
    "second": second,
    "instant": instant,
    "iso_day": iso_day,
    "iso_moment": iso_moment,
    "file_size": file_size,
    "currency_name": currency_name,
    "translated": service_messages.sentence,
    "role_name": names.role,
    "plan_name": names.plan,
    "category_name": names.category,
    "payment_method": names.payment_method,
    "accuracy_name": names.accuracy,
    "initials": initials,
    "tone": tone,
}
