"""Finds the words of an earlier pass in the regions of a later one."""

import math
from collections.abc import Sequence

import numpy as np

from recibo.extract.model import Word
from recibo.extract.ocr.paddle.regions import Region

#: All but one in some hundred words with this confidence are right: reading them again takes time
#: and changes nothing.
SURE = 0.97

#: A word belongs to a region if it extends beyond its ends by at most this share of the word's
#: length, its middle is at most this share of the region's thickness off the region's, and neither
#: is more than this many times as thick as the other.
_MOST_OUTSIDE = 0.15
_MOST_OFF = 0.25
_MOST_RATIO = 1.5

#: Words are all words of a region if they cover this share of its length.
_COVERED = 0.8


class KnownWords:
    """The horizontal words of an earlier pass."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = [word for word in words if not word.is_vertical]
        boxes = [word.box for word in self._words]
        self._x = np.array([box.x_center for box in boxes])
        self._y = np.array([box.y_center for box in boxes])
        self._length = np.array([box.width for box in boxes])
        self._thickness = np.array([box.height for box in boxes])

    def inside(self, region: Region) -> list[Word]:
        """Return the words in a region; none if they do not cover it."""
        if region.is_vertical or not self._words:
            return []
        dx, dy = self._x - region.x, self._y - region.y
        along = dx * math.cos(region.angle) + dy * math.sin(region.angle)
        aside = dy * math.cos(region.angle) - dx * math.sin(region.angle)
        start = np.maximum(along - self._length / 2, -region.width / 2)
        end = np.minimum(along + self._length / 2, region.width / 2)
        shared = np.maximum(end - start, 0)
        belongs = (
            (shared >= (1 - _MOST_OUTSIDE) * self._length)
            & (np.abs(aside) <= _MOST_OFF * region.height)
            & (self._thickness <= _MOST_RATIO * region.height)
            & (region.height <= _MOST_RATIO * self._thickness)
        )
        if shared[belongs].sum() < _COVERED * region.width:
            return []
        return [self._words[place] for place in np.flatnonzero(belongs)]
