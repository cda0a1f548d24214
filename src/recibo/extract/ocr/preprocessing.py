"""Prepares a page for OCR: orientation, size, lighting."""

from dataclasses import replace

import cv2
import numpy as np

from recibo.extract.model import Page, Picture

#: Larger short sides are shrunk: letters of A4 pages are then still large enough for OCR, and
#: photos of phones take half the time.
MAX_SHORT_SIDE = 1414

#: Smaller short sides are enlarged, since letters of a few pixels are misread. Measured on receipts
#: shrunk to 450 pixels: totals 90% -> 100%.
MIN_SHORT_SIDE = 800

#: Further enlargement only adds blur.
MAX_ENLARGEMENT = 2.0

#: The lighting of a picture is its median over this share of its short side.
_LIGHT_SHARE = 1 / 20

#: The lighting is measured on a copy this many times smaller.
_LIGHT_SHRINKAGE = 4


def reading_scale(page: Page) -> float:
    """Return the scale at which a page is drawn for OCR."""
    short_side = min(page.width, page.height)
    if short_side > MAX_SHORT_SIDE:
        return MAX_SHORT_SIDE / short_side
    return min(MAX_ENLARGEMENT, max(1.0, MIN_SHORT_SIDE / short_side))


def turned(page: Page, turns: int) -> Page:
    """Rotate a page by quarter turns clockwise."""
    if turns % 4 == 0:
        return page
    draw = page.draw
    width, height = (page.height, page.width) if turns % 2 else (page.width, page.height)
    return replace(
        page,
        width=width,
        height=height,
        draw=lambda scale: np.ascontiguousarray(np.rot90(draw(scale), -turns)),
        draw_gray=None,
    )


def evenly_lit(picture: Picture) -> Picture:
    """Return a picture with even lighting: fainter shadows and creases, a white background."""
    height, width = picture.shape[:2]
    small = cv2.resize(
        picture,
        (max(1, width // _LIGHT_SHRINKAGE), max(1, height // _LIGHT_SHRINKAGE)),
        interpolation=cv2.INTER_AREA,
    )
    window = int(min(small.shape[:2]) * _LIGHT_SHARE * 2) | 1
    light = cv2.medianBlur(cv2.dilate(small, np.ones((3, 3), np.uint8)), max(3, window))
    light = cv2.resize(light, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.divide(picture, light, scale=255), dtype=np.uint8)
