"""Rotated rectangles around text, or bands along bent lines, and straight pictures of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from recibo.extract.model import Box, Picture

#: Vertical text is at least this many times taller than wide, and than most lines are thick: a `1`
#: is taller than wide too.
VERTICAL_RATIO = 1.5
#: The points of either side of a bent line.
_OUTLINE = 16

_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle with its middle at (`x`, `y`) and sides `width` x `height`, rotated by `angle`.

    Pixels; `angle` in radians, positive if the text slopes down to the right, at most a quarter of
    pi either way, so `width` is always more horizontal than vertical.
    """

    x: float
    y: float
    width: float
    height: float
    angle: float
    #: Whether the text runs up or down.
    is_vertical: bool = False
    #: Bends the line: `u` pixels from the middle, it is `curve[0] * u**2 + curve[1] * u**3` pixels
    #: below the straight axis.
    curve: tuple[float, float] = (0.0, 0.0)

    @property
    def box(self) -> Box:
        """The rectangle rotated back to straight about its middle.

        A box around the rotated corners of a long line on a skewed photo would be several lines
        tall, but rows and headings are found by heights.
        """
        return Box(
            self.x - self.width / 2,
            self.y - self.height / 2,
            self.x + self.width / 2,
            self.y + self.height / 2,
        )

    @property
    def aspect(self) -> float:
        """The length of the text divided by its thickness."""
        ratio = self.width / self.height
        return 1 / ratio if self.is_vertical else ratio

    @property
    def is_bent(self) -> bool:
        """Whether the line follows a curve."""
        return any(self.curve)

    def below(self, along: _Numbers) -> _Numbers:
        """Return how far below its axis the line is at some distances from its middle."""
        squared, cubed = self.curve
        return (squared + cubed * along) * along**2

    def outline(self, margin: float = 0.0) -> npt.NDArray[np.float32]:
        """Return the corners, with a margin before the start and after the end; more if bent."""
        length = self.width + 2 * margin
        if not self.is_bent:
            size = (length, self.height)
            return np.asarray(cv2.boxPoints(((self.x, self.y), size, math.degrees(self.angle))))
        along = np.linspace(-length / 2, length / 2, _OUTLINE)
        below = self.below(along)
        half = self.height / 2
        along = np.concatenate((along, along[::-1]))
        below = np.concatenate((below - half, below[::-1] + half))
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        x = self.x + along * cosine - below * sine
        y = self.y + along * sine + below * cosine
        return np.stack([x, y], axis=1).astype(np.float32)

    def scaled(self, x_scale: float, y_scale: float) -> "Region":
        """Return the region on a picture resized by these factors, which must be nearly equal."""
        return replace(
            self,
            x=self.x * x_scale,
            y=self.y * y_scale,
            width=self.width * x_scale,
            height=self.height * y_scale,
            curve=(self.curve[0] / y_scale, self.curve[1] / y_scale**2),
        )

    def moved(self, dx: float, dy: float) -> "Region":
        """Return the region moved by an offset."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def part(self, start: float, end: float) -> "Region":
        """Return the region between two shares of its length, from the left or from the top.

        The part of a bent line is a straight region.
        """
        if self.is_bent:
            return self._chord(start, end)
        aside = (start + end - 1) / 2
        if self.is_vertical:
            away, across, down = aside * self.height, -math.sin(self.angle), math.cos(self.angle)
            cut_off = replace(self, height=self.height * (end - start))
        else:
            away, across, down = aside * self.width, math.cos(self.angle), math.sin(self.angle)
            cut_off = replace(self, width=self.width * (end - start))
        return cut_off.moved(across * away, down * away)

    def _chord(self, start: float, end: float) -> "Region":
        """Return the straight region that is nearest to a part of a bent line."""
        along = np.linspace(start - 0.5, end - 0.5, _OUTLINE) * self.width
        below = self.below(along)
        away, aside = float(np.mean(along)), float(np.mean(below))
        slope = math.atan2(below[-1] - below[0], along[-1] - along[0])
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        return Region(
            self.x + away * cosine - aside * sine,
            self.y + away * sine + aside * cosine,
            self.width * (end - start),
            self.height,
            self.angle + slope,
        )


def around(points: npt.NDArray[np.int32]) -> Region:
    """Return the smallest slanted rectangle around a contour."""
    (x, y), (width, height), degrees = cv2.minAreaRect(points)
    quarters = round(degrees / 90)
    if quarters % 2:
        width, height = height, width
    degrees -= 90 * quarters
    return Region(x, y, width, height, math.radians(degrees))


def line_thickness(found: Sequence[Region]) -> float:
    """Return the median thickness of lines; 0 without any."""
    thicknesses = sorted(min(region.width, region.height) for region in found)
    return thicknesses[len(thicknesses) // 2] if thicknesses else 0.0


def with_vertical(found: Sequence[Region]) -> list[Region]:
    """Return the regions of a picture with `is_vertical` set."""
    line = line_thickness(found)
    return [
        replace(region, is_vertical=region.height >= VERTICAL_RATIO * max(region.width, line))
        for region in found
    ]


def cut(picture: Picture, region: Region, height: int) -> Picture:
    """Cut a region out, straight and scaled to `height` rows; vertical text becomes horizontal."""
    if region.is_vertical:
        return np.rot90(_warped(picture, region, region.width / height))
    if region.is_bent:
        return _straightened(picture, region, height)
    return _warped(picture, region, region.height / height)


def _warped(picture: Picture, region: Region, step: float) -> Picture:
    """Sample the region every `step` pixels along its axes."""
    size = (max(1, round(region.width / step)), max(1, round(region.height / step)))
    across = (math.cos(region.angle) * step, math.sin(region.angle) * step)
    left = region.x - (across[0] * (size[0] - 1) - across[1] * (size[1] - 1)) / 2
    top = region.y - (across[1] * (size[0] - 1) + across[0] * (size[1] - 1)) / 2
    to_picture = np.array([[across[0], -across[1], left], [across[1], across[0], top]])
    return np.asarray(
        cv2.warpAffine(
            picture,
            to_picture,
            size,
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        dtype=np.uint8,
    )


def _straightened(picture: Picture, region: Region, height: int) -> Picture:
    """Sample a bent line along its curve, in columns at right angles to it."""
    step = region.height / height
    columns = max(1, round(region.width / step))
    along = step * (np.arange(columns, dtype=np.float64) - (columns - 1) / 2)
    aside = (np.arange(height) - (height - 1) / 2)[:, None] * step
    squared, cubed = region.curve
    slope = np.arctan((2 * squared + 3 * cubed * along) * along)
    right = along - aside * np.sin(slope)
    down = region.below(along) + aside * np.cos(slope)
    cosine, sine = math.cos(region.angle), math.sin(region.angle)
    x = region.x + right * cosine - down * sine
    y = region.y + right * sine + down * cosine
    return np.asarray(
        cv2.remap(
            picture,
            x.astype(np.float32),
            y.astype(np.float32),
            interpolation=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        dtype=np.uint8,
    )
