"""Finds single characters in the rows of lines.

The detection network was trained on words: it misses a lone `1` in a column of quantities, or the
letter of a tax rate far from its price, on half of the receipts that have such a column.
"""

import math
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle import regions
from recibo.extract.ocr.paddle.regions import Region

#: Lines are shrunk to this thickness in pixels: so that a character differs from a spot.
_THICKNESS = 24
#: Ink is darker than the mean around it, in a square of so many thicknesses, by so many levels.
_SQUARE, _CONTRAST = 1.5, 18

#: The height of a character as a share of the thickness of lines, whatever its line.
_SIZES = (0.35, 1.1)
#: The same for the line in its row: lines have a margin above and below the letters.
_HEIGHTS = (0.45, 0.95)
#: The most that a character is wide, as a share of its height.
_WIDEST = 1.1
#: The distance to any line, as a share of its thickness: what is nearer belongs to a word.
_GAP = 0.25
#: The most that the middle of a character is above or below that of its line.
_OFF = 0.25
#: Another character so near, as a share of the thickness, makes both a part of a word.
_APART = 1.0
#: The margin left and right of a character, as a share of its width, and the least width of both.
_MARGIN, _NARROWEST = 0.4, 0.6

#: Limits the time on a dirty page.
_MOST_SPOTS, _MOST = 400, 60

_Numbers = npt.NDArray[np.float64]


def find(picture: Picture, found: Sequence[Region]) -> list[Region]:
    """Return the regions of characters outside all regions, each as tall as the line of its row."""
    lines = [region for region in found if not region.is_vertical]
    if not lines:
        return []
    thickness = regions.line_thickness(lines)
    scale = min(1.0, _THICKNESS / thickness)
    spots = _spots(_ink(picture, found, thickness, scale)) / scale
    width, height = spots[:, 2] / thickness, spots[:, 3] / thickness
    low, high = _SIZES
    is_character = (low < height) & (height < high) & (width < _WIDEST * height)
    return _alone(_in_rows(spots[is_character][:_MOST_SPOTS], lines))[:_MOST]


def _ink(
    picture: Picture, found: Sequence[Region], thickness: float, scale: float
) -> npt.NDArray[np.uint8]:
    """Return the dark pixels outside the regions, on the shrunk picture."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    square = max(3, round(thickness * scale * _SQUARE) | 1)
    ink = cv2.adaptiveThreshold(
        grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, square, _CONTRAST
    )
    for region in found:
        corners = region.outline(_GAP * min(region.width, region.height)) * scale
        cv2.fillPoly(ink, [corners.astype(np.int32)], 0)
    return np.asarray(ink, dtype=np.uint8)


def _spots(ink: npt.NDArray[np.uint8]) -> _Numbers:
    """Return the middle, width and height of each connected spot, as rows."""
    _, _, boxes, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    # The first is the background.
    x, y, width, height = boxes[1:, :4].T.astype(np.float64)
    return np.stack([x + width / 2, y + height / 2, width, height], axis=1)


def _in_rows(spots: _Numbers, lines: Sequence[Region]) -> list[Region]:
    """Return the spots that are as tall as the letters of a line in their row."""
    sides = [(line.x, line.y, line.width, line.height, math.tan(line.angle)) for line in lines]
    x, y, width, height, slope = np.array(sides).T
    thick = regions.line_thickness(lines)
    start, end = np.min(x - width / 2) - thick, np.max(x + width / 2) + thick
    low, high = _HEIGHTS
    characters = []
    for middle, center, wide, tall in spots:
        off = center - y - (middle - x) * slope
        gap = np.abs(middle - x) - width / 2
        belongs = (np.abs(off) < _OFF * height) & (low * height < tall) & (tall < high * height)
        if start < middle < end and belongs.any():
            nearest = int(np.where(belongs, gap, np.inf).argmin())
            line = lines[nearest]
            characters.append(
                Region(
                    float(middle),
                    float(center - off[nearest]),
                    max(wide * (1 + 2 * _MARGIN), _NARROWEST * line.height),
                    line.height,
                    line.angle,
                )
            )
    return characters


def _alone(characters: Sequence[Region]) -> list[Region]:
    """Return the characters without another one next to them."""
    places = np.array([(one.x, one.y) for one in characters]).reshape(-1, 2)
    alone = []
    for place, one in enumerate(characters):
        across, down = np.abs(places - (one.x, one.y)).T
        is_near = (across < _APART * one.height) & (down < _OFF * one.height)
        is_near[place] = False
        if not is_near.any():
            alone.append(one)
    return alone
