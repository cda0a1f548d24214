"""Amounts are moved to their labels only where several rows show that they are one row off."""

import pytest

from recibo.extract.layout.alignment import Levelled, aligned
from recibo.extract.model import Box, Word


def _row(*heights: tuple[str, float]) -> list[Levelled]:
    """Return a row: labels are at the left, notes at the right."""
    return [
        (height, Word(text, Box(x, height - 10, x + 80, height + 10), 1.0))
        for text, height in heights
        for x in (20.0 if text.startswith("L") else 540.0,)
    ]


def _texts(rows: list[list[Levelled]]) -> list[str]:
    return [" ".join(word.text for _, word in row) for row in rows]


ABOVE = _row(("L0", 0), ("N0", 9))
ONE_ROW = [_row(("L1", 22)), _row(("L2", 44), ("N1", 36)), _row(("N2", 55))]
TWO_ROWS = [
    *ONE_ROW[:2],
    _row(("L3", 66), ("N2", 58)),
    _row(("N3", 77)),
]


def test_notes_that_are_one_row_off_are_moved() -> None:
    assert _texts(aligned([ABOVE, *TWO_ROWS])) == ["L0 N0", "L1 N1", "L2 N2", "L3 N3"]


@pytest.mark.parametrize("rows", [[ABOVE, *ONE_ROW], TWO_ROWS[1:], [ABOVE, *TWO_ROWS[:-1]]])
def test_other_rows_stay(rows: list[list[Levelled]]) -> None:
    """A single row: the lines of two boxes of a form; and rows without one alone at an end."""
    assert _texts(aligned(rows)) == _texts(rows)
