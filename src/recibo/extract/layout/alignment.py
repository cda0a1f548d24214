"""Finds the amounts that are one row off on a curled page, and moves them to their names.

Between names and amounts there is often a wide gap, in which nothing shows the slope. What it is
off adds up down the page, until the amounts join the row above or below. Then an amount is alone in
its row where this begins, and a name where it ends, or the other way around.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean

from recibo.extract.model import Word

#: A word with the height of its row at the middle of the page, pixels.
Levelled = tuple[float, Word]
#: The words of a row left and right of a gap.
_Parts = tuple[Sequence[Levelled], Sequence[Levelled]]

#: The fewest and the most rows with both parts that are moved together. A single one shows nothing:
#: boxes of a form that are next to each other have lines at different heights.
_FEWEST_ROWS, _MOST_ROWS = 2, 60
#: Parts of rows are right if they differ less than this in height, as a share of their words'.
_LEAST_APART = 0.15
#: They are never further apart.
_MOST_APART = 1.2
#: One of so many rows above and below shows how far apart the parts are there.
_NEAR = 6


def aligned(rows: Sequence[Sequence[Levelled]]) -> list[list[Levelled]]:
    """Return the rows from top to bottom, each from left to right, with moved amounts."""
    found = [sorted(row, key=lambda each: each[1].box.x0) for row in rows]
    place = 0
    while place < len(found):
        off = (run for run in _runs(found, place) if run.is_off)
        if run := min(off, key=lambda each: each.strain, default=None):
            found[run.start : run.end] = [[*left, *right] for left, right in run.moved]
            place = run.start + len(run.moved)
        else:
            place += 1
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows with both parts, between one with only the right and one with only the left part."""

    #: The first of all these rows, and the one after the last.
    start: int
    end: int
    #: The parts as they are joined, and if those on one side are moved by a row.
    joined: Sequence[_Parts]
    moved: Sequence[_Parts]
    #: Those of the nearest row above and below, if there is one.
    above: Sequence[_Parts]
    below: Sequence[_Parts]

    @property
    def strain(self) -> float:
        """How far the moved parts are from where the slopes on both sides of the gap allow."""
        return fmean(map(_strain, self.moved))

    @property
    def is_off(self) -> bool:
        """Whether the moved parts fit better to the nearest rows above and below."""
        size = fmean(word.box.height for parts in self.joined for part in parts for _, word in part)
        joined, moved = list(map(_apart, self.joined)), list(map(_apart, self.moved))
        if abs(fmean(joined)) < _LEAST_APART * size or max(map(abs, moved)) > _MOST_APART * size:
            return False
        if not self.above and not self.below:
            return abs(fmean(moved)) < abs(fmean(joined))
        return self._jump(moved) < self._jump(joined)

    def _jump(self, distances: Sequence[float]) -> float:
        """Return how much the distance changes at both ends."""
        first = sum(abs(distances[0] - _apart(parts)) for parts in self.above)
        return first + sum(abs(distances[-1] - _apart(parts)) for parts in self.below)


def _runs(rows: Sequence[Sequence[Levelled]], place: int) -> Iterator[_Run]:
    """Yield the runs below and above a row with only its right part, if there are any."""
    x = rows[place][0][1].box.x0
    alone = rows[place]
    down = list(takewhile(all, (_cut(row, x) for row in rows[place + 1 : place + 1 + _MOST_ROWS])))
    end = place + len(down) + 1
    if len(down) >= _FEWEST_ROWS and end < len(rows) and (left := _only_left(rows[end], x)):
        lefts, rights = [*(one for one, _ in down), left], [alone, *(one for _, one in down)]
        yield _run(rows, (place, end + 1), down, list(zip(lefts, rights, strict=True)), x)
    before = rows[max(0, place - _MOST_ROWS) : place][::-1]
    up = list(takewhile(all, (_cut(row, x) for row in before)))[::-1]
    start = place - len(up) - 1
    if len(up) >= _FEWEST_ROWS and start >= 0 and (left := _only_left(rows[start], x)):
        lefts, rights = [left, *(one for one, _ in up)], [*(one for _, one in up), alone]
        yield _run(rows, (start, place + 1), up, list(zip(lefts, rights, strict=True)), x)


def _run(
    rows: Sequence[Sequence[Levelled]],
    span: tuple[int, int],
    joined: Sequence[_Parts],
    moved: Sequence[_Parts],
    x: float,
) -> _Run:
    start, end = span
    above = [_cut(row, x) for row in rows[max(0, start - _NEAR) : start]]
    below = [_cut(row, x) for row in rows[end : end + _NEAR]]
    near = list(filter(all, above))[-1:], list(filter(all, below))[:1]
    return _Run(start, end, joined, moved, *near)


def _cut(row: Sequence[Levelled], x: float) -> _Parts:
    left = [each for each in row if each[1].box.x_center < x]
    return left, [each for each in row if each[1].box.x_center >= x]


def _only_left(row: Sequence[Levelled], x: float) -> Sequence[Levelled]:
    """Return the words of a row; none if one of them is on the right."""
    left, right = _cut(row, x)
    return [] if right else left


def _strain(parts: _Parts) -> float:
    """Return how much the slope in the gap is beyond those of the words at it, in pixels."""
    (_, left), (_, right) = parts[0][-1], parts[1][0]
    across = right.box.x_center - left.box.x_center
    down = right.box.y_center - left.box.y_center
    ends = sorted((left.slope * across, right.slope * across))
    return max(ends[0] - down, down - ends[1], 0.0)


def _apart(parts: _Parts) -> float:
    """Return how much lower the right part is."""
    left, right = (fmean(height for height, _ in part) for part in parts)
    return right - left
