"""Reads the visible letters of a PDF page, in pixels of the upright page."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from recibo.extract.model import Box

#: Render modes that draw nothing: invisible, and clipping only. Scanners add recognized text in the
#: first one.
_INVISIBLE_MODES = frozenset(
    {pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_c.FPDF_TEXTRENDERMODE_CLIP}
)

_QUARTER = math.pi / 2

#: Text at a larger angle to the sides of the page is a watermark. Radians.
_MAX_TILT = 0.2

#: pdfium rounds positions to pixels; on a page this many times as large the error is small.
_PRECISION = 1000

#: The distance, in points, by which the scale of a page is measured.
_SPAN = 1000


#: The most letters that are read from a page; a full A4 page in the smallest type has 6,000.
_MOST_LETTERS = 50_000


@dataclass(frozen=True, slots=True)
class Glyph:
    """A letter, or a space or line break, which separates words."""

    letter: str
    #: As tall as the font, as wide as the letter's advance; empty for a space.
    box: Box
    #: The rotation of the text on the upright page, in quarter turns clockwise.
    turns: int


_NOWHERE = Box(0, 0, 0, 0)


class Frame:
    """Converts PDF points (y upwards, before rotation and crop) to pixels."""

    def __init__(self, page: pdfium.PdfPage, *, width: int, height: int, turns: int) -> None:
        """Describe a page of `width` x `height` pixels after `turns` quarter turns clockwise."""
        self.width, self.height = width, height
        self.turns = turns + page.get_rotation() // 90
        self._area = (0, 0, width * _PRECISION, height * _PRECISION, turns)
        self._origin = self._place(page, 0, 0)
        right, up = self._place(page, _SPAN, 0), self._place(page, 0, _SPAN)
        self._right = [
            (end - start) / _SPAN for end, start in zip(right, self._origin, strict=True)
        ]
        self._up = [(end - start) / _SPAN for end, start in zip(up, self._origin, strict=True)]

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Convert a rectangle of the page to pixels."""
        (x, y), (right_x, right_y), (up_x, up_y) = self._origin, self._right, self._up
        x0, x1 = x + left * right_x + bottom * up_x, x + right * right_x + top * up_x
        y0, y1 = y + left * right_y + bottom * up_y, y + right * right_y + top * up_y
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def contains(self, box: Box) -> bool:
        """Return whether the middle of a box is on the page."""
        return 0 <= box.x_center <= self.width and 0 <= box.y_center <= self.height

    def _place(self, page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium_c.FPDF_PageToDevice(page.raw, *self._area, x, y, across, down)
        return across.value / _PRECISION, down.value / _PRECISION


def glyphs(text: pdfium.PdfTextPage, frame: Frame) -> Iterator[Glyph]:
    """Yield the visible letters, up to a limit, in the order in which the page draws them."""
    visibility = _Visibility()
    for index in range(min(text.count_chars(), _MOST_LETTERS)):
        letter = chr(pdfium_c.FPDFText_GetUnicode(text.raw, index))
        if letter.isspace():
            yield Glyph(letter, _NOWHERE, 0)
            continue
        angle = _angle(text, index)
        quarters = round(angle / _QUARTER)
        box = _box(text, index, frame)
        is_straight = abs(angle - quarters * _QUARTER) <= _MAX_TILT
        if is_straight and frame.contains(box) and visibility.is_visible(text, index):
            yield Glyph(letter, box, (quarters + _flips(text, index) + frame.turns) % 4)


def _angle(text: pdfium.PdfTextPage, index: int) -> float:
    """Return the direction of a letter's base line, in radians clockwise from 0 to a whole turn.

    Slanted letters of a font without italics have a skewed matrix; the angle that pdfium itself
    returns is that of their stems.
    """
    matrix = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFText_GetMatrix(text.raw, index, matrix):
        return float(pdfium_c.FPDFText_GetCharAngle(text.raw, index))
    return math.atan2(-matrix.b, matrix.a) % (4 * _QUARTER)


def _flips(text: pdfium.PdfTextPage, index: int) -> int:
    """Return the quarter turns that a negative font size adds, which the angle lacks."""
    return 2 if pdfium_c.FPDFText_GetFontSize(text.raw, index) < 0 else 0


def _box(text: pdfium.PdfTextPage, index: int, frame: Frame) -> Box:
    """Return a letter's box, as tall as its font, so all letters of a row have the same height."""
    loose = pdfium_c.FS_RECTF()
    pdfium_c.FPDFText_GetLooseCharBox(text.raw, index, loose)
    return frame.box(loose.left, loose.bottom, loose.right, loose.top)


class _Visibility:
    """Caches which text objects of a page are visible; many letters share one."""

    def __init__(self) -> None:
        self._by_object: dict[int, bool] = {}

    def is_visible(self, text: pdfium.PdfTextPage, index: int) -> bool:
        """Return whether a letter is visible."""
        drawn = pdfium_c.FPDFText_GetTextObject(text.raw, index)
        if not drawn:
            return True
        address = ctypes.addressof(drawn.contents)
        if address not in self._by_object:
            self._by_object[address] = (
                pdfium_c.FPDFTextObj_GetTextRenderMode(drawn) not in _INVISIBLE_MODES
            )
        return self._by_object[address]
