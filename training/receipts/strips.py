"""Receipts on narrow strips: rows of fixed columns, one below the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from training.receipts.faces import COURIER, Face
from training.receipts.prints import Anchor, Code, Mark, Page, Print, Rule, Symbology, Text

#: The characters per row of an 80 mm thermal printer.
COLUMNS = 42


@dataclass(frozen=True, slots=True)
class Cell:
    """A text at a column, counted in characters of the usual width from the left margin."""

    text: str
    column: float
    anchor: Anchor = "left"


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row: text at the left, text at the right, text in the middle, or cells."""

    left: str = ""
    right: str = ""
    is_centered: bool = False
    is_bold: bool = False
    #: The relative height and width of the letters.
    height: float = 1
    stretch: float = 1
    cells: tuple[Cell, ...] = ()

    def placed(self, columns: int) -> Iterator[Cell]:
        """Yield all texts with their places on a strip of this many columns."""
        if self.is_centered:
            yield Cell(self.left, columns / 2, "middle")
        elif self.left:
            yield Cell(self.left, 0)
        yield from self.cells
        if self.right:
            yield Cell(self.right, columns, "right")


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A row of characters across the strip; a straight line in a proportional face."""

    sign: str = "-"


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A QR code or a barcode in the middle of the strip; shares are of the strip's width."""

    symbology: Symbology
    text: str
    width: float = 0.5
    #: None for a square.
    height: float | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """The metrics of a printer, points."""

    columns: int = COLUMNS
    size: float = 9
    #: The distance of baselines, in font sizes.
    pitch: float = 1.3
    margin: float = 24
    face: Face = COURIER

    @property
    def letter(self) -> float:
        """The width of a column."""
        return self.face.width("0", self.size)

    @property
    def width(self) -> float:
        """The room for a row."""
        return self.letter * self.columns

    def columns_of(self, text: str) -> float:
        """Return the number of columns of a text."""
        return self.face.width(text, self.size) / self.letter

    def cut(self, text: str, columns: float) -> str:
        """Return the part of a text that fits into this many columns."""
        while self.columns_of(text) > columns:
            text = text[:-1].rstrip()
        return text

    def wrapped(self, text: str, columns: float) -> tuple[str, ...]:
        """Return the text broken between words into lines of this many columns."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and self.columns_of(longer) > columns:
                lines.append(word)
            else:
                lines[-1] = longer
        return tuple(self.cut(line, columns) for line in lines)


RULE = RuleRow()


def set_rows(rows: Sequence[Row | RuleRow | CodeRow], strip: Strip | None = None) -> Print:
    """Return the strip, as long as its rows need."""
    strip = strip or Strip()
    marks: list[Mark] = []
    pitch, y = strip.size * strip.pitch, strip.margin
    for row in (part for whole in rows for part in _broken(whole, strip)):
        if isinstance(row, CodeRow):
            code = _code(row, strip, y + pitch / 2)
            marks.append(code)
            y = code.y + code.height + pitch / 2
        elif isinstance(row, RuleRow):
            y += pitch
            marks.append(_rule(row, strip, y))
        else:
            y += pitch * row.height
            marks += _texts(row, strip, y)
    width = strip.width + 2 * strip.margin
    return Print((Page(width, y + strip.margin, tuple(marks)),))


def _broken(row: Row | RuleRow | CodeRow, strip: Strip) -> tuple[Row | RuleRow | CodeRow, ...]:
    """Split a row whose ends would overlap into two."""
    if not isinstance(row, Row) or row.cells or not (row.left and row.right):
        return (row,)
    if strip.columns_of(f"{row.left} {row.right}") * row.stretch <= strip.columns:
        return (row,)
    return replace(row, right=""), replace(row, left="")


def _code(row: CodeRow, strip: Strip, top: float) -> Code:
    width = strip.width * row.width
    height = width if row.height is None else strip.width * row.height
    left = strip.margin + (strip.width - width) / 2
    return Code(row.symbology, row.text, left, top, width, height)


def _rule(row: RuleRow, strip: Strip, y: float) -> Mark:
    if strip.face.is_fixed:
        signs = (row.sign * strip.columns)[: strip.columns]
        return Text(signs, strip.margin, y, size=strip.size, face=strip.face)
    middle = y - strip.size / 4
    return Rule(strip.margin, middle, strip.margin + strip.width, middle)


def _texts(row: Row, strip: Strip, y: float) -> Iterator[Text]:
    """Yield the row as one text in a fixed face; else a text per cell."""
    cells = tuple(row.placed(strip.columns))
    if strip.face.is_fixed:
        cells = (Cell(_fixed(cells, row.stretch), 0),)
    for cell in cells:
        if cell.text:
            yield Text(
                cell.text,
                strip.margin + cell.column * strip.letter,
                y,
                size=strip.size * row.height,
                face=strip.face,
                is_bold=row.is_bold,
                anchor=cell.anchor,
                stretch=row.stretch / row.height,
            )


def _fixed(cells: Sequence[Cell], stretch: float) -> str:
    """Return the cells in one text, spaces between them.

    Raises:
        ValueError: Two of them would overlap.
    """
    line = ""
    for cell in cells:
        share = {"left": 0.0, "middle": 0.5, "right": 1.0}[cell.anchor]
        start = max(0, int(cell.column / stretch - len(cell.text) * share))
        if line and start <= len(line):
            raise ValueError(f"{cell.text!r} has no room after {line!r}")
        line = line.ljust(start) + cell.text
    return line
