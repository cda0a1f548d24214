"""Measures how well a photo or scan can be read, and what would make it better.

Blur is the width of the edges of letters, relative to their height: 0.03 to 0.06 on sharp photos
and scans, 0.08 after a Gaussian blur that reading does not notice, above 0.13 where words are lost.
"""

import statistics
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from recibo.extract.model import Edge, Gray, Hint, Picture, Quality, Word

# The words whose edges are measured: the longest ones.
_MEASURED_WORDS = 60
_LEAST_PIXELS, _LEAST_CONTRAST = 6, 20
# The relative width of edges at sharpness 1 and 0.
_SHARPEST, _BLURRED = 0.03, 0.2
# The height of a printed line in inches: 8.5 points.
_LINE_INCHES = 0.118

_BACKGROUND_PERCENTILE = 90
_WHITE, _SATURATED = 250, 253
# A reflection covers at least this share of the picture; a smaller spot hides a letter at most.
_LEAST_SPOT = 0.002
# A word is cut if this share of its height is beyond the edge.
_BEYOND = 0.1
# One word at the top or bottom may be a misread shadow.
_CUT_WORDS = 2

_LEAST_SHARPNESS, _LEAST_BRIGHTNESS, _MOST_GLARE, _LEAST_DPI = 0.5, 0.35, 0.02, 110


def measure(picture: Picture, words: Sequence[Word], *, dpi: float | None, scale: float) -> Quality:
    """Return the quality of a page.

    Args:
        picture: The upright page, as it was read.
        words: What was read on it, in its pixels.
        dpi: The resolution of the file; None if unknown, as for photos.
        scale: Pixels of the file per pixel of the picture.
    """
    gray = np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    background = float(np.percentile(gray[::4, ::4], _BACKGROUND_PERCENTILE))
    sharpness = _sharpness(gray, words)
    brightness = _share(background / 255)
    glare = _glare(gray) if background < _WHITE else 0.0
    cut_off = tuple(_cut_edges(gray, words))
    resolution = _resolution(words, dpi, scale)
    reasons = {
        Hint.BLURRED: sharpness is not None and sharpness < _LEAST_SHARPNESS,
        Hint.DARK: brightness < _LEAST_BRIGHTNESS,
        Hint.GLARE: glare > _MOST_GLARE,
        Hint.CUT_OFF: bool(cut_off),
        Hint.LOW_RESOLUTION: resolution is not None and resolution < _LEAST_DPI,
    }
    hints = tuple(hint for hint, holds in reasons.items() if holds)
    return Quality(sharpness, brightness, glare, cut_off, resolution, hints)


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 2)


def _sharpness(gray: Gray, words: Sequence[Word]) -> float | None:
    longest = sorted(words, key=lambda word: -len(word.text))[:_MEASURED_WORDS]
    widths = list(_edge_widths(gray, longest))
    if not widths:
        return None
    return _share((_BLURRED - statistics.median(widths)) / (_BLURRED - _SHARPEST))


def _edge_widths(gray: Gray, words: Sequence[Word]) -> Iterator[float]:
    """Yield the width of the edges in each word, relative to its height."""
    for word in words:
        box = word.box
        crop = gray[max(0, int(box.y0)) : int(box.y1), max(0, int(box.x0)) : int(box.x1)]
        if min(crop.shape) < _LEAST_PIXELS:
            continue
        dark, light = np.percentile(crop, (5, 95))
        steps = np.abs(np.diff(crop.astype(np.int16), axis=1))
        steepest = float(np.percentile(steps, 98))
        if light - dark >= _LEAST_CONTRAST and steepest > 0:
            yield float(light - dark) / steepest / crop.shape[0]


def _glare(gray: Gray) -> float:
    """Return the share of the picture in large white spots, on a background that is not white."""
    small = gray[::4, ::4]
    spots = np.asarray(small >= _SATURATED, dtype=np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(spots)
    areas = stats[1:, cv2.CC_STAT_AREA]
    return _share(float(areas[areas >= _LEAST_SPOT * small.size].sum()) / small.size)


def _cut_edges(gray: Gray, words: Sequence[Word]) -> Iterator[Edge]:
    """Yield the edges of the picture that cut words."""
    height, width = gray.shape
    beyond = {
        Edge.TOP: [-word.box.y0 / word.box.height for word in words],
        Edge.BOTTOM: [(word.box.y1 - height) / word.box.height for word in words],
        Edge.LEFT: [-word.box.x0 / word.box.height for word in words],
        Edge.RIGHT: [(word.box.x1 - width) / word.box.height for word in words],
    }
    for edge, shares in beyond.items():
        if sum(share >= _BEYOND for share in shares) >= _CUT_WORDS:
            yield edge


def _resolution(words: Sequence[Word], dpi: float | None, scale: float) -> int | None:
    """Return the resolution of the file, else an estimate from the height of its lines."""
    if dpi:
        return round(dpi)
    if not words:
        return None
    return round(statistics.median(word.box.height for word in words) * scale / _LINE_INCHES)
