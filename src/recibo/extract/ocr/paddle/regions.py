"""Rotated rectangles around text, and the straight pictures cut from them."""

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

    def scaled(self, x_scale: float, y_scale: float) -> "Region":
        """Return the region on a picture resized by these factors, which must be nearly equal."""
        return replace(
            self,
            x=self.x * x_scale,
            y=self.y * y_scale,
            width=self.width * x_scale,
            height=self.height * y_scale,
        )

    def moved(self, dx: float, dy: float) -> "Region":
        """Return the region moved by an offset."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def part(self, start: float, end: float) -> "Region":
        """Return the region between two shares of its length, from the left or from the top."""
        aside = (start + end - 1) / 2
        if self.is_vertical:
            away, across, down = aside * self.height, -math.sin(self.angle), math.cos(self.angle)
            cut_off = replace(self, height=self.height * (end - start))
        else:
            away, across, down = aside * self.width, math.cos(self.angle), math.sin(self.angle)
            cut_off = replace(self, width=self.width * (end - start))
        return cut_off.moved(across * away, down * away)


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
