"""Finds dates and times as in Brazilian fiscal documents: day first, 24 hours."""

import datetime as dt
import re
from collections.abc import Iterator
from functools import cache
from zoneinfo import ZoneInfo

from recibo.extract.model import Moment
from recibo.extract.text import tables

_D = "[0-9OoIl|]"
# OCR may drop the space between date and time.
_STAMP = re.compile(
    # OCR may read the slash as 7 or 1; then the century follows, and after two of them the time.
    rf"(?<![0-9/.-])(?P<day>{_D}{{2}})(?:\s?[/.-]\s?|[71](?=[01][0-9][71]20[0-9]{{2}}\s?[0-9]{{2}}:))"
    rf"(?P<month>{_D}{{2}})(?:\s?[/.-]\s?|[71](?=20))"
    rf"(?P<year>2{_D}{{3}}|{_D}{{2}}(?!{_D}))"
    rf"(?:[\s,T-]{{0,4}}(?:[àaÀA]?s\s|[hH]ora[:.]?\s?)?[\s-]{{0,3}}"
    rf"(?P<time>{_D}{{2}}\s?[:.hH]\s?{_D}{{2}}(?:\s?[:.m]\s?{_D}{{2}})?))?"
)
_ISO = re.compile(
    r"(?<![0-9])(?P<year>20[0-9]{2})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[T\s](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?))?"
)
_CLOCK = re.compile(rf"(?<![0-9:]){_D}{{2}}\s?[:.hH]\s?{_D}{{2}}(?:\s?[:.m]\s?{_D}{{2}})?(?![0-9])")
_DIGITS = str.maketrans("OoIl|", "00111")
#: The century of years with two digits, which fiscal printers print.
_CENTURY = 2000
#: A later year is misread: 2619.
_LAST_YEAR = 2099


def every(text: str) -> Iterator[Moment]:
    """Yield the dates in a text with their times, from left to right, without offsets."""
    for match in (*_ISO.finditer(text), *_STAMP.finditer(text)):
        date = _date(match)
        if date:
            yield Moment(date, time_of_day(match["time"] or ""))


def first(text: str) -> Moment | None:
    """Return the first date in a text."""
    return next(every(text), None)


def time_of_day(text: str) -> dt.time | None:
    """Return the first time of day in a text."""
    match = _CLOCK.search(text)
    if match is None:
        return None
    parts = [int(part) for part in re.findall("[0-9]{2}", match[0].translate(_DIGITS))]
    hour, minute, second = (*parts, 0)[:3]
    try:
        return dt.time(hour, minute, second)
    except ValueError:
        return None


def _date(match: re.Match[str]) -> dt.date | None:
    day, month, year = (int(match[part].translate(_DIGITS)) for part in ("day", "month", "year"))
    if year > _LAST_YEAR:
        return None
    try:
        return dt.date(year if year >= _CENTURY else year + _CENTURY, month, day)
    except ValueError:
        return None


@cache
def zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name."""
    return ZoneInfo(name)


def load() -> None:
    """Load all time zones of the tables."""
    for country in tables.countries().values():
        if country.zone:
            zone(country.zone)
    for by_state in tables.regions().values():
        for name in by_state.values():
            zone(name)
    for by_zone in tables.cities().values():
        for name in by_zone:
            zone(name)
