"""Finds numbers without a label at the usual places of document numbers."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from recibo.extract.fields.number_candidate import NUMBER, NumberCandidate, has_word, is_number
from recibo.extract.layout.rows import Row
from recibo.extract.text import dates, lexicon

# Tills print the number of a sale with leading zeros; shorter numbers are of the till.
_LONE = re.compile(r"(?<![\w.,:/#*-])\d{4,10}(?![\w:/%*-]|[.,]\d)")
_SIGNED = re.compile(r"(?:^|(?<=[\d\s]))\W*#\s?(\w[\w-]*)")
# Next to a time of day it may have separators.
_TOKEN = re.compile(rf"(?<![\w.,:/*-]){NUMBER.pattern}(?![\w:/%*-]|[.,]\d)")
# In a row with an address other numbers are those of houses: `Sao Paulo - SP, 01310-100`.
_POSTCODE = re.compile(r"(?<!\d)\d{5}-\d{3}(?!\d)")
_FEWEST_UNLABELLED = 4
_LETTER = re.compile(r"[^\W\d_]")
_MANY_LETTERS = 12
# The gap between columns, in line heights.
_WIDE = 0.9


def find(rows: Sequence[Row]) -> Iterator[NumberCandidate]:
    """Return the numbers without a label at the usual places of document numbers."""
    for row in rows:
        yield from _after_sign(row, rows)
        yield from _near_seats(row)
        yield from _near_time(row)


def _after_sign(row: Row, rows: Sequence[Row]) -> Iterator[NumberCandidate]:
    """Return the number after a "#" without a word before it."""
    above = rows[row.index - 1].text if row.index else ""
    is_titled = bool(lexicon.phrasebook("number").find(above)) and "#" not in above
    for match in _SIGNED.finditer(row.text):
        before = row.text[: match.start()]
        is_apart = has_word(before) and _begins_cell(row, match.start(1))
        if not is_number(match.group(1), match.group(1)):
            continue
        if not has_word(before) or is_apart:
            features = {
                "loose": 1,
                "sign": 1,
                "sign_behind_code": _LETTER.search(before) is not None,
                "sign_below_title": is_titled,
            }
            yield NumberCandidate(match.group(1), row, features)


def _begins_cell(row: Row, start: int) -> bool:
    """Return whether a wide gap is before the word at a position: `Guests: 3     #20031`."""
    offset = 0
    for before, word in pairwise(row.line.words):
        offset += len(before.text) + 1
        if offset <= start < offset + len(word.text):
            return word.box.x0 - before.box.x1 > _WIDE * row.line.box.height
    return False


def _near_seats(row: Row) -> Iterator[NumberCandidate]:
    """Return the single long number near the table or the guests, "0051 Table 22"."""
    seats = lexicon.phrasebook("seating").find(row.text)
    numbers = _outside_dates(row, _LONE) if seats else []
    labels = (*seats, *lexicon.phrasebook("other_number").find(row.text))
    others = [
        number
        for number in numbers
        if not any(_is_just_after(label.end, number.start(), row.text) for label in labels)
    ]
    if len(others) == 1:
        yield NumberCandidate(others[0].group(), row, {"loose": 1, "seats": 1})


def _is_just_after(end: int, start: int, text: str) -> bool:
    return end <= start and not re.search(r"\w", text[end:start])


def _near_time(row: Row) -> Iterator[NumberCandidate]:
    """Return the numbers in a row with a date or a time of day."""
    stamps = (bool(dates.days(row.text)), bool(dates.times(row.text)))
    if not any(stamps):
        return
    labels = lexicon.phrasebook("other_number", "number", "order_number").find(row.text)
    free = [
        match
        for match in _outside_dates(row, _TOKEN)
        if is_number(match.group(), row.text[match.start() :])
        and sum(map(str.isdigit, match.group())) >= _FEWEST_UNLABELLED
        and not any(_is_just_after(label.end, match.start(), row.text) for label in labels)
    ]
    lengths = sorted((len(match.group()) for match in free), reverse=True)
    letters = min(len(_LETTER.findall(row.text)), _MANY_LETTERS) / _MANY_LETTERS
    is_clear = lengths[:1] != lengths[1:2]
    for match in free if is_clear and not _POSTCODE.search(row.text) else ():
        features = {
            "loose": 1,
            "stamp": 1,
            "stamp_whole": all(stamps),
            "stamp_letters": letters,
            "stamp_longest": len(match.group()) == lengths[0],
            "stamp_others": len(free) - 1,
            "stamp_first": not re.search(r"\w", row.text[: match.start()]),
        }
        yield NumberCandidate(match.group(), row, features)


def _outside_dates(row: Row, shape: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the numbers of a row that are not part of a date or time."""
    used = [(day.start, day.end) for day in dates.days(row.text)]
    used += [(clock.start, clock.end) for clock in dates.times(row.text)]
    return [
        match
        for match in shape.finditer(row.text)
        if all(match.end() <= start or match.start() >= end for start, end in used)
    ]
