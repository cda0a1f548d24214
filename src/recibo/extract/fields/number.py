"""Finds the document's own number."""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.fields import unlabelled_numbers
from recibo.extract.fields.number_shapes import NUMBER, found_in, is_number
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, Word
from recibo.extract.text import dates, lexicon
from recibo.extract.text.phrases import Phrase

_NUMBER_KINDS = ("number", "order_number", "weak_number", "other_number")
_KINDS = (*_NUMBER_KINDS, "date", "other_date", "time")
_SIGN = r"(?:no|nr|nro|num|number|nummer|numero|id|n[°ºo]|n(?=\s?[.:°º])|[cč](?=\.))(?![a-z])"
# What stands between a label and its number: "No.", "Nr:", "#", "n°".
_LEAD = re.compile(rf"^\W*(?:{_SIGN}\s?[.:#]*\s*)*[\s:.#*_=\-)]*", re.IGNORECASE)
# A few words may stand between them where a sign says that a number comes: "de venta POS No.".
_LONG_LEAD = re.compile(
    rf"^(?:\s*[^\W\d]{{1,12}}\.?(?=\s)){{1,4}}?\s+(?:{_SIGN}|#)\W*", re.IGNORECASE
)
# What may follow a label whose number stands below it.
_END_OF_LABEL = re.compile(rf"^\W*+(?:{_SIGN}\W*+)*+$", re.IGNORECASE)
_BEHIND_SIGN = re.compile(rf"(?<!\w)(?:{_SIGN}|#)[\s.:#°º]*$", re.IGNORECASE)
_AMONG_DIGITS = re.compile(r"(?<=\d)[Oo](?=\d)")
_PLAIN = re.compile(rf"{_SIGN}|nomor|número", re.IGNORECASE)
_HOUSE = re.compile(r"[\s.:]*\d+[A-Z]?(?:[-/]\d+)?[\s,]+[^\W\d_]{2}", re.IGNORECASE)
_ASKING = re.compile(rf"^[\s\w]*?(?:\b{_SIGN}|#)", re.IGNORECASE)

_CONFIDENCE = {"number": 0.8, "order_number": 0.6, "weak_number": 0.45}
_BY_DEPTH = 0.1
_BELOW = -0.1
# So many values below as many labels are told by their order; fewer by their place.
_FEWEST_COLUMNS = 3
# The number of a card's payment is no document's: its slip shows so many rows around it.
_SLIP_ROWS = 3


def numbers(rows: Sequence[Row]) -> tuple[Extracted[str], ...]:
    """Return the numbers that the document may bear, best first."""
    found = [*_labelled(rows), *unlabelled_numbers.loose(rows)]
    unique: dict[str, Extracted[str]] = {}
    for number in sorted(found, key=lambda number: -number.confidence):
        unique.setdefault(number.value, number)
    return tuple(unique.values())


def _labelled(rows: Sequence[Row]) -> Iterator[Extracted[str]]:
    slips = _slip_rows(rows)
    for row in rows:
        labels = _labels(row.text, _KINDS)
        before = (None, *labels[:-1])
        after = (*labels[1:], None)
        for previous, label, following in zip(before, labels, after, strict=False):
            is_of_slip = row.index in slips and _is_reference(label, row.text)
            is_other = is_of_slip or _is_of_other(previous, label, row.text)
            is_other = is_other or _is_of_house(label, row.text)
            if label.kind in _CONFIDENCE and not is_other:
                end = following.start if following else len(row.text)
                yield from _beside_or_below(label, end, row, rows)


def _labels(text: str, kinds: Sequence[str]) -> list[Phrase]:
    found = lexicon.phrasebook(*kinds).find(text)
    return [label for label in found if not _begins_number(label, text)]


