"""Finds a document's number where no label names it: near the time of sale, or the table."""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.fields.number_shapes import NUMBER, NumberCandidate, has_word, is_number
from recibo.extract.layout.rows import Row
from recibo.extract.text import dates, lexicon

# A till prints the number of the sale with its zeros; shorter figures are those of a till.
_LONE = re.compile(r"(?<![\w.,:/#*-])\d{4,10}(?![\w:/%*-]|[.,]\d)")
_SIGNED = re.compile(r"(?:^|(?<=[\d\s]))\W*#\s?(\w[\w-]*)")
# Next to a time of day it may have separators.
_TOKEN = re.compile(rf"(?<![\w.,:/*-]){NUMBER.pattern}(?![\w:/%*-]|[.,]\d)")
_FEWEST_DIGITS = 4
_LETTER = re.compile(r"[^\W\d_]")
_MANY_LETTERS = 12


def loose(rows: Sequence[Row]) -> Iterator[NumberCandidate]:
    """Return the numbers without a label, where documents print their own."""
    for row in rows:
        yield from _behind_sign(row, rows)
        yield from _near_seats(row)
        yield from _near_time(row)


def _behind_sign(row: Row, rows: Sequence[Row]) -> Iterator[NumberCandidate]:
    """Return what follows a "#" that no word comes before."""
    above = rows[row.index - 1].text if row.index else ""
    is_titled = bool(lexicon.phrasebook("number").find(above)) and "#" not in above
    for match in _SIGNED.finditer(row.text):
        before = row.text[: match.start()]
        if not has_word(before) and is_number(match.group(1), match.group(1)):
            features = {
                "loose": 1,
                "sign": 1,
                "sign_behind_code": _LETTER.search(before) is not None,
                "sign_below_title": is_titled,
            }
            yield NumberCandidate(match.group(1), row, features)


def _near_seats(row: Row) -> Iterator[NumberCandidate]:
    """Return the one long number near the table or the guests, "0051 Table 22"."""
    seats = lexicon.phrasebook("seating").find(row.text)
    numbers = _free(row, _LONE) if seats else []
    labels = (*seats, *lexicon.phrasebook("other_number").find(row.text))
    others = [
        number
        for number in numbers
        if not any(_is_just_behind(label.end, number.start(), row.text) for label in labels)
    ]
    if len(others) == 1:
        yield NumberCandidate(others[0].group(), row, {"loose": 1, "seats": 1})


def _is_just_behind(end: int, start: int, text: str) -> bool:
    return end <= start and not re.search(r"\w", text[end:start])


def _near_time(row: Row) -> Iterator[NumberCandidate]:
    """Return the numbers in a row with a date or a time of day."""
    stamps = (bool(dates.days(row.text)), bool(dates.clocks(row.text)))
    if not any(stamps):
        return
    labels = lexicon.phrasebook("other_number", "number", "order_number").find(row.text)
    free = [
        match
        for match in _free(row, _TOKEN)
        if is_number(match.group(), row.text[match.start() :])
        and sum(map(str.isdigit, match.group())) >= _FEWEST_DIGITS
        and not any(_is_just_behind(label.end, match.start(), row.text) for label in labels)
    ]
    lengths = sorted((len(match.group()) for match in free), reverse=True)
    letters = min(len(_LETTER.findall(row.text)), _MANY_LETTERS) / _MANY_LETTERS
    is_clear = lengths[:1] != lengths[1:2]
    for match in free if is_clear else ():
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


def _free(row: Row, shape: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the figures of a row that are part of no date and no time."""
    taken = [(day.start, day.end) for day in dates.days(row.text)]
    taken += [(clock.start, clock.end) for clock in dates.clocks(row.text)]
    return [
        match
        for match in shape.finditer(row.text)
        if all(match.end() <= start or match.start() >= end for start, end in taken)
    ]
