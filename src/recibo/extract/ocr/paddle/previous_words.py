"""What an earlier look at a picture read, found again by the regions of a later look."""

import math
from collections.abc import Sequence

import numpy as np

from recibo.extract.model import Word
from recibo.extract.ocr.paddle.regions import Region

#: Words read as surely as this are right but for one in some hundred: to look again costs time
#: and changes nothing.
SURE = 0.97

#: A word belongs to a region if it sticks out of its ends by no more than this share of its own
#: length, its middle is off the region's by no more than this share of the region's thickness,
#: and neither is more than so many times as thick as the other.
_MOST_OUTSIDE = 0.15
_MOST_OFF = 0.25
_MOST_RATIO = 1.5

#: Words say all that a region holds if they cover this share of its length.
_COVERED = 0.8


class KnownWords:
    """The words of an earlier look; none of them runs up or down."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = [word for word in words if not word.is_upended]
        boxes = [word.box for word in self._words]
        self._x = np.array([box.x_centre for box in boxes])
        self._y = np.array([box.y_centre for box in boxes])
        self._length = np.array([box.width for box in boxes])
        self._thickness = np.array([box.height for box in boxes])

    def inside(self, region: Region) -> list[Word]:
        """Return the words that say all that a region holds; none if they say less."""
        if region.is_upended or not self._words:
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
