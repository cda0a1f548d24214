"""Labels above their values, in columns: the rows right below or above a text, and its labels."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from recibo.extract.layout.rows import Row
from recibo.extract.model import Box
from recibo.extract.text.phrases import Phrase, Phrasebook

# The rows that lines of other columns may put between a label and its value.
_MOST_ROWS = 3
# A value is at most this many label heights from its label.
_MOST_GAP = 3.0
# Words further apart than this many heights belong to different columns.
_COLUMN_GAP = 1.8
_SIGN = re.compile(r"\w")


def phrases(book: Phrasebook, row: Row) -> tuple[Phrase, ...]:
    """Return the phrases in a row; `Invoice #   Date` has no `invoice date`."""
    found = book.find(row.text)
    breaks = [end for start, end in gaps(row) if any(one.start < end < one.end for one in found)]
    if not breaks:
        return found
    edges = [0, *breaks, len(row.text)]
    return tuple(
        Phrase(one.kind, start + one.start, start + one.end)
        for start, end in pairwise(edges)
        for one in book.find(row.text[start:end])
    )


def gaps(row: Row) -> Iterator[tuple[int, int]]:
    """Yield the ends of columns in a row, and the places at which the next ones begin."""
    placed = zip(row.places, row.line.words, strict=True)
    for (start, word), (following, right) in pairwise(placed):
        gap = right.box.x0 - word.box.x1
        if gap > _COLUMN_GAP * min(word.box.height, right.box.height):
            yield start + len(word.text), following


def cell_from(row: Row, start: int) -> str:
    """Return a row's text from a position to the end of the cell of its next letter or digit."""
    sign = _SIGN.search(row.text, start)
    first = sign.start() if sign else start
    return row.text[start : min((end for end, _ in gaps(row) if end > first), default=None)]


def columns_before(row: Row, position: int) -> int:
    """Return how many columns of a row end before a position."""
    return sum(end <= position for end, _ in gaps(row))


def rows_below(rows: Sequence[Row], row: Row, box: Box) -> Iterator[Row]:
    """Yield the next row, then more up to the first one with a word below the box."""
    yield from _until_overlapping(rows[row.index + 1 : row.index + 1 + _MOST_ROWS], row, box)


def rows_above(rows: Sequence[Row], row: Row, box: Box) -> Iterator[Row]:
    """Yield the row before, then more up to the first one with a word above the box."""
    before = rows[max(0, row.index - _MOST_ROWS) : row.index]
    yield from _until_overlapping(reversed(before), row, box)


def _until_overlapping(others: Iterable[Row], row: Row, box: Box) -> Iterator[Row]:
    for step, other in enumerate(others):
        gap = max(other.line.box.y0 - box.y1, box.y0 - other.line.box.y1)
        if other.line.page != row.line.page or (step and gap > _MOST_GAP * box.height):
            return
        yield other
        if any(word.box.x0 < box.x1 and box.x0 < word.box.x1 for word in other.line.words):
            return
