"""The slope of the text at each place of a page, fitted to the slopes of its words.

A sheet that was photographed from the side, curled or folded has rows whose slope changes from
place to place. Single words show it badly: the shorter a word, the less exact its slope. So a
smooth field is fitted to all of them: a grid whose neighbors differ little (penalized least
squares, as the P-splines of Eilers and Marx, 1996, of degree 1). Words that disagree with the rest
count little (iteratively reweighted, with Cauchy weights).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from recibo.extract.model import Word

Numbers = npt.NDArray[np.float64]

#: The points of the grid in each direction.
_POINTS = 10
#: The weight of a difference between neighbors, where the mean weight of a word is 1.
_SMOOTHNESS = 0.01
#: Words at least this many times wider than high show a slope; beyond the second ratio it does not
#: become more exact.
_LEAST_RATIO, _MOST_RATIO = 1.5, 20
#: Two words of a row are compared if their heights differ by at most this factor.
_MOST_TALLER = 1.35
#: The rounds of reweighting, and the share of a word's height that its end is off without reason to
#: doubt it.
_ROUNDS, _USUAL = 10, 0.05
#: A row is followed to the middle of the page in so many steps.
_STEPS = 16


class SlopeField:
    """A smooth field of slopes, pixels down per pixel to the right."""

    def __init__(self, corner: Numbers, size: Numbers, slopes: Numbers) -> None:
        """Take a grid of slopes, row by row, over a rectangle with a corner at the top left."""
        self._corner, self._size, self._slopes = corner, size, slopes

    @classmethod
    def fitted(cls, words: Sequence[Word], rows: Iterable[Sequence[Word]] = ()) -> Self | None:
        """Return the field of some words; None if the page is level.

        Args:
            words: The words of the page.
            rows: Words that are in one row, from left to right: the slopes between neighbors count
                as those of long words.
        """
        long = [word for word in words if word.box.width >= _LEAST_RATIO * word.box.height > 0]
        if not any(word.slope for word in long):
            return None
        seen = [
            (word.box.x_center, word.box.y_center, word.slope, word.box.width / word.box.height)
            for word in long
        ]
        seen += [between for row in rows for pair in pairwise(row) if (between := _between(*pair))]
        x, y, slopes, ratios = np.array(seen, np.float64).T
        corner = np.array([x.min(), y.min()])
        size = np.maximum(np.array([x.max(), y.max()]) - corner, 1.0)
        shares = _shares(x, y, corner, size)
        return cls(corner, size, _fit(shares, slopes, np.minimum(ratios, _MOST_RATIO)))

    def heights_at(self, middle: float, x: Numbers, y: Numbers) -> Numbers:
        """Return how high the rows through some points are at another x."""
        step = (middle - x) / _STEPS
        heights = y.copy()
        for number in range(_STEPS):
            heights += step * self._at(x + (number + 0.5) * step, heights)
        return heights

    def _at(self, x: Numbers, y: Numbers) -> Numbers:
        return _shares(x, y, self._corner, self._size) @ self._slopes


def _between(one: Word, other: Word) -> tuple[float, float, float, float] | None:
    """Return the middle, slope and ratio of a word that would span two; None if they differ."""
    a, b = one.box, other.box
    least, most = sorted((a.height, b.height))
    across = b.x_center - a.x_center
    if least <= 0 or most > _MOST_TALLER * least or across < _LEAST_RATIO * least:
        return None
    x, y = (a.x_center + b.x_center) / 2, (a.y_center + b.y_center) / 2
    return x, y, (b.y_center - a.y_center) / across, across / least


def _fit(shares: Numbers, slopes: Numbers, ratios: Numbers) -> Numbers:
    """Return the slopes at the points of the grid."""
    weights = ratios**2 / np.mean(ratios**2)
    trust = np.ones_like(slopes)
    fitted: Numbers = np.zeros(_POINTS**2)
    for _ in range(_ROUNDS):
        weighted = shares.T * (weights * trust)
        fitted = np.asarray(np.linalg.solve(weighted @ shares + _ROUGHNESS, weighted @ slopes))
        # How far the ends of a word are off, in heights.
        off = np.abs(slopes - shares @ fitted) * ratios
        trust = 1 / (1 + (off / max(1.5 * float(np.median(off)), _USUAL)) ** 2)
    return fitted


def _shares(x: Numbers, y: Numbers, corner: Numbers, size: Numbers) -> Numbers:
    """Return the shares of the points of the grid at some places, a row for each place."""
    column, right = _place((x - corner[0]) / size[0])
    row, down = _place((y - corner[1]) / size[1])
    shares = np.zeros((len(x), _POINTS**2))
    each = np.arange(len(x))
    for below, of_row in ((0, 1 - down), (1, down)):
        for after, of_column in ((0, 1 - right), (1, right)):
            shares[each, (row + below) * _POINTS + column + after] = of_row * of_column
    return shares


def _place(share: Numbers) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Return the point before each share of a side, and how far it is to the next one."""
    place = np.clip(share, 0, 1) * (_POINTS - 1)
    before = np.minimum(place.astype(np.int64), _POINTS - 2)
    return before, place - before


def _roughness() -> Numbers:
    """Return the penalty of differences between neighbors on the grid."""
    line = np.diff(np.eye(_POINTS), axis=0)
    one = line.T @ line
    both = np.kron(one, np.eye(_POINTS)) + np.kron(np.eye(_POINTS), one)
    # The small addition makes the system solvable with a single word.
    return np.asarray(_SMOOTHNESS * both + 1e-6 * np.eye(_POINTS**2), np.float64)


_ROUGHNESS = _roughness()
