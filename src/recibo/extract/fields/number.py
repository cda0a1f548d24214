"""Finds the document's own number."""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.fields import days
from recibo.extract.fields.rows import Row
from recibo.extract.locales import tables
from recibo.extract.locales.phrases import Phrase
from recibo.extract.model import Found

_KINDS = ("number", "weak_number", "other_number", "date", "other_date", "time")
# What stands between a label and its number: "No.", "Nr:", "#", "n°".
_LEAD = re.compile(
    r"^\W*(?:(?:no|nr|nro|num|number|nummer|id|n[°ºo])\b\s?[.:#]*\s*)*[\s:.#*_=\-)]*", re.IGNORECASE
)
_NUMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*(?:[-/.][A-Za-z0-9_]+)*")
_AMONG_DIGITS = re.compile(r"(?<=\d)[Oo](?=\d)")

_CONFIDENCE = {"number": 0.8, "weak_number": 0.4}
_BELOW = -0.15
_SIGN_ALONE = 0.3
_MOST_LENGTH, _MOST_LETTERS = 32, 12
# A single figure after a label is the count of something.
_FEWEST_DIGITS = 2


def numbers(rows: Sequence[Row]) -> tuple[Found[str], ...]:
    """Return the numbers that the document may bear, best first."""
    found = [*_labelled(rows), *_behind_signs(rows)]
    unique: dict[str, Found[str]] = {}
    for number in sorted(found, key=lambda number: -number.confidence):
        unique.setdefault(number.value, number)
    return tuple(unique.values())


def _labelled(rows: Sequence[Row]) -> Iterator[Found[str]]:
    for row in rows:
        found = tables.phrasebook(*_KINDS).find(row.text)
        labels = [label for label in found if not _begins_number(label, row.text)]
        before = (None, *labels[:-1])
        after = (*labels[1:], None)
        for previous, label, following in zip(before, labels, after, strict=False):
            if label.kind in _CONFIDENCE and not _is_of_other(previous, label, row.text):
                end = following.start if following else len(row.text)
                yield from _beside_or_below(label, end, row, rows)


def _is_of_other(previous: Phrase | None, label: Phrase, text: str) -> bool:
    """Tell whether a label belongs to the one before, "Tel No"."""
    if previous is None or previous.kind != "other_number":
        return False
    return not re.search(r"\w", text[previous.end : label.start])


def _begins_number(label: Phrase, text: str) -> bool:
    """Tell whether what looks like a label is the head of a number, "INV-77"."""
    return re.match(r"[-_/]\w", text[label.end :]) is not None


def _beside_or_below(
    label: Phrase, end: int, row: Row, rows: Sequence[Row]
) -> Iterator[Found[str]]:
    number = _read(row.text[label.end : end])
    confidence = _CONFIDENCE[label.kind] - row.depth * 0.1
    if number:
        yield _found(number, confidence, row)
    elif not re.search(r"\d", row.text) and row.index + 1 < len(rows):
        below = _below(row, label, rows[row.index + 1])
        if below:
            yield _found(below, confidence + _BELOW, rows[row.index + 1])


def _read(text: str) -> str | None:
    """Return the number at the head of `text`, as printed, if there is one."""
    lead = _LEAD.match(text)
    rest = _AMONG_DIGITS.sub("0", text[lead.end() :] if lead else text)
    match = _NUMBER.match(rest)
    if match is None or not _is_number(match.group(), rest):
        return None
    return match.group()


def _below(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the number under a label, if one word begins there."""
    label_box = row.box(label.start, label.end)
    if below.line.page != row.line.page:
        return None
    first = _NUMBER.match(below.text)
    is_title = label.start == 0 and label.end == len(row.text)
    if first and is_title and _is_number(first.group(), below.text):
        return first.group()
    dates = days.days(below.text)
    for match in _NUMBER.finditer(below.text):
        box = below.box(match.start(), match.end())
        overlaps = box.x0 < label_box.x1 and box.x1 > label_box.x0
        is_of_date = any(day.start <= match.start() < day.end for day in dates)
        if overlaps and not is_of_date and _is_number(match.group(), below.text[match.start() :]):
            return match.group()
    return None


def _behind_signs(rows: Sequence[Row]) -> Iterator[Found[str]]:
    for row in rows:
        match = re.match(r"^\W*#\s?([A-Za-z0-9][\w-]*)", row.text)
        if match and _is_number(match.group(1), match.group(1)):
            yield _found(match.group(1), _SIGN_ALONE, row)


def _is_number(text: str, rest: str) -> bool:
    """Tell whether `text`, at the head of `rest`, is a number and no date, time or amount."""
    signs = re.sub(r"\W", "", text)
    digits = sum(character.isdigit() for character in signs)
    if digits < _FEWEST_DIGITS or len(text) > _MOST_LENGTH or len(signs) - digits > _MOST_LETTERS:
        return False
    is_day = any(day.start == 0 for day in days.days(rest[:20]))
    is_clock = any(clock.start == 0 for clock in days.clocks(rest[:12]))
    is_money = re.match(r"\d+[.,]\d{2}(?!\d)", rest) is not None
    return not (is_day or is_clock or is_money or rest[len(text) :].lstrip().startswith("%"))


def _found(number: str, confidence: float, row: Row) -> Found[str]:
    start = row.text.find(number)
    box = row.box(start, start + len(number)) if start >= 0 else row.line.box
    return Found(number, confidence, row.text, row.line.page, box)