def _slip_rows(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows near those that only a card terminal prints."""
    book = lexicon.phrasebook("card_slip")
    bearing = [row.index for row in rows if book.find(row.text)]
    steps = range(-_SLIP_ROWS, _SLIP_ROWS + 1)
    return frozenset(index + step for index in bearing for step in steps)


def _is_reference(label: Phrase, text: str) -> bool:
    return bool(lexicon.phrasebook("reference").find(text[label.start : label.end]))


def _is_of_other(previous: Phrase | None, label: Phrase, text: str) -> bool:
    """Tell whether a label belongs to the one before, "Tel No"."""
    is_plain = label.kind == "weak_number" or _PLAIN.fullmatch(text[label.start : label.end])
    if previous is None or previous.kind != "other_number" or not is_plain:
        return False
    return not re.search(r"\w", text[previous.end : label.start])


def _is_of_house(label: Phrase, text: str) -> bool:
    """Tell whether a street follows what stands behind a plain "No."."""
    is_plain = _PLAIN.fullmatch(text[label.start : label.end]) is not None
    return is_plain and _HOUSE.match(text[label.end :]) is not None


def _begins_number(label: Phrase, text: str) -> bool:
    """Tell whether what looks like a label is the head of a number, "INV-77"."""
    return re.match(r"[-_/]\w*\d", text[label.end :]) is not None


def _beside_or_below(
    label: Phrase, end: int, row: Row, rows: Sequence[Row]
) -> Iterator[Extracted[str]]:
    number = _read(row.text[label.end : end])
    confidence = _CONFIDENCE[label.kind] - row.depth * _BY_DEPTH
    if number:
        yield found_in(number, confidence, row)
    elif row.index + 1 < len(rows):
        under = rows[row.index + 1]
        may_stand = _may_stand_below(label, row)
        below = _below(row, label, under) if may_stand else _signed_below(row, label, under)
        if below:
            yield found_in(below, confidence + _BELOW, rows[row.index + 1])


def _may_stand_below(label: Phrase, row: Row) -> bool:
    """Tell whether a label asks for a number, which "SALE" above the goods does not."""
    is_named = label.kind != "weak_number" or _ASKING.search(row.text[label.start :]) is not None
    return is_named and not re.search(r"\d", row.text)


def _read(text: str) -> str | None:
    """Return the number at the head of `text`, as printed, if there is one."""
    for lead in (_LEAD.match(text), _LONG_LEAD.match(text)):
        rest = _AMONG_DIGITS.sub("0", text[lead.end() :]) if lead else ""
        match = NUMBER.match(rest)
        if match and is_number(match.group(), rest):
            return match.group()
    return None


def _below(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the number under a label, if one word begins there."""
    if (
        _labels(below.text, _NUMBER_KINDS)
        or below.line.page != row.line.page
        or not _is_over(row, label)
    ):
        return None
    first = NUMBER.match(below.text)
    is_title = _END_OF_LABEL.match(row.text[label.end :]) and label.start == 0
    if first and is_title and is_number(first.group(), below.text):
        return first.group()
    return _in_column(row, label, below) or _overlapping(row, label, below)


def _signed_below(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the number behind a sign under a label beside other figures: "5 High St   INVOICE"."""
    if label.kind != "number" or below.line.page != row.line.page or not _is_over(row, label):
        return None
    number = _overlapping(row, label, below)
    is_signed = number is not None and _BEHIND_SIGN.search(below.text[: below.text.find(number)])
    return number if is_signed else None


def _is_over(row: Row, label: Phrase) -> bool:
    """Tell whether a label ends its column, so that its number may stand below."""
    offset = 0
    for word in row.line.words:
        end = offset + len(word.text)
        if offset < label.end <= end:
            rest = row.text[label.end : end]
            return bool(_END_OF_LABEL.match(rest) or lexicon.phrasebook(*_KINDS).find(rest))
        offset = end + 1
    return True


def _in_column(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the word that has the label's place where a row of labels has one value for each."""
    above, under = _words(row.line.words), _words(below.line.words)
    before = len(row.text[: label.end].split())
    if len(above) != len(under) or len(above) < _FEWEST_COLUMNS:
        return None
    match = NUMBER.fullmatch(under[before - 1])
    return match.group() if match and is_number(match.group(), match.group()) else None


def _words(words: Sequence[Word]) -> list[str]:
    return [part for word in words for part in word.text.split()]


def _overlapping(row: Row, label: Phrase, below: Row) -> str | None:
    label_box = row.box(label.start, label.end)
    days, times = dates.days(below.text), dates.clocks(below.text)
    taken = [(day.start, day.end) for day in days] + [(time.start, time.end) for time in times]
    for match in NUMBER.finditer(below.text):
        box = below.box(match.start(), match.end())
        overlaps = box.x0 < label_box.x1 and box.x1 > label_box.x0
        is_of_date = any(start <= match.start() < end for start, end in taken)
        if overlaps and not is_of_date and is_number(match.group(), below.text[match.start() :]):
            return match.group()
    return None
