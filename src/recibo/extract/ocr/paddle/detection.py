"""Finds regions with text, by the network's probability map (differentiable binarization)."""

import ctypes
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle import curves, regions
from recibo.extract.ocr.paddle.networks import Tensor
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.regions import Region

MODEL = "PP-OCRv6_det_small.onnx"

#: Only the GNU C library has it.
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)

#: The longest side of the network's input. Measured on scanned receipts: 1280 finds the same as
#: 1920 in half the time.
LONGEST_SIDE = 1280

#: Pictures longer than this many times their width are processed in tiles of that length.
MAX_ASPECT = 3.5

#: If lines are thinner than the first of these, in pixels of the input, detection is repeated on a
#: picture enlarged so that they have the second, by at most the third. Measured on receipts shrunk
#: to a long side of 450 pixels.
MIN_THICKNESS = 13
GOOD_THICKNESS = 22
MAX_ENLARGEMENT = 2.0

#: If all text, with a margin of the first of these shares of its extent, is on less than the second
#: share of the longest side, only this part is searched: lines too small to be found are near.
MARGIN, MOST_PART = 0.5, 0.6

#: The network halves its input five times.
STRIDE = 32

#: Settings of the model: the least probability of a text pixel, and the least mean of a region.
PIXEL_THRESHOLD = 0.3
REGION_THRESHOLD = 0.5

#: The map shows the core of each line. The line is larger on every side by this many times the area
#: of the core divided by its perimeter.
GROWTH = 1.6

#: Regions thinner than this on the map, before and after growing, are noise.
MIN_CORE = 3
MIN_REGION = 5

#: More than on a page of a telephone book; limits the time of a noisy picture.
MAX_REGIONS = 1500
#: The share of a tile that overlaps the next one: more than the height of a line.
OVERLAP = 0.1


class Detector:
    """Finds text on pictures."""

    def __init__(self) -> None:
        self._network = OnnxRuntimeNetwork(MODEL)

    def __call__(self, picture: Picture, scale_factor: float = 1.0) -> list[Region]:
        """Return the text regions of a picture, at a multiple of the usual scale."""
        scale = scale_factor * _scale(picture)
        found = self._all(picture, scale)
        if scale < 1 and (part := _part_with_text(found, picture)):
            left, top = part[1].start, part[0].start
            larger = self(np.ascontiguousarray(picture[part]), scale_factor)
            if len(larger) >= len(found):
                return [region.moved(left, top) for region in larger]
        thickness = regions.line_thickness(found) * scale
        if 0 < thickness < MIN_THICKNESS:
            growth = min(GOOD_THICKNESS / thickness, MAX_ENLARGEMENT)
            found = self._all(picture, scale * growth)
        return regions.with_vertical(found)

    def _all(self, picture: Picture, scale: float) -> list[Region]:
        """Detect regions, in tiles if the picture is too long."""
        height, width = picture.shape[:2]
        is_wide = width > height
        found: list[Region] = []
        for span in spans(max(height, width), _tile(picture)):
            stretch = slice(span.start, span.end)
            seen = self._detect(picture[:, stretch] if is_wide else picture[stretch], scale)
            dx, dy = (span.start, 0) if is_wide else (0, span.start)
            placed = (region.moved(dx, dy) for region in seen)
            found += (region for region in placed if span.owns(region.x if is_wide else region.y))
        return found

    def _detect(self, picture: Picture, scale: float) -> list[Region]:
        height, width = picture.shape[:2]
        rows, columns = _multiple(height * scale), _multiple(width * scale)
        shrunk = cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_LINEAR)
        trim()
        probabilities = self._network(_tensor(np.asarray(shrunk, dtype=np.uint8)))[0, 0]
        found = _regions(np.ascontiguousarray(probabilities))
        return [region.scaled(width / columns, height / rows) for region in found]


def _part_with_text(found: Sequence[Region], picture: Picture) -> tuple[slice, slice] | None:
    """Return the rows and columns around all text if they are a small part of the picture."""
    if not found:
        return None
    corners = np.concatenate([region.outline() for region in found])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = MARGIN * (high - low).max()
    limit = np.array(picture.shape[1::-1])
    (left, top), (right, bottom) = (
        np.clip(corner, 0, limit).astype(int).tolist() for corner in (low - margin, high + margin)
    )
    if max(right - left, bottom - top) > MOST_PART * limit.max():
        return None
    return slice(top, bottom), slice(left, right)


