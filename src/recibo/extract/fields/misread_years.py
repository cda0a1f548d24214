"""Corrects a misread year by the taxes named on the document, which were introduced later."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from functools import cache

from recibo.extract.layout.rows import Row
from recibo.extract.text import tables
from recibo.extract.text.folding import fold
from recibo.extract.text.misread_dates import LOOKALIKES
from recibo.extract.text.tables import Country

# No document is from a later year.
_LAST_YEAR = 2059


def earliest(rows: Sequence[Row], country: Country | None) -> dt.date:
    """Return the earliest plausible issue date for the taxes named on the document."""
    known = tables.taxes().get(country.code, {}) if country else {}
    text = fold("\n".join(row.text for row in rows)) if known else ""
    since = [first for name, first in known.items() if _word(name).search(text)]
    return max(since, default=dt.date.min)


def corrected(date: dt.date, earliest_day: dt.date) -> dt.date:
    """Return a date that is too early with its misread digit corrected.

    A date does not change if it is not too early, or if several corrections are possible.
    """
    if date >= earliest_day:
        return date
    possible = {other for other in _misread(date) if other >= earliest_day}
    return possible.pop() if len(possible) == 1 else date


def _misread(date: dt.date) -> Iterator[dt.date]:
    year = str(date.year)
    for place, figure in enumerate(year):
        for other in LOOKALIKES.get(figure, ""):
            changed = int(year[:place] + other + year[place + 1 :])
            if changed <= _LAST_YEAR and not _is_invalid(date, changed):
                yield date.replace(year=changed)


def _is_invalid(date: dt.date, year: int) -> bool:
    is_leap_day = (date.month, date.day) == (2, 29)
    return is_leap_day and year % 4 != 0


@cache
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z]){re.escape(name)}(?![a-z])")
