"""The visible letters of a PDF page, in the pixels of the upright page."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from recibo.extract.model import Box

#: Render modes that put no ink on the page: invisible, and clipping alone. Scanners hide the
#: text that they recognised in the first.
_INKLESS = frozenset({pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_c.FPDF_TEXTRENDERMODE_CLIP})

_QUARTER = math.pi / 2

#: Text that leans further from the sides of the page is a watermark. Radians.
_MAX_LEAN = 0.2

#: pdfium places points on whole pixels; a page drawn so many times as large keeps fractions.
_GRAIN = 1000

#: How far apart, in points, a page's scale is measured.
_SPAN = 1000


#: The most that is read of a page; the heaviest honest one, a full text_page of A4 in the smallest
#: type, has 6,000 letters.
_MOST_LETTERS = 50_000


@dataclass(frozen=True, slots=True)
class Glyph:
    """One letter, or a blank or a line's end, which part words."""

    letter: str
    #: As tall as the font, as wide as the letter's advance; a blank's is empty.
    box: Box
    #: Quarter turns clockwise of the writing against the upright page.
    turns: int


_NOWHERE = Box(0, 0, 0, 0)


class Frame:
    """Turns a page's own points (y upwards, before its rotation and crop) into pixels."""

    def __init__(self, page: pdfium.PdfPage, *, width: int, height: int, turns: int) -> None:
        """Describe the page drawn in `width` x `height` after `turns` quarters clockwise."""
        self.width, self.height = width, height
        self.turns = turns + page.get_rotation() // 90
        self._area = (0, 0, width * _GRAIN, height * _GRAIN, turns)
        self._origin = self._place(page, 0, 0)
        right, up = self._place(page, _SPAN, 0), self._place(page, 0, _SPAN)
        self._right = [
            (end - start) / _SPAN for end, start in zip(right, self._origin, strict=True)
        ]
        self._up = [(end - start) / _SPAN for end, start in zip(up, self._origin, strict=True)]

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a rectangle of the page in pixels."""
        (x, y), (right_x, right_y), (up_x, up_y) = self._origin, self._right, self._up
        x0, x1 = x + left * right_x + bottom * up_x, x + right * right_x + top * up_x
        y0, y1 = y + left * right_y + bottom * up_y, y + right * right_y + top * up_y
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def holds(self, box: Box) -> bool:
        """Tell whether the middle of a box lies on the page."""
        return 0 <= box.x_centre <= self.width and 0 <= box.y_centre <= self.height

    def _place(self, page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium_c.FPDF_PageToDevice(page.raw, *self._area, x, y, across, down)
        return across.value / _GRAIN, down.value / _GRAIN


def glyphs(text: pdfium.PdfTextPage, frame: Frame) -> Iterator[Glyph]:
    """Yield the first letters that can be seen, in the order in which the page draws them."""
    ink = _Ink()
    for index in range(min(text.count_chars(), _MOST_LETTERS)):
        letter = chr(pdfium_c.FPDFText_GetUnicode(text.raw, index))
        if letter.isspace():
            yield Glyph(letter, _NOWHERE, 0)
            continue
        angle = pdfium_c.FPDFText_GetCharAngle(text.raw, index)
        quarters = round(angle / _QUARTER)
        box = _box(text, index, frame)
        is_straight = abs(angle - quarters * _QUARTER) <= _MAX_LEAN
        if is_straight and frame.holds(box) and ink.is_seen(text, index):
            yield Glyph(letter, box, (quarters + _flips(text, index) + frame.turns) % 4)


def _flips(text: pdfium.PdfTextPage, index: int) -> int:
    """Return the quarter turns that a negative font size adds; the angle leaves it out."""
    return 2 if pdfium_c.FPDFText_GetFontSize(text.raw, index) < 0 else 0


def _box(text: pdfium.PdfTextPage, index: int, frame: Frame) -> Box:
    """Return a letter's place, as tall as its font, so that a row's letters share one height."""
    loose = pdfium_c.FS_RECTF()
    pdfium_c.FPDFText_GetLooseCharBox(text.raw, index, loose)
    return frame.box(loose.left, loose.bottom, loose.right, loose.top)


class _Ink:
    """Remembers which text objects of a page leave ink; letters share few of them."""

    def __init__(self) -> None:
        self._seen: dict[int, bool] = {}

    def is_seen(self, text: pdfium.PdfTextPage, index: int) -> bool:
        """Tell whether a letter leaves ink."""
        drawn = pdfium_c.FPDFText_GetTextObject(text.raw, index)
        if not drawn:
            return True
        address = ctypes.addressof(drawn.contents)
        if address not in self._seen:
            self._seen[address] = pdfium_c.FPDFTextObj_GetTextRenderMode(drawn) not in _INKLESS
        return self._seen[address]
