"""Converts years of the Buddhist and Japanese calendars to the Gregorian calendar."""

import re

# Thailand counts years from the Buddha's death; no other country prints such years.
_BUDDHIST = 543
_FIRST_BUDDHIST, _LAST_BUDDHIST = 2533, 2602
# The Gregorian year before each era's first one.
_BEFORE = {"令和": 2018, "r": 2018, "平成": 1988, "h": 1988}
_FIRST_YEAR_OF_ERA = "元"

_JAPANESE = re.compile(
    r"(?:(令和|平成)\s?|(?<![a-z\d])([rh])\s?)(\d{1,2}|元)\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})"
)


def common_year(year: int) -> int:
    """Return the Gregorian year of a Gregorian or Buddhist one."""
    return year - _BUDDHIST if _FIRST_BUDDHIST <= year <= _LAST_BUDDHIST else year


def japanese(text: str) -> list[tuple[str, str, str, int, int]]:
    """Return the dates with an era in folded `text`: year, month, day, start and end."""
    found = []
    for match in _JAPANESE.finditer(text):
        kanji, letter, printed, month, day = match.groups()
        count = 1 if printed == _FIRST_YEAR_OF_ERA else int(printed)
        year = _BEFORE[kanji or letter] + count
        found.append((str(year), month, day, match.start(), match.end()))
    return found