def _tile(picture: Picture) -> int:
    """Return the greatest length of a tile of a picture."""
    short_side = int(min(picture.shape[:2]))
    return max(round(MAX_ASPECT * short_side), LONGEST_SIDE)


def _scale(picture: Picture) -> float:
    """Return the scale of a picture in the first detection."""
    long_side = int(max(picture.shape[:2]))
    return min(1.0, LONGEST_SIDE / min(long_side, _tile(picture)))


def _multiple(length: float) -> int:
    """Return the multiple of the stride that is nearest to a length."""
    return max(STRIDE, round(length / STRIDE) * STRIDE)


def _tensor(picture: Picture) -> Tensor:
    """Return the picture as the network expects it: BGR, from -1 to 1."""
    planes = cv2.dnn.blobFromImage(
        picture, scalefactor=1 / 127.5, mean=(127.5, 127.5, 127.5), swapRB=True
    )
    return np.asarray(planes, dtype=np.float32)


def _regions(probabilities: npt.NDArray[np.float32]) -> list[Region]:
    """Return the regions of a probability map, grown to whole lines."""
    mask = (probabilities > PIXEL_THRESHOLD).astype(np.uint8)
    # One pixel closes the gaps between the letters of thermal print.
    mask = np.asarray(cv2.dilate(mask, np.ones((2, 2), np.uint8)), dtype=np.uint8)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    outlines = (np.asarray(contour, dtype=np.int32) for contour in contours[:MAX_REGIONS])
    cores = (curves.bent(outline, regions.around(outline)) for outline in outlines)
    return [
        grown
        for core in cores
        if min(core.width, core.height) >= MIN_CORE
        and _mean_probability(probabilities, core) >= REGION_THRESHOLD
        and min((grown := _grown(core)).width, grown.height) >= MIN_REGION
    ]


def _grown(core: Region) -> Region:
    """Return the region of a line from its core."""
    distance = GROWTH * core.width * core.height / (2 * (core.width + core.height))
    return replace(core, width=core.width + 2 * distance, height=core.height + 2 * distance)


def _mean_probability(probabilities: npt.NDArray[np.float32], core: Region) -> float:
    """Return the mean of the map inside a region."""
    corners = core.outline()
    limit = np.array(probabilities.shape[::-1]) - 1
    low = np.clip(np.floor(corners.min(axis=0)), 0, limit).astype(np.int32)
    high = np.clip(np.ceil(corners.max(axis=0)), 0, limit).astype(np.int32)
    window = probabilities[low[1] : high[1] + 1, low[0] : high[0] + 1]
    mask = np.zeros(window.shape, np.uint8)
    cv2.fillPoly(mask, [(corners - low).astype(np.int32)], 1)
    return float(cv2.mean(window, mask)[0])


@dataclass(frozen=True, slots=True)
class Span:
    """The range of a tile, and the range of middles of the regions that it owns."""

    start: int
    end: int
    owned_from: float
    owned_to: float

    def owns(self, place: float) -> bool:
        """Return whether a region with its middle here belongs to this tile."""
        return self.owned_from <= place < self.owned_to


def spans(length: int, tile: int) -> list[Span]:
    """Split a length into equal overlapping spans of at most `tile`."""
    overlap = tile * OVERLAP
    count = max(1, math.ceil((length - overlap) / (tile - overlap)))
    size = min(tile, length)
    starts = [round(number * (length - size) / max(1, count - 1)) for number in range(count)]
    borders = [(before + size + after) / 2 for before, after in itertools.pairwise(starts)]
    owned = itertools.pairwise([-math.inf, *borders, math.inf])
    return [Span(start, start + size, *bounds) for start, bounds in zip(starts, owned, strict=True)]


def trim() -> None:
    """Make the C library return freed memory to the system, see malloc_trim(3).

    Networks allocate and free buffers of many sizes, which fragment the heap of the GNU C library:
    without this a process kept 840 MB of which it used 480. Other C libraries do not need it.
    """
    if _TRIM:
        _TRIM(0)
