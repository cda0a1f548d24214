"""A print: texts, lines and codes with their places on one page or several.

Lengths are points, 72 to the inch; the origin is the top left corner, x to the right, y down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from training.receipts.faces import COURIER, Face

#: The point of a text at its `x`.
Anchor = Literal["left", "middle", "right"]

#: zxing's names of the barcodes.
Symbology = Literal["QRCode", "Code128", "EAN13"]

MM = 72 / 25.4
A4 = (210 * MM, 297 * MM)
LETTER = (612.0, 792.0)


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text on its baseline."""

    text: str
    x: float
    #: The y of the baseline.
    y: float
    size: float = 9
    face: Face = COURIER
    is_bold: bool = False
    anchor: Anchor = "left"
    #: The horizontal stretch of the letters, as on receipt printers.
    stretch: float = 1
    #: 0 is black, 1 is white.
    tone: float = 0

    @property
    def width(self) -> float:
        """The width of the text."""
        return self.face.width(self.text, self.size, is_bold=self.is_bold) * self.stretch

    @property
    def left(self) -> float:
        """The left end of the text."""
        before = {"left": 0.0, "middle": self.width / 2, "right": self.width}
        return self.x - before[self.anchor]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line."""

    x0: float
    y0: float
    x1: float
    y1: float
    thickness: float = 0.5
    tone: float = 0


@dataclass(frozen=True, slots=True)
class Fill:
    """A filled rectangle; marks listed after it are printed over it."""

    x: float
    y: float
    width: float
    height: float
    tone: float = 0.85


@dataclass(frozen=True, slots=True)
class Code:
    """A QR code or a barcode, drawn into the rectangle without a margin."""

    symbology: Symbology
    text: str
    x: float
    y: float
    width: float
    height: float


Mark = Text | Rule | Fill | Code


@dataclass(frozen=True, slots=True)
class Page:
    """A page size and its marks, in the order of printing."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    #: The upper and the lower ends of what folds rubbed off in part.
    rubbed: tuple[tuple[float, float], ...] = ()
    #: Whether its first row is the name of the seller, which may be drawn as a logo.
    has_name_first: bool = True

    def part(self, top: float, bottom: float) -> "Page":
        """Return what is between two heights, with the marks that are wholly in it."""
        inside = (mark for mark in self.marks if top <= _top(mark) and _bottom(mark) <= bottom)
        moved = tuple(_moved(mark, -top) for mark in inside)
        return replace(self, height=bottom - top, marks=moved)


@dataclass(frozen=True, slots=True)
class Print:
    """All pages of a document."""

    pages: tuple[Page, ...]

    def marks(self) -> Iterator[Mark]:
        """Yield the marks of all pages."""
        for page in self.pages:
            yield from page.marks

    def texts(self) -> Iterator[str]:
        """Yield the texts of all pages."""
        for mark in self.marks():
            if isinstance(mark, Text):
                yield mark.text

    def codes(self) -> Iterator[Code]:
        """Yield the codes of all pages."""
        for mark in self.marks():
            if isinstance(mark, Code):
                yield mark


def _top(mark: Mark) -> float:
    match mark:
        case Text():
            return mark.y - mark.size
        case Rule():
            return min(mark.y0, mark.y1)
        case Fill() | Code():
            return mark.y


def _bottom(mark: Mark) -> float:
    match mark:
        case Text():
            return mark.y
        case Rule():
            return max(mark.y0, mark.y1)
        case Fill() | Code():
            return mark.y + mark.height


def _moved(mark: Mark, down: float) -> Mark:
    if isinstance(mark, Rule):
        return replace(mark, y0=mark.y0 + down, y1=mark.y1 + down)
    return replace(mark, y=mark.y + down)
