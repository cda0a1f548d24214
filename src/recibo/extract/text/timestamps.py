"""Dates and times as Brazilian fiscal papers print them: day first, hours of 24."""

import datetime as dt
import re
from collections.abc import Iterator

from recibo.extract.model import Moment

_D = "[0-9OoIl|]"
# The date may run into the time: readers lose the blank between them.
_STAMP = re.compile(
    # A slash comes back as 7 or 1 now and then; the century behind it settles that.
    rf"(?<![0-9/.-])(?P<day>{_D}{{2}})\s?[/.-]\s?(?P<month>{_D}{{2}})(?:\s?[/.-]\s?|[71](?=20))"
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
#: Two-digit years stand on fiscal printers, which were in use from 1994 on.
_CENTURY = 2000
#: A later year was misread: 2619.
_LAST_YEAR = 2099


def every(text: str) -> Iterator[Moment]:
    """Return the dates in a text with their times, from left to right, without offsets."""
    for match in (*_ISO.finditer(text), *_STAMP.finditer(text)):
        date = _date(match)
        if date:
            yield Moment(date, clock(match["time"] or ""))


def first(text: str) -> Moment | None:
    """Return the first date in a text."""
    return next(every(text), None)


def clock(text: str) -> dt.time | None:
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
