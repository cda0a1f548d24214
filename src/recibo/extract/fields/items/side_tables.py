"""Cuts off a table of taxes next to the items, as on Brazilian bills for energy.

Its headings, such as `Tributo  Base  %  Valor`, look like those of items, and its rows are at the
height of theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recibo.extract.model import Line, TextPage, around
from recibo.extract.text import lexicon, numbers

#: The gap left of the table, in heights, and the most lines below its headings.
_GAP, _MOST_LINES = 1.5, 12
#: A row has a name of so many letters, and a base, a rate and an amount.
_MOST_LETTERS, _FEWEST_FIGURES = 16, 3
#: So many lines are examined for headings.
_MOST_EXAMINED = 200


@dataclass(frozen=True, slots=True)
class _Table:
    """The place of a table: its left edge, and the lines from its headings to its last row."""

    left: float
    lines: range


def without_taxes(text_pages: Sequence[TextPage]) -> list[TextPage]:
    """Return pages without the words of such tables, at most one on each."""
    return [_without(page) for page in text_pages]


def _without(page: TextPage) -> TextPage:
    lefts = enumerate(map(_left_of_headings, page.lines[:_MOST_EXAMINED]))
    tables = (
        _Table(left, range(place, _end(page.lines, place, left)))
        for place, left in lefts
        if left is not None
    )
    table = next((one for one in tables if len(one.lines) > 1), None)
    return page if table is None else replace(page, lines=tuple(_cut(page.lines, table)))


def _left_of_headings(line: Line) -> float | None:
    """Return the left edge of the headings of taxes in a line, right of others."""
    for before, word in zip(line.words, line.words[1:], strict=False):
        if word.box.x0 - before.box.x1 < _GAP * word.box.height:
            continue
        text = " ".join(other.text for other in line.words if other.box.x0 >= word.box.x0)
        headings = lexicon.wordbook("tax_column").find(text)
        is_first = bool(headings) and headings[0].start == 0
        if is_first and lexicon.wordbook("taxable").find(text[headings[0].end :]):
            return word.box.x0 - word.box.height
    return None


def _end(lines: Sequence[Line], start: int, left: float) -> int:
    """Return the place below the last row of the table."""
    end = start + 1
    for place in range(start + 1, min(start + 1 + _MOST_LINES, len(lines))):
        text = " ".join(word.text for word in lines[place].words if word.box.x0 >= left)
        is_row = _is_row(text)
        if text and not is_row:
            break
        end = place + 1 if is_row else end
    return end


def _is_row(text: str) -> bool:
    """Return whether a text is the short name of a tax with its figures: `ICMS 206,31 18 37,14`."""
    figures = sum(1 for _ in numbers.every(text))
    return 0 < sum(map(str.isalpha, text)) <= _MOST_LETTERS and figures >= _FEWEST_FIGURES


def _cut(lines: Sequence[Line], table: _Table) -> Iterator[Line]:
    for place, line in enumerate(lines):
        words = tuple(word for word in line.words if word.box.x0 < table.left)
        if place not in table.lines or len(words) == len(line.words):
            yield line
        elif words:
            yield replace(line, words=words, box=around([word.box for word in words]))
