"""Parts a row at its wide gaps, and tells which heading names an amount in the row below."""

from itertools import pairwise

from recibo.extract.layout.rows import Row, money_labels
from recibo.extract.model import Box, Word, around
from recibo.extract.text.numbers import Amount

# A wider gap than this many line heights parts two cells.
_GAP = 1.2


def kinds_over(amount: Amount, row: Row, above: Row) -> tuple[str, ...]:
    """Return the kinds of the labels that stand nearest over an amount of `row`, in `above`.

    Headings and amounts are set flush left, flush right or centred: the nearest edge counts.
    """
    box = row.box(amount.start, amount.end)
    headings = _headings(above)
    return min(headings, key=lambda heading: _apart(heading[0], box))[1] if headings else ()


def cells(row: Row) -> list[str]:
    """Return the texts of a row that stand apart."""
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
    """Return the places of the headings that are labels, and these; labels end at wide gaps."""
    headings = ((around([word.box for word in cell]), _kinds(cell)) for cell in _cells(above))
    return [heading for heading in headings if heading[1]]


def _kinds(cell: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(label.kind for label in money_labels(_text(cell)))


def _text(cell: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in cell)


def _apart(heading: Box, amount: Box) -> float:
    return min(
        abs(heading.x0 - amount.x0),
        abs(heading.x1 - amount.x1),
        abs(heading.x_centre - amount.x_centre),
    )
