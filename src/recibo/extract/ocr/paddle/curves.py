"""Lines of text that bend, as on a curled receipt: where they run, and their regions."""

import math
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

# NumPy loads it at its first use otherwise, which the sandbox forbids.
from numpy.polynomial import polynomial

from recibo.extract.ocr.paddle.regions import Region

#: Shorter lines, as multiples of their core's thickness, bend too little to matter.
_LONG = 8.0
#: Lines count as bent if they leave their chord by more than this many thicknesses of the core.
_BENT = 0.5
#: Two lines that touch do not follow a curve: how far the middles of a line's columns are from it
#: at most (root mean square), in thicknesses, and the most columns that are this much thicker.
_OFF, _MOST_THICK, _THICK = 0.25, 0.15, 1.6

_Numbers = npt.NDArray[np.float64]


def bent(contour: npt.NDArray[np.int32], core: Region) -> Region:
    """Return the core of a line along the curve it follows; the core as it is if it is straight.

    The curve is a cubic polynomial through the middles of the contour's columns.
    """
    if not _may_be_bent(core, cv2.contourArea(contour) / core.width):
        return core
    along, middles, thicknesses = _columns(contour, core)
    thickness = float(np.median(thicknesses))
    if not _may_be_bent(core, thickness):
        return core
    curve = polynomial.polyfit(along, middles, 3)
    fitted = polynomial.polyval(along, curve)
    off = np.sqrt(np.mean((middles - fitted) ** 2))
    thick = np.mean(thicknesses > _THICK * thickness)
    below, slope, squared, cubed = map(float, curve)
    bow = np.ptp(fitted - slope * along)
    if off > _OFF * thickness or thick > _MOST_THICK or bow < _BENT * thickness:
        return core
    return replace(
        core.moved(-math.sin(core.angle) * below, math.cos(core.angle) * below),
        height=thickness,
        angle=core.angle + math.atan(slope),
        curve=(squared, cubed),
    )


def _may_be_bent(core: Region, thickness: float) -> bool:
    return core.width >= _LONG * thickness and core.height >= (1 + _BENT) * thickness


def _columns(contour: npt.NDArray[np.int32], core: Region) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return each column's place along the axis, its middle's distance from it, and its height."""
    x, y, width, height = cv2.boundingRect(contour)
    mask = np.zeros((height, width), np.uint8)
    cv2.drawContours(mask, [contour - (x, y)], 0, 1, cv2.FILLED)
    rows, columns = np.nonzero(mask)
    dx, dy = columns + (x - core.x), rows + (y - core.y)
    along = dx * math.cos(core.angle) + dy * math.sin(core.angle)
    aside = dy * math.cos(core.angle) - dx * math.sin(core.angle)
    place = np.floor(along - along.min()).astype(np.intp)
    top, bottom = np.full(place.max() + 1, np.inf), np.full(place.max() + 1, -np.inf)
    np.minimum.at(top, place, aside)
    np.maximum.at(bottom, place, aside)
    filled = np.flatnonzero(np.isfinite(top))
    top, bottom = top[filled], bottom[filled]
    return filled + along.min() + 0.5, (top + bottom) / 2, bottom - top + 1
