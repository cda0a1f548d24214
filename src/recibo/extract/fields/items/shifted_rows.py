"""Joins the halves of a DANFE's item rows that are in different lines on a curved page.

Left are codes and names, right the numbers from the NCM code on. On a page that is bowed or folded
the left half of a row may be in the line of the next numbers. If there are as many codes as rows of
numbers, they belong together in their order.
"""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recibo.extract.model import Line, TextPage, Word, around

# The code of a product's class, with or without the next columns: `25232910 000`.
_NCM = re.compile(r"[0-9]{8}(?:\s|$)")
# An article code: digits, perhaps with letters before them, or joined to the name.
_CODE = re.compile(r"[A-Z]{0,3}-?[0-9]{2}")
#: The fewest rows of a table, and the most lines of one row between its halves.
_FEWEST, _FARTHEST = 2, 3
#: The fewest numbers of a row whose NCM code is misread.
_FEWEST_NUMBERS = 5
#: Codes begin at most this many heights right of the leftmost one.
_EDGE = 3.0


@dataclass(frozen=True, slots=True)
class _Halves:
    """The words of a line left and right of the place at which the numbers begin."""

    left: tuple[Word, ...]
    right: tuple[Word, ...]

    @property
    def has_class(self) -> bool:
        """Whether the right half contains the class of a product."""
        return any(_NCM.match(word.text) for word in self.right)

    @property
    def has_numbers(self) -> bool:
        """Whether the right half contains the numbers of an item."""
        numbers = sum(any(map(str.isdigit, word.text)) for word in self.right)
        return self.has_class or numbers >= _FEWEST_NUMBERS

    def has_code(self, edge: float) -> bool:
        """Return whether the left half begins with an article code."""
        first = self.left[0] if self.left else None
        return first is not None and first.box.x0 < edge and _CODE.match(first.text) is not None


def aligned(text_pages: Sequence[TextPage]) -> list[TextPage]:
    """Return pages whose item rows have their codes; text layers are as they are."""
    return [
        text_page if text_page.is_exact else replace(text_page, lines=tuple(_lines(text_page)))
        for text_page in text_pages
    ]


def _lines(text_page: TextPage) -> Sequence[Line]:
    lines = text_page.lines
    classes = [word for line in lines for word in line.words if _NCM.match(word.text)]
    if len(classes) < _FEWEST:
        return lines
    height = statistics.median(word.box.height for word in classes)
    split = statistics.median(word.box.x0 for word in classes) - height
    halves = [_halves(line, split) for line in lines]
    classed = [index for index, half in enumerate(halves) if half.has_class]
    first, last = max(0, classed[0] - 1), classed[-1] + 2
    edges = [half.left[0].box.x0 for half in halves[first:last] if half.left]
    edge = min(edges, default=0.0) + _EDGE * height
    numbered = [index for index in range(classed[0], last) if _has_numbers(halves, index)]
    coded = [index for index in range(classed[0], last) if _has_code(halves, index, edge)]
    pairs = list(zip(coded, numbered, strict=False))
    is_shifted = bool(pairs) and len(coded) == len(numbered) and coded != numbered
    if not is_shifted or any(abs(left - right) > _FARTHEST for left, right in pairs):
        return lines
    end = max(coded[-1], numbered[-1]) + 1
    return [*lines[:first], *_rows(lines[first:end], halves[first:end], pairs, first), *lines[end:]]


def _has_numbers(halves: Sequence[_Halves], index: int) -> bool:
    return index < len(halves) and halves[index].has_numbers


def _has_code(halves: Sequence[_Halves], index: int, edge: float) -> bool:
    return index < len(halves) and halves[index].has_code(edge)


def _halves(line: Line, split: float) -> _Halves:
    return _Halves(
        tuple(word for word in line.words if word.box.x_center < split),
        tuple(word for word in line.words if word.box.x_center >= split),
    )


def _rows(
    lines: Sequence[Line], halves: Sequence[_Halves], pairs: Sequence[tuple[int, int]], first: int
) -> Iterator[Line]:
    """Yield the rows of a table: its headings, then each item and the rest of its name."""
    number_of = {left - first: right - first for left, right in pairs}
    numbered = set(number_of.values())
    top = min(number_of)
    others = [index for index in range(top) if index not in numbered]
    # Left of the first numbers is the left half of the headings, right of it is a row higher.
    heading = halves[pairs[0][1] - first].left if pairs[0][1] - first < top else ()
    for index in others:
        is_last = bool(heading) and index == others[-1]
        if is_last and halves[index].right:
            yield from _line((halves[index].left,), lines[index])
            yield from _line((heading, halves[index].right), lines[index])
        else:
            yield lines[index]
    for index in range(top, len(lines)):
        if index in number_of:
            yield from _line((halves[index].left, halves[number_of[index]].right), lines[index])
        elif halves[index].left or index not in numbered:
            rest = () if index in numbered else halves[index].right
            yield from _line((halves[index].left, rest), lines[index])


def _line(parts: Sequence[tuple[Word, ...]], line: Line) -> Iterator[Line]:
    words = tuple(sorted((word for part in parts for word in part), key=lambda word: word.box.x0))
    if words:
        yield replace(line, words=words, box=around([word.box for word in words]))
