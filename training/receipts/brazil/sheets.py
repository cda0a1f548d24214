"""Printed forms on A4: boxes with a small label over the value, tables, codes."""

from collections.abc import Sequence
from dataclasses import dataclass

from training.receipts.faces import Face
from training.receipts.prints import A4, MM, Anchor, Code, Mark, Page, Print, Rule, Text

MARGIN_MM = 8.0
_INSET = 0.8 * MM


@dataclass(frozen=True, slots=True)
class Box:
    """A label and its value; the width is in shares of the row."""

    label: str
    value: str
    share: float = 1
    anchor: Anchor = "left"
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The style of forms in some software."""

    face: Face
    label_size: float = 5
    value_size: float = 8
    is_framed: bool = True
    is_landscape: bool = False
    #: Whether the value is right of its label, not below it.
    is_inline: bool = False

    @property
    def width_mm(self) -> float:
        """The interface of a page to print on."""
        return A4[self.is_landscape] / MM - 2 * MARGIN_MM

    @property
    def height_mm(self) -> float:
        """The lower end of the page, from the upper margin."""
        return A4[not self.is_landscape] / MM - 2 * MARGIN_MM


class Sheets:
    """Pages in print; positions are millimeters from the upper left margin."""

    def __init__(self, form: Form) -> None:
        self.form = form
        #: The lower end of the content.
        self.y = 0.0
        self._pages: list[Page] = []
        self._marks: list[Mark] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 8,
        is_bold: bool = False,
        anchor: Anchor = "left",
    ) -> None:
        """Print a text on its baseline."""
        place = ((MARGIN_MM + x) * MM, (MARGIN_MM + y) * MM)
        face = self.form.face
        self._marks.append(Text(text, *place, size, face, is_bold=is_bold, anchor=anchor))

    def heading(self, text: str) -> None:
        """Print the name of a block, and continue below it."""
        self.y += 3.6
        self.text(0, self.y - 0.8, text, size=self.form.label_size + 1, is_bold=True)

    def row(self, boxes: Sequence[Box], *, height: float = 7.6) -> None:
        """Print boxes next to each other over the whole width, and continue below them."""
        shares = sum(box.share for box in boxes)
        x = 0.0
        for box in boxes:
            width = self.form.width_mm * box.share / shares
            self.box(x, self.y, (width, height), box)
            x += width
        self.y += height

    def box(self, x: float, y: float, size: tuple[float, float], box: Box) -> None:
        """Print one box."""
        form, (width, height) = self.form, size
        if form.is_framed:
            self.frame(x, y, width, height)
        inset = _INSET / MM
        label_y = y + 0.35 * form.label_size + 0.7
        self.text(x + inset, label_y, box.label, size=form.label_size)
        if form.is_inline and box.anchor == "left":
            value_x = x + 3 * inset + form.face.width(box.label, form.label_size) / MM
            self.text(value_x, label_y, box.value, size=form.value_size, is_bold=box.is_bold)
            return
        at = {"left": x + inset, "middle": x + width / 2, "right": x + width - inset}[box.anchor]
        value = self.fitting(box.value, width - 2 * inset, form.value_size)
        value_y = y + height - 1.2
        type_size = form.value_size
        self.text(at, value_y, value, size=type_size, anchor=box.anchor, is_bold=box.is_bold)

    def fitting(self, text: str, width: float, size: float) -> str:
        """Return a text cut to the width of its box."""
        while text and self.form.face.width(text, size) > width * MM:
            text = text[:-1]
        return text

    def wrapped(self, text: str, width: float, size: float) -> list[str]:
        """Break a text into rows of a width."""
        rows = [""]
        for word in text.split():
            longer = f"{rows[-1]} {word}".strip()
            is_fitting = self.form.face.width(longer, size) <= width * MM or not rows[-1]
            rows[-1:] = [longer] if is_fitting else [rows[-1], word]
        return rows

    def paragraph(
        self, x: float, text: str, width: float, *, size: float = 7, is_bold: bool = False
    ) -> None:
        """Print a text in as many rows as it needs, and continue below it."""
        for row in self.wrapped(text, width, size):
            self.y += 0.42 * size
            self.text(x, self.y, row, size=size, is_bold=is_bold)

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """Draw a rectangle."""
        left, top = (MARGIN_MM + x) * MM, (MARGIN_MM + y) * MM
        right, bottom = left + width * MM, top + height * MM
        self._marks += [
            Rule(left, top, right, top),
            Rule(left, bottom, right, bottom),
            Rule(left, top, left, bottom),
            Rule(right, top, right, bottom),
        ]

    def rule(self, y: float | None = None) -> None:
        """Draw a line over the width."""
        height = (MARGIN_MM + (self.y if y is None else y)) * MM
        left = MARGIN_MM * MM
        self._marks.append(Rule(left, height, left + self.form.width_mm * MM, height))

    def bars(self, text: str, x: float, y: float, size: tuple[float, float]) -> None:
        """Print a Code 128."""
        place = ((MARGIN_MM + x) * MM, (MARGIN_MM + y) * MM)
        self._marks.append(Code("Code128", text, *place, size[0] * MM, size[1] * MM))

    def qr(self, text: str, x: float, y: float, side: float) -> None:
        """Print a QR code."""
        place = ((MARGIN_MM + x) * MM, (MARGIN_MM + y) * MM)
        self._marks.append(Code("QRCode", text, *place, side * MM, side * MM))

    def turn(self) -> None:
        """Start the next page."""
        size = (A4[1], A4[0]) if self.form.is_landscape else A4
        self._pages.append(Page(*size, tuple(self._marks)))
        self._marks, self.y = [], 0.0

    def finish(self) -> Print:
        """Return all pages."""
        self.turn()
        return Print(tuple(self._pages))
