"""Splits rows at wide gaps, and finds the heading above an amount."""

from itertools import pairwise

from recibo.extract.layout.rows import Row, money_labels
from recibo.extract.model import Box, Word, around
from recibo.extract.text.numbers import Amount

# A gap wider than this many line heights separates two cells.
_GAP = 1.2


def heading_kinds(amount: Amount, row: Row, above: Row) -> tuple[str, ...]:
    """Return the kinds of the labels in `above` that are nearest to an amount of `row`.

    Headings and amounts are left-aligned, right-aligned or centered: the nearest edge counts.
    """
    box = row.box(amount.start, amount.end)
    headings = _headings(above)
    return min(headings, key=lambda heading: _distance(heading[0], box))[1] if headings else ()


def cells(row: Row) -> list[str]:
    """Return the texts of the cells of a row."""
    return [_text(cell) for cell in _cells(row)]


def _cells(row: Row) -> list[tuple[Word, ...]]:
    words = row.line.words
    ends = [
        index
        for index, (left, right) in enumerate(pairwise(words), start=1)
        if right.box.x0 - left.box.x1 > _GAP * right.box.height
    ]
    return [words[start:end] for start, end in pairwise([0, *ends, len(words)])]


def _headings(above: Row) -> list[tuple[Box, tuple[str, ...]]]:
    """Return the boxes and kinds of the cells that contain labels."""
    headings = ((around([word.box for word in cell]), _kinds(cell)) for cell in _cells(above))
    return [heading for heading in headings if heading[1]]


def _kinds(cell: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(label.kind for label in money_labels(_text(cell)))


def _text(cell: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in cell)


def _distance(heading: Box, amount: Box) -> float:
    return min(
        abs(heading.x0 - amount.x0),
        abs(heading.x1 - amount.x1),
        abs(heading.x_center - amount.x_center),
    )
