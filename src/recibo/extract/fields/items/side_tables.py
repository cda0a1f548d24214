"""Cuts off the tables next to the items, as on Brazilian bills for energy.

The headings of the first one, `Tributo  Base  %  Valor`, look like those of items, and its rows are
at the height of theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recibo.extract.model import Line, TextPage, around
from recibo.extract.text import lexicon, numbers

#: The gap left of the table, in heights, and the most lines below its headings.
_GAP, _MOST_LINES = 1.5, 60
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
    """Return the place below the last line with separate text right of an edge.

    Below the taxes are other tables, such as that of the consumption of past months.
    """
    texts = (
        " ".join(word.text for word in line.words if word.box.x0 >= left)
        for line in lines[start + 1 : start + 1 + _MOST_LINES]
    )
    if not _is_row(next(filter(None, texts), "")):
        return start + 1
    end = start + 1
    while end < min(start + 1 + _MOST_LINES, len(lines)) and _is_parted(lines[end], left):
        end += 1
    return end


def _is_parted(line: Line, left: float) -> bool:
    """Return whether a line has a wide gap at an edge, or words on one side of it only."""
    before = [word for word in line.words if word.box.x0 < left]
    after = line.words[len(before) :]
    if not before or not after or _is_row(" ".join(word.text for word in after)):
        return True
    return after[0].box.x0 - before[-1].box.x1 >= _GAP * after[0].box.height


def _is_row(text: str) -> bool:
    """Return whether a text is the short name of a tax with its figures: `ICMS 206,31 18 37,14`."""
    figures = sum(1 for _ in numbers.every(text))
    return 0 < sum(map(str.isalpha, text)) <= _MOST_LETTERS and figures >= _FEWEST_FIGURES


def _cut(lines: Sequence[Line], table: _Table) -> Iterator[Line]:
    for place, line in enumerate(lines):
        cut = _before(line, table.left) if place in table.lines else line
        if cut is not None:
            yield cut


def _before(line: Line, edge: float) -> Line | None:
    words = tuple(word for word in line.words if word.box.x0 < edge)
    if len(words) == len(line.words):
        return line
    return replace(line, words=words, box=around([word.box for word in words])) if words else None
