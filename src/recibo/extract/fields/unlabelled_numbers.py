"""Finds a document's number where no label names it: beside the time of sale, or the table."""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.fields.number_shapes import found_in, is_number
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import dates, lexicon

# Each is better than nothing, and worse than anything with a label.
_BEHIND_SIGN, _BESIDE_SEATS, _BESIDE_TIME = 0.36, 0.34, 0.32
# A till prints the number of the sale with its zeros; shorter figures are those of a till.
_LONE = re.compile(r"(?<![\w.,:/#*-])\d{4,10}(?![\w:/%*-]|[.,]\d)")
_SIGNED = re.compile(r"(?:^|(?<=[\d\s]))\W*#\s?(\w[\w-]*)")
# "AM", and a sign or two beside it.
_MOST_LETTERS = 4
_LETTER = re.compile(r"[^\W\d_]")


def loose(rows: Sequence[Row]) -> Iterator[Extracted[str]]:
    """Return the numbers that stand without a label where papers print their own."""
    for row in rows:
        yield from _behind_sign(row)
        yield from _beside_seats(row)
        yield from _beside_time(row)


def _behind_sign(row: Row) -> Iterator[Extracted[str]]:
    """Return what stands behind a "#" that no word comes before."""
    for match in _SIGNED.finditer(row.text):
        before = row.text[: match.start()]
        if not _LETTER.search(before) and is_number(match.group(1), match.group(1)):
            yield found_in(match.group(1), _BEHIND_SIGN, row)


def _beside_seats(row: Row) -> Iterator[Extracted[str]]:
    """Return the one long number beside the table or the guests, "0051 Table 22"."""
    seats = lexicon.phrasebook("seating").find(row.text)
    numbers = _lone(row) if seats else []
    others = [
        number
        for number in numbers
        if not any(_is_just_behind(seat.end, number.start(), row.text) for seat in seats)
    ]
    if len(others) == 1:
        yield found_in(others[0].group(), _BESIDE_SEATS, row)


def _is_just_behind(end: int, start: int, text: str) -> bool:
    return end <= start and not re.search(r"\w", text[end:start])


def _beside_time(row: Row) -> Iterator[Extracted[str]]:
    """Return the longest number in a row of nothing but figures with the date and the time."""
    is_stamp = dates.days(row.text) and dates.clocks(row.text)
    if not is_stamp or len(_LETTER.findall(row.text)) > _MOST_LETTERS:
        return
    numbers = sorted((match.group() for match in _lone(row)), key=len, reverse=True)
    if numbers and len(numbers[0]) > len(([*numbers, ""])[1]):
        yield found_in(numbers[0], _BESIDE_TIME, row)


def _lone(row: Row) -> list[re.Match[str]]:
    """Return the long figures of a row that are part of no date."""
    days = dates.days(row.text)
    return [
        match
        for match in _LONE.finditer(row.text)
        if all(match.end() <= day.start or match.start() >= day.end for day in days)
    ]
